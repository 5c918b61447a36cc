"""What the servers are found to be, and what cannot be done on each."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.llms import ChatMessage

from raif_integrations.engines.base import GrammarConstraint, Request, Sampling, ServerDecoding
from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.engines.server import ServerEngine
from raif_integrations.engines.server.detection import describe_server
from raif_integrations.errors import ConfigurationError
from raif_integrations.langchain import ChatRaifVLLM
from raif_integrations.llama_index import RaifVLLM
from tests.real.servers import Served, every_server

pytestmark = pytest.mark.real

EXPECTED = {"raif-vllm": ("raif-vllm", True), "bare": (None, False), "plugin": ("raif-integrations", True)}
FORMAT: dict[str, Any] = {"response_format": {"type": "json_object"}}
HELLO_TO_LLAMA = [ChatMessage(content="Say hello.")]
HELLO = [{"role": "user", "content": "Say hello."}]


def get_weather(city: str) -> str:
    """Get the current weather for a city"""
    return f"Sunny, 21 degrees in {city}"


def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_engine_in_this_process_leaves_nothing_to_a_server(
    embedded_engine: EmbeddedEngine, adapter_name: str, streamed: bool
) -> None:
    chat = ChatRaifVLLM(engine=embedded_engine, adapter=adapter_name, wire="server", max_tokens=5)
    bound = chat.bind_tools([get_weather])
    with pytest.raises(ConfigurationError, match=r"wire='server'.*in this process.*Leave wire out"):
        list(bound.stream("Weather in Oslo?")) if streamed else bound.invoke("Weather in Oslo?")
    assert chat.invoke("Say hello.").text


@every_server
def test_a_server_is_found_to_be_what_it_is(served: Served) -> None:
    with ServerEngine(served.process.root, api_key=served.process.api_key) as engine:
        found = describe_server(engine)
        assert (found.plugin, found.decodes) == EXPECTED[served.kind]
        assert (found.models, dict(found.adapters)) == (("smollm2",), {"raif": "smollm2"})
        assert found.version is not None
        assert found.version.startswith("0.19.") == (served.kind == "raif-vllm")
        assert found.refused == {}
        assert engine.info.max_model_len == found.max_model_len["smollm2"] == 2048


@every_server
def test_an_adapter_has_the_context_window_of_its_base(served: Served) -> None:
    with ServerEngine(served.process.root, api_key=served.process.api_key, model="raif") as engine:
        assert (engine.info.name, engine.info.max_model_len) == ("raif", 2048)


@every_server
def test_a_request_of_our_own_is_left_alone(served: Served) -> None:
    """A plugin must not touch a request that brings neither tools nor a response format."""
    grammar = GrammarConstraint('root ::= "city=" [A-Z] [a-z]{2,8} "\\n" "temp=" [0-9]{1,2}')
    request = Request(HELLO, Sampling(temperature=0, max_tokens=30), grammar, model="smollm2")
    with ServerEngine(served.process.root, api_key=served.process.api_key) as engine:
        reply = engine.generate(request)
        assert reply.text.startswith("city=")
        assert reply.usage.prompt_tokens == engine.count_tokens(HELLO)
        assert "".join(delta.text for delta in engine.stream(request)) == reply.text


@pytest.mark.parametrize("served", ["bare"], indirect=True)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_bare_server_cannot_decode(served: Served, streamed: bool) -> None:
    chat = ChatRaifVLLM(**served.settings(wire="server")).bind_tools([get_weather])
    llm = RaifVLLM(**served.settings(wire="server"))
    with pytest.raises(ConfigurationError, match=r"no RAIF plugin.*Leave wire out"):
        list(chat.stream("Weather in Oslo?")) if streamed else chat.invoke("Weather in Oslo?")
    with pytest.raises(ConfigurationError, match=r"no RAIF plugin.*Leave wire out"):
        list(llm.stream_chat(HELLO_TO_LLAMA, **FORMAT)) if streamed else llm.chat(HELLO_TO_LLAMA, **FORMAT)
    assert ChatRaifVLLM(**served.settings(wire="server", max_tokens=5)).invoke("Say hello.").text


@pytest.mark.parametrize("served", ["raif-vllm"], indirect=True)
def test_raif_vllm_cannot_choose_between_tools(served: Served) -> None:
    chat = ChatRaifVLLM(**served.settings(wire="server"))
    with pytest.raises(ConfigurationError, match="calls no tool when several are offered"):
        chat.bind_tools([get_weather, add]).invoke("Weather in Oslo?")


@pytest.mark.parametrize("served", ["raif-vllm"], indirect=True)
def test_arguments_that_raif_vllm_loses_in_a_stream_come_all_the_same(served: Served) -> None:
    """Without asking what the server is, the stream of a call has a name and no arguments."""
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": parameters}}
    request = Request(
        [{"role": "user", "content": "What's the weather in Oslo?"}],
        Sampling(temperature=0, max_tokens=30),
        model="raif",
        server_decoding=ServerDecoding(tools=[tool], tool_choice="auto"),
    )
    with ServerEngine(served.process.root, api_key=served.process.api_key) as engine:
        pieces = [piece for delta in engine.stream(request) for piece in delta.tool_calls]
    assert [(piece.name, piece.arguments) for piece in pieces] == [("get_weather", '{"city":"Oslo"}')]
