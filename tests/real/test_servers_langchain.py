"""``ChatRaifVLLM`` on every kind of server, decoding here and, where a plugin can, on the server.

The sentences are of the kinds the test adapter was trained on, so that the values can be checked.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from langchain.agents import create_agent
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from raif_integrations.errors import ModelNotFoundError
from raif_integrations.langchain import ChatRaifVLLM
from raif_integrations.turn import Wire
from tests.real.servers import Served, every_choosing_way, every_server, every_way

pytestmark = pytest.mark.real


class Person(BaseModel):
    name: str
    age: int
    job_title: str
    city: str


OMAR_TEXT = "Omar Khan is a 51 year old chef from Cairo."
OMAR = {"name": "Omar Khan", "age": 51, "job_title": "chef", "city": "Cairo"}
WEATHER_TEXT = "What's the weather in Oslo?"


def get_weather(city: str) -> str:
    """Get the current weather for a city"""
    return f"Sunny, 21 degrees in {city}"


def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


def now() -> str:
    """Tell the time"""
    return "12:00"


@pytest.fixture
def chat(served: Served, wire: Wire) -> ChatRaifVLLM:
    return ChatRaifVLLM(**served.settings(wire=wire))


async def replies(bound: Any, text: str) -> list[AIMessage]:
    """The same reply in all four ways, side by side."""

    def streamed() -> AIMessage:
        first, *rest = bound.stream(text)
        return cast(AIMessage, first + rest)

    async def astreamed() -> AIMessage:
        first, *rest = [chunk async for chunk in bound.astream(text)]
        return cast(AIMessage, first + rest)

    return await asyncio.gather(
        asyncio.to_thread(bound.invoke, text),
        bound.ainvoke(text),
        asyncio.to_thread(streamed),
        astreamed(),
    )


def calls(message: AIMessage) -> list[tuple[str, dict[str, Any]]]:
    assert message.invalid_tool_calls == []
    return [(call["name"], call["args"]) for call in message.tool_calls]


@every_way
async def test_plain_chat(chat: ChatRaifVLLM) -> None:
    for message in await replies(chat.model_copy(update={"max_tokens": 8}), "Say hello."):
        assert message.text
        assert message.usage_metadata is not None
        assert message.usage_metadata["output_tokens"] <= 8
        assert message.response_metadata["raif"]["wire"] is None


@every_way
async def test_one_tool(chat: ChatRaifVLLM, wire: Wire) -> None:
    for message in await replies(chat.bind_tools([get_weather]), WEATHER_TEXT):
        assert calls(message) == [("get_weather", {"city": "Oslo"})]
        assert message.response_metadata["finish_reason"] == "tool_calls"
        assert message.response_metadata["raif"]["wire"] == ("server" if wire == "server" else "raif")


@every_way
async def test_a_call_that_must_be_made_has_the_types_of_its_schema(chat: ChatRaifVLLM) -> None:
    for message in await replies(chat.bind_tools([add], tool_choice="required"), "What is 17 plus 25?"):
        assert calls(message) == [("add", {"a": 17, "b": 25})]
        assert message.text == ""


@every_way
async def test_one_of_several_tools_by_name(chat: ChatRaifVLLM) -> None:
    bound = chat.bind_tools([add, now, get_weather], tool_choice="get_weather")
    for message in await replies(bound, WEATHER_TEXT):
        assert calls(message) == [("get_weather", {"city": "Oslo"})]


@every_way
async def test_a_tool_without_parameters(chat: ChatRaifVLLM) -> None:
    for message in await replies(chat.bind_tools([add, now], tool_choice="now"), "Hello!"):
        assert calls(message) == [("now", {})]


@every_choosing_way
@pytest.mark.parametrize("choice", ["auto", "required"])
async def test_several_tools_to_choose_from(chat: ChatRaifVLLM, choice: str) -> None:
    tools = [get_weather, add]
    bound = chat.bind_tools(tools, tool_choice=choice, parallel_tool_calls=False)
    first, *others = await replies(bound, WEATHER_TEXT)
    assert len(calls(first)) == 1 if choice == "required" else len(calls(first)) <= 1
    for name, _ in calls(first):
        assert name in ("get_weather", "add")
    for other in others:
        assert calls(other) == calls(first)


@every_choosing_way
def test_parallel_calls_have_ids_and_valid_arguments(chat: ChatRaifVLLM) -> None:
    schemas = {
        "get_weather": {"properties": {"city": {"type": "string"}}, "required": ["city"]},
        "add": {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
    }
    bound = chat.bind_tools([get_weather, add], tool_choice="any")
    message: Any = bound.invoke("What's the weather in Oslo? And what is 17 plus 25?")
    for name, arguments in calls(message):
        Draft202012Validator(schemas[name]).validate(arguments)
    ids = [call["id"] for call in message.tool_calls]
    assert ids
    assert len(set(ids)) == len(ids)


@every_way
async def test_structured_output(chat: ChatRaifVLLM) -> None:
    model = chat.with_structured_output(Person.model_json_schema())

    async def astreamed() -> list[Any]:
        return [item async for item in model.astream(OMAR_TEXT)]

    whole, awaited, streamed, astreamed_items = await asyncio.gather(
        asyncio.to_thread(model.invoke, OMAR_TEXT),
        model.ainvoke(OMAR_TEXT),
        asyncio.to_thread(lambda: list(model.stream(OMAR_TEXT))),
        astreamed(),
    )
    assert whole == awaited == streamed[-1] == astreamed_items[-1] == OMAR
    for items in (streamed, astreamed_items):
        assert len(items) >= 4
        assert len(items[0]) < len(OMAR)


@every_way
def test_what_is_cut_off_is_an_error(chat: ChatRaifVLLM) -> None:
    short = chat.model_copy(update={"max_tokens": 4})
    with pytest.raises(OutputParserException, match="max_tokens"):
        short.with_structured_output(Person).invoke(OMAR_TEXT)
    with pytest.raises(OutputParserException, match="max_tokens"):
        list(short.with_structured_output(Person).stream(OMAR_TEXT))
    bound = short.bind_tools([Person], tool_choice="Person")
    chunks = list(bound.stream(OMAR_TEXT))
    for message in (bound.invoke(OMAR_TEXT), chunks[0] + chunks[1:]):
        assert message.tool_calls == []
        assert len(message.invalid_tool_calls) == 1


@every_choosing_way
def test_an_agent_calls_a_tool_and_answers(chat: ChatRaifVLLM) -> None:
    agent = create_agent(chat.model_copy(update={"max_tokens": 60}), tools=[get_weather])
    state = agent.invoke({"messages": [("human", WEATHER_TEXT)]}, {"recursion_limit": 10})
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
    assert state["messages"][2].content == "Sunny, 21 degrees in Oslo"
    assert state["messages"][3].text


@every_server
def test_base_model_and_adapter_by_name(served: Served) -> None:
    settings = served.settings(adapter=None, max_tokens=8)
    base = ChatRaifVLLM(**settings).invoke("Say hello.")
    adapter = ChatRaifVLLM(**settings | {"model": "raif"}).invoke("Say hello.")
    assert base.response_metadata["model_name"] == "smollm2"
    assert adapter.response_metadata["model_name"] == "raif"
    with pytest.raises(ModelNotFoundError, match="It serves: smollm2, raif"):
        ChatRaifVLLM(**settings | {"model": "nobody"}).invoke("Say hello.")
