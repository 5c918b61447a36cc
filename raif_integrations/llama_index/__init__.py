"""LlamaIndex: :class:`RaifVLLM`, a function-calling LLM over vLLM and RAIF."""

from raif_integrations._extras import ExplainMissingExtra

with ExplainMissingExtra():
    from raif_integrations.llama_index.llm import RaifVLLM
    from raif_integrations.llama_index.results import RaifChatResponse

__all__ = ["RaifChatResponse", "RaifVLLM"]
