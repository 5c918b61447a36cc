"""A LangChain chat model of the small model and its adapter, in this process or behind a server."""

from __future__ import annotations

import pytest

from raif_integrations.langchain import ChatRaifVLLM

ENGINES = ("embedded", "server")


def chat_model(engine: str, request: pytest.FixtureRequest) -> ChatRaifVLLM:
    """The chat model of an engine of ``ENGINES``; greedy, with the grammar on."""
    settings = {"temperature": 0, "max_tokens": 128}
    if engine == "embedded":
        shared = request.getfixturevalue("embedded_engine")
        return ChatRaifVLLM(engine=shared, adapter=request.getfixturevalue("adapter_name"), **settings)
    server = request.getfixturevalue("vllm_server")
    return ChatRaifVLLM(base_url=server.base_url, api_key=server.api_key, adapter="raif", **settings)
