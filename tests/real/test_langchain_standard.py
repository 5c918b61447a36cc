"""LangChain's standard integration tests on a real model, in this process and behind a server."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from langchain_tests.integration_tests import ChatModelIntegrationTests

from raif_integrations.engines.base import Engine
from raif_integrations.langchain import ChatRaifVLLM
from tests.support.server_process import ServerProcess

pytestmark = pytest.mark.real


class _Standard(ChatModelIntegrationTests):
    """What both engines have in common: the adapter, greedy, with the grammar on."""

    engine_params: ClassVar[dict[str, Any]] = {}
    adapter: ClassVar[str] = "raif"
    base_model: ClassVar[str] = ""

    @property
    def chat_model_class(self) -> type[ChatRaifVLLM]:
        return ChatRaifVLLM

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {**self.engine_params, "adapter": self.adapter, "temperature": 0, "max_tokens": 128}

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def supports_anthropic_inputs(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str:
        return self.base_model


class TestEmbedded(_Standard):
    @pytest.fixture(autouse=True)
    def _use_engine(self, embedded_engine: Engine) -> None:
        type(self).engine_params = {"engine": embedded_engine}
        type(self).base_model = embedded_engine.info.name
        (type(self).adapter,) = embedded_engine.info.adapters


class TestServer(_Standard):
    @pytest.fixture(autouse=True)
    def _use_server(self, vllm_server: ServerProcess) -> None:
        type(self).engine_params = {"base_url": vllm_server.base_url, "api_key": vllm_server.api_key}
        type(self).base_model = "smollm2"
