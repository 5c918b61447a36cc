"""Choosing between tools on the real model: forced choices, many tools, names that begin alike."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from langchain_core.messages import HumanMessage

from raif_integrations.conversation.routing import MAX_CALLS
from raif_integrations.langchain import ChatRaifVLLM
from tests.real.langchain_models import ENGINES, chat_model

pytestmark = pytest.mark.real

UNRELATED = "Hello!"


def tool(name: str, description: str, **properties: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
    }
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


WEATHER = tool("get_weather", "Get the current weather for a city", city="string")
MAGIC = tool("magic_function", "Apply a magic function to an input", input="integer")
NOW = tool("get_time", "Get the current time")
ALIKE = [
    tool("get", "Get a thing"),
    tool("get_w", "Get a letter", letter="string"),
    WEATHER,
    tool("get_weather_history", "Get the weather of a year", year="integer"),
]
FIFTY = [tool(f"service_{number}", f"Call service {number}", input="integer") for number in range(50)]


@pytest.fixture(scope="module", params=ENGINES)
def chat(request: pytest.FixtureRequest) -> ChatRaifVLLM:
    return chat_model(request.param, request)


def check_calls(message: Any, tools: list[dict[str, Any]]) -> list[str]:
    """The names of a message's calls, after a look at their arguments."""
    schemas = {one["function"]["name"]: one["function"]["parameters"] for one in tools}
    for call in message.tool_calls:
        Draft202012Validator(schemas[call["name"]]).validate(call["args"])
    assert message.invalid_tool_calls == []
    return [call["name"] for call in message.tool_calls]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("choice", ["any", "get_weather", "magic_function", "get_time"])
def test_a_forced_choice_forces_whatever_is_said(chat: ChatRaifVLLM, choice: str, streamed: bool) -> None:
    tools = [WEATHER, MAGIC, NOW]
    bound = chat.bind_tools(tools, tool_choice=choice, parallel_tool_calls=False)
    if streamed:
        first, *rest = bound.stream(UNRELATED)
        message: Any = first + rest  # type: ignore[operator]
    else:
        message = bound.invoke(UNRELATED)
    (name,) = check_calls(message, tools)
    assert choice in ("any", name)
    assert message.text == ""


def test_the_model_may_answer_and_must_not_call(chat: ChatRaifVLLM) -> None:
    for choice in ("auto", "none"):
        message: Any = chat.bind_tools([WEATHER, MAGIC], tool_choice=choice).invoke(UNRELATED)
        assert message.tool_calls == []
        assert message.text


@pytest.mark.parametrize("choice", [one["function"]["name"] for one in ALIKE])
def test_names_that_begin_alike_are_told_apart(chat: ChatRaifVLLM, choice: str) -> None:
    message = chat.bind_tools(ALIKE, tool_choice=choice).invoke("What's the weather in Oslo?")
    assert check_calls(message, ALIKE) == [choice]


def test_a_plan_among_names_that_begin_alike_is_one_of_them(chat: ChatRaifVLLM) -> None:
    bound = chat.bind_tools(ALIKE, tool_choice="any", parallel_tool_calls=False)
    (name,) = check_calls(bound.invoke("What's the weather in Oslo?"), ALIKE)
    assert name.startswith("get")


@pytest.mark.parametrize("choice", ["service_4", "service_49"])
def test_one_of_fifty_tools_by_name(chat: ChatRaifVLLM, choice: str) -> None:
    assert check_calls(chat.bind_tools(FIFTY, tool_choice=choice).invoke(UNRELATED), FIFTY) == [choice]


def test_fifty_tools_to_choose_from(chat: ChatRaifVLLM) -> None:
    several = chat.bind_tools(FIFTY, tool_choice="any").invoke(UNRELATED)
    assert 1 <= len(check_calls(several, FIFTY)) <= MAX_CALLS
    assert len({call["id"] for call in several.tool_calls}) == len(several.tool_calls)
    one = chat.bind_tools(FIFTY, tool_choice="any", parallel_tool_calls=False).invoke(UNRELATED)
    assert len(check_calls(one, FIFTY)) == 1
    assert chat.bind_tools(FIFTY).invoke(UNRELATED).tool_calls == []


def test_counted_tokens_are_those_of_the_prompts(chat: ChatRaifVLLM) -> None:
    tools = [WEATHER, MAGIC]
    message: Any = chat.bind_tools(tools).invoke(UNRELATED)
    assert message.response_metadata["raif"]["plan"] == ["reply"]
    asked = [HumanMessage(UNRELATED)]
    plan, answer = (
        chat.get_num_tokens_from_messages(asked, tools=tools),
        chat.get_num_tokens_from_messages(asked),
    )
    assert plan > answer > 0
    assert message.usage_metadata["input_tokens"] == plan + answer
