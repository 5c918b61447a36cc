"""Agents on the real model: a call, its result, an answer in text; and lost fields asked for again."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from langchain.agents import create_agent
from langchain_core.exceptions import OutputParserException
from pydantic import BaseModel

from raif_integrations.langchain import ChatRaifVLLM
from tests.real.langchain_models import ENGINES, chat_model

pytestmark = pytest.mark.real


def get_weather(city: str) -> dict[str, str]:
    """Get the current weather for a city"""
    return {"weather": "sunny", "temperature": "21 degrees"}


def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


QUESTIONS = [
    ("What's the weather in Oslo?", "get_weather", {"city": "Oslo"}, ["sunny", "21 degrees"]),
    ("What is 17 plus 25?", "add", {"a": 17, "b": 25}, ["42"]),
]


@pytest.fixture(scope="module", params=ENGINES)
def chat(request: pytest.FixtureRequest) -> ChatRaifVLLM:
    return chat_model(request.param, request)


@pytest.mark.parametrize(("question", "tool", "arguments", "facts"), QUESTIONS)
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_an_agent_calls_one_of_two_tools_and_answers_in_text(
    chat: ChatRaifVLLM, way: str, question: str, tool: str, arguments: dict[str, Any], facts: list[str]
) -> None:
    agent: Any = create_agent(chat, tools=[get_weather, add])
    asked = {"messages": [("human", question)]}
    if way == "invoke":
        messages = agent.invoke(asked)["messages"]
    elif way == "ainvoke":
        messages = (await agent.ainvoke(asked))["messages"]
    elif way == "stream":
        messages = list(agent.stream(asked, stream_mode="values"))[-1]["messages"]
    else:
        messages = [state async for state in agent.astream(asked, stream_mode="values")][-1]["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    (call,) = messages[1].tool_calls
    assert (call["name"], call["args"]) == (tool, arguments)
    assert all(fact in messages[2].content and fact in messages[3].text for fact in facts)
    assert messages[3].tool_calls == []


def test_an_agent_that_needs_no_tool_answers_at_once(chat: ChatRaifVLLM) -> None:
    messages = create_agent(chat, tools=[get_weather, add]).invoke({"messages": [("human", "Hello!")]})[
        "messages"
    ]
    assert [message.type for message in messages] == ["human", "ai"]
    assert messages[1].response_metadata["raif"]["plan"] == ["reply"]
    assert messages[1].text


def test_the_answer_of_an_agent_streams_token_by_token(chat: ChatRaifVLLM) -> None:
    agent: Any = create_agent(chat, tools=[get_weather, add])
    asked = {"messages": [("human", "What's the weather in Oslo?")]}
    chunks = [chunk for chunk, _ in agent.stream(asked, stream_mode="messages")]
    calls = [delta for chunk in chunks for delta in getattr(chunk, "tool_call_chunks", ())]
    assert "".join(delta["name"] or "" for delta in calls) == "get_weather"
    pieces = [chunk.content for chunk in chunks if chunk.type == "AIMessageChunk" and chunk.content]
    assert "21" in "".join(pieces)
    assert len(pieces) > 3


class LanguageCourse(BaseModel):
    """Without a grammar the model leaves out ``time``."""

    language: str
    level: Literal["beginner", "intermediate", "advanced"]
    time: Literal["mornings", "evenings", "weekend"]
    teacher: str


class StatusPage(BaseModel):
    """Without a grammar the model leaves out ``updated``."""

    up: list[str]
    down: list[str]
    updated: str


LOST = [
    pytest.param(
        "Language course: Portuguese, level beginner, evenings, teacher Iara Campos.",
        LanguageCourse(language="Portuguese", level="beginner", time="evenings", teacher="Iara Campos"),
        "time",
        id="texts",
    ),
    pytest.param(
        "The following services are down: billing, search. These are up: login, chat, export. "
        "Status page updated at 15:08.",
        StatusPage(up=["login", "chat", "export"], down=["billing", "search"], updated="15:08"),
        "updated",
        id="lists",
    ),
]


@pytest.mark.parametrize(("text", "right", "lost"), LOST)
@pytest.mark.parametrize("method", ["raif", "function_calling"])
def test_a_lost_field_is_asked_for_again_and_counted(
    chat: ChatRaifVLLM, method: Any, text: str, right: BaseModel, lost: str
) -> None:
    free = chat.model_copy(update={"constrain": False})
    once = free.model_copy(update={"repair_attempts": 0})
    with pytest.raises(OutputParserException, match=f"{lost}: this required field is missing"):
        once.with_structured_output(type(right), method=method).invoke(text)
    found = free.with_structured_output(type(right), method=method, include_raw=True).invoke(text)
    assert found["parsed"] == right
    report = found["raw"].response_metadata["raif"]
    assert report["repair_requests"] == 1
    assert {"kind": "asked_again", "path": lost, "detail": ""} in report["repairs"]


@pytest.mark.parametrize(("text", "right", "lost"), LOST)
def test_under_the_grammar_nothing_is_asked_again(
    chat: ChatRaifVLLM, text: str, right: BaseModel, lost: str
) -> None:
    found = chat.with_structured_output(type(right), include_raw=True).invoke(text)
    assert getattr(found["parsed"], lost)
    assert found["raw"].response_metadata["raif"]["repair_requests"] == 0
