"""LangChain's standard unit tests for chat models."""

from __future__ import annotations

from typing import Any

from langchain_tests.unit_tests import ChatModelUnitTests

from raif_integrations.langchain import ChatRaifVLLM


class TestChatRaifVLLM(ChatModelUnitTests):
    @property
    def chat_model_class(self) -> type[ChatRaifVLLM]:
        return ChatRaifVLLM

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"base_url": "http://127.0.0.1:9/v1", "model": "raif"}

    @property
    def init_from_env_params(self) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
        return {"VLLM_API_KEY": "hush"}, self.chat_model_params, {"api_key": "hush"}

    @property
    def supports_json_mode(self) -> bool:
        return True
