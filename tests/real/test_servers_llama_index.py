"""``RaifVLLM`` on every kind of server, decoding here and, where a plugin can, on the server.

The sentences are of the kinds the test adapter was trained on, so that the values can be checked.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.program import FunctionCallingProgram
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool

from raif_integrations.errors import ModelNotFoundError, TruncatedOutputError
from raif_integrations.llama_index import RaifVLLM
from raif_integrations.turn import Wire
from tests.real.known_answers import OMAR, TEXT, Person, get_weather
from tests.real.servers import Served, every_choosing_way, every_server, every_way

pytestmark = pytest.mark.real

PROMPT = PromptTemplate("{text}")
WEATHER_TEXT = "What's the weather in Oslo?"


def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


WEATHER, ADD = FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(add)


@pytest.fixture
def llm(served: Served, wire: Wire) -> RaifVLLM:
    return RaifVLLM(**served.settings(wire=wire, temperature=0.0))


async def responses(llm: RaifVLLM, text: str, **arguments: Any) -> list[ChatResponse]:
    """The same answer in all four ways, side by side."""
    messages = [ChatMessage(content=text)]

    async def astreamed() -> ChatResponse:
        return [item async for item in await llm.astream_chat(messages, **arguments)][-1]

    return await asyncio.gather(
        asyncio.to_thread(llm.chat, messages, **arguments),
        llm.achat(messages, **arguments),
        asyncio.to_thread(lambda: list(llm.stream_chat(messages, **arguments))[-1]),
        astreamed(),
    )


def calls(llm: RaifVLLM, response: ChatResponse) -> list[tuple[str, dict[str, Any]]]:
    found = llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
    return [(call.tool_name, call.tool_kwargs) for call in found]


@every_way
async def test_plain_chat_and_completion(llm: RaifVLLM) -> None:
    for response in await responses(llm, "Say hello.", max_tokens=8):
        assert response.message.content
    assert llm.complete("Say hello.", max_tokens=4).text


@every_way
async def test_one_tool(llm: RaifVLLM) -> None:
    for response in await responses(llm, WEATHER_TEXT, tools=[WEATHER]):
        assert calls(llm, response) == [("get_weather", {"city": "Oslo"})]


@every_way
async def test_a_call_that_must_be_made_has_the_types_of_its_schema(llm: RaifVLLM) -> None:
    for response in await responses(llm, "What is 17 plus 25?", tools=[ADD], tool_choice="required"):
        assert calls(llm, response) == [("add", {"a": 17, "b": 25})]


@every_way
async def test_one_of_several_tools_by_name(llm: RaifVLLM) -> None:
    for response in await responses(llm, WEATHER_TEXT, tools=[ADD, WEATHER], tool_choice="get_weather"):
        assert calls(llm, response) == [("get_weather", {"city": "Oslo"})]


@every_choosing_way
@pytest.mark.parametrize("choice", ["auto", "required"])
async def test_several_tools_to_choose_from(llm: RaifVLLM, choice: str) -> None:
    given = {"tools": [WEATHER, ADD], "tool_choice": choice, "parallel_tool_calls": False}
    first, *others = await responses(llm, WEATHER_TEXT, **given)
    found = calls(llm, first)
    assert len(found) == 1 if choice == "required" else len(found) <= 1
    for other in others:
        assert calls(llm, other) == found


@every_way
async def test_a_person_by_all_four_methods(llm: RaifVLLM) -> None:
    async def astreamed() -> Any:
        return [item async for item in await llm.astream_structured_predict(Person, PROMPT, text=TEXT)][-1]

    found = await asyncio.gather(
        asyncio.to_thread(llm.structured_predict, Person, PROMPT, text=TEXT),
        llm.astructured_predict(Person, PROMPT, text=TEXT),
        asyncio.to_thread(lambda: list(llm.stream_structured_predict(Person, PROMPT, text=TEXT))[-1]),
        astreamed(),
    )
    assert found == [OMAR] * 4


@every_way
def test_a_function_calling_program(llm: RaifVLLM) -> None:
    program = FunctionCallingProgram.from_defaults(output_cls=Person, prompt_template_str="{text}", llm=llm)
    assert program(text=TEXT) == OMAR
    assert list(program.stream_call(text=TEXT))[-1] == OMAR


@every_choosing_way
async def test_an_agent_calls_a_tool_and_answers(llm: RaifVLLM) -> None:
    agent = FunctionAgent(tools=[WEATHER], llm=llm)
    result = await agent.run(WEATHER_TEXT, max_iterations=4)
    assert [call.tool_kwargs for call in result.tool_calls] == [{"city": "Oslo"}]
    assert str(result)


@every_way
def test_what_is_cut_off_is_an_error(llm: RaifVLLM) -> None:
    with pytest.raises(TruncatedOutputError):
        llm.structured_predict(Person, PROMPT, llm_kwargs={"max_tokens": 4}, text=TEXT)
    with pytest.raises(TruncatedOutputError):
        llm.chat([ChatMessage(content=TEXT)], tools=[ADD], tool_choice="add", max_tokens=3)


@every_server
def test_base_model_and_adapter_by_name(served: Served) -> None:
    settings = served.settings(adapter=None, max_tokens=8)
    assert RaifVLLM(**settings).chat([ChatMessage(content="Hello")]).raw["model"] == "smollm2"
    assert (
        RaifVLLM(**settings | {"model": "raif"}).chat([ChatMessage(content="Hello")]).raw["model"] == "raif"
    )
    with pytest.raises(ModelNotFoundError, match="nobody"):
        RaifVLLM(**settings | {"model": "nobody"}).complete("Hello")
