"""LangChain: :class:`ChatRaifVLLM`.

What lives here turns LangChain's types into a turn's and back, one direction a file: ``messages``,
``tools``, ``typed_dicts`` and ``turn_requests`` on the way in, ``results``, ``output_shapes``,
``structured`` and ``growing`` on the way out; ``chat_settings`` and ``chat_model`` are the hooks.
What a schema looks like to the model, and how its text is read, is decided in ``turn``.
"""

from raif_integrations._extras import ExplainMissingExtra

with ExplainMissingExtra():
    from raif_integrations.langchain.chat_model import ChatRaifVLLM

__all__ = ["ChatRaifVLLM"]
