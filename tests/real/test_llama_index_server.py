"""LlamaIndex's flows on a vLLM server."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.program import FunctionCallingProgram
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool

from raif_integrations import errors
from raif_integrations.llama_index import RaifVLLM
from tests.real.known_answers import OMAR, TEXT, Person, get_weather
from tests.support.server_process import ServerProcess

pytestmark = pytest.mark.real

PROMPT = PromptTemplate("{text}")


@pytest.fixture(scope="module")
def llm(vllm_server: ServerProcess) -> RaifVLLM:
    return RaifVLLM(
        base_url=vllm_server.base_url,
        api_key=vllm_server.api_key,
        adapter="raif",
        temperature=0.0,
        max_tokens=100,
    )


def test_the_context_window_comes_from_the_server(llm: RaifVLLM) -> None:
    assert 512 <= llm.metadata.context_window <= 8192


@pytest.mark.parametrize(
    "method",
    ["structured_predict", "astructured_predict", "stream_structured_predict", "astream_structured_predict"],
)
async def test_a_person_by_all_four_methods(llm: RaifVLLM, method: str) -> None:
    result: Any = getattr(llm, method)(Person, PROMPT, text=TEXT)
    if method.startswith("a"):
        result = await result
    if "stream" in method:
        result = ([item async for item in result] if method.startswith("a") else list(result))[-1]
    assert result == OMAR


def test_a_function_calling_program(llm: RaifVLLM) -> None:
    program = FunctionCallingProgram.from_defaults(output_cls=Person, prompt_template_str="{text}", llm=llm)
    assert program(text=TEXT) == OMAR


async def test_an_agent_ends_in_text(llm: RaifVLLM) -> None:
    agent = FunctionAgent(tools=[FunctionTool.from_defaults(get_weather)], llm=llm)
    result = await agent.run("What's the weather in Oslo?", max_iterations=4)
    assert [call.tool_kwargs for call in result.tool_calls] == [{"city": "Oslo"}]
    assert "21" in str(result)


def test_a_wrong_key_is_refused(llm: RaifVLLM) -> None:
    with pytest.raises(errors.AuthenticationError):
        llm.model_copy(update={"api_key": None}).complete("hello")


def test_an_adapter_that_is_not_served_is_named(llm: RaifVLLM) -> None:
    with pytest.raises(errors.ModelNotFoundError, match="nope"):
        llm.model_copy(update={"adapter": "nope"}).chat([ChatMessage(content="hello")])


def test_a_closed_port_is_a_connection_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    llm = RaifVLLM(base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
    with pytest.raises(errors.EngineConnectionError, match=str(port)):
        llm.complete("hello")
