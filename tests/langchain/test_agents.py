"""``create_agent``: every way to a structured response, with tools and without."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import after_model
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.messages import ToolMessage
from pydantic import BaseModel
from typing_extensions import TypedDict

from raif_integrations.conversation.routing import REPLY
from raif_integrations.engines.base import Request
from raif_integrations.langchain import ChatRaifVLLM
from tests.langchain.chats import chat, get_weather, now
from tests.support.scripted_engine import Reply, ScriptedEngine


class Report(BaseModel):
    """A report."""

    city: str
    degrees: int


@dataclass
class ReportData:
    """A report."""

    city: str
    degrees: int


class ReportDict(TypedDict):
    """A report."""

    city: str
    degrees: int


REPORT_SCHEMA = {
    "title": "ReportSchema",
    "description": "A report.",
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
}

SCHEMAS: list[tuple[Any, Any]] = [
    (Report, Report(city="Oslo", degrees=3)),
    (ReportData, ReportData(city="Oslo", degrees=3)),
    (ReportDict, {"city": "Oslo", "degrees": 3}),
    (REPORT_SCHEMA, {"city": "Oslo", "degrees": 3}),
]

STRATEGIES = {
    "tool": ToolStrategy,
    "provider": ProviderStrategy,
    "auto": AutoStrategy,
    "bare": lambda schema: schema,
}


class _Player:
    """Plays a model that looks up the weather once, if it can, and then reports."""

    def __call__(self, request: Request) -> str:
        asked = request.messages[-1]["content"]
        looked_up = any("<tool_response>" in message["content"] for message in request.messages)
        if "<tools>" in asked:
            offered = [line.split(" — ")[0] for line in _inside(asked, "tools")]
            if "get_weather" in offered and not looked_up:
                return "get_weather"
            return next((name for name in offered if name.startswith("Report")), REPLY)
        if "<schema>" in asked:
            cue = "\n".join(_inside(asked, "schema"))
            return "city=Oslo\ndays=1\n" if "days" in cue else "city=Oslo\ndegrees=3\n"
        return "It is 3 degrees in Oslo."


def _inside(text: str, tag: str) -> list[str]:
    return text.rpartition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0].splitlines()


def _model(name: str) -> ChatRaifVLLM:
    return ChatRaifVLLM(engine=ScriptedEngine(_Player(), model=name), model=name, prompting="trained")


@pytest.mark.parametrize("tools", [[], [get_weather, now]], ids=["no tools", "two tools"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("schema", "expected"), SCHEMAS, ids=["pydantic", "dataclass", "typed dict", "json schema"]
)
@pytest.mark.parametrize("name", ["raif", "gpt-4o"])
def test_an_agent_ends_with_its_structured_response(name, schema, expected, strategy, tools):
    agent = create_agent(_model(name), tools=tools, response_format=STRATEGIES[strategy](schema))
    state = agent.invoke({"messages": [("human", "Report the weather in Oslo.")]}, {"recursion_limit": 8})
    assert state["structured_response"] == expected
    assert type(state["structured_response"]) is type(expected)
    called = [call["name"] for message in state["messages"] for call in getattr(message, "tool_calls", [])]
    assert called[:1] == (["get_weather"] if tools else called[:1])


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_an_agent_calls_a_tool_and_then_answers_in_text(way):
    agent = create_agent(_model("raif"), tools=[get_weather, now])
    asked = {"messages": [("human", "How is the weather in Oslo?")]}
    if way == "invoke":
        messages = agent.invoke(asked)["messages"]
    elif way == "ainvoke":
        messages = (await agent.ainvoke(asked))["messages"]
    elif way == "stream":
        messages = list(agent.stream(asked, stream_mode="values"))[-1]["messages"]
    else:
        messages = [state async for state in agent.astream(asked, stream_mode="values")][-1]["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    assert messages[1].tool_calls[0]["args"] == {"city": "Oslo", "days": 1}
    assert messages[2].content == "Oslo 1"
    assert messages[3].content == "It is 3 degrees in Oslo."


def test_the_text_of_an_agent_streams_token_by_token():
    agent = create_agent(_model("raif"), tools=[get_weather, now])
    asked = {"messages": [("human", "How is the weather in Oslo?")]}
    pieces = [
        chunk.content
        for chunk, _ in agent.stream(asked, stream_mode="messages")
        if chunk.type == "AIMessageChunk" and chunk.content
    ]
    assert "".join(pieces) == "It is 3 degrees in Oslo."
    assert len(pieces) > 3


def test_the_response_of_a_provider_is_json_text():
    agent = create_agent(_model("gpt-4o"), tools=[], response_format=Report)
    state = agent.invoke({"messages": [("human", "Report.")]})
    assert json.loads(state["messages"][-1].content) == {"city": "Oslo", "degrees": 3}


@after_model(can_jump_to=["model"])
def ask_again(state, runtime):
    """The middleware that docs/langchain.md shows."""
    last = state["messages"][-1]
    if not last.invalid_tool_calls or last.tool_calls:
        return None
    told = [
        ToolMessage(call["error"], tool_call_id=call["id"], status="error")
        for call in last.invalid_tool_calls
    ]
    return {"messages": told, "jump_to": "model"}


def test_a_middleware_lets_the_model_try_again_after_an_invalid_call():
    cut_off = Reply("city=Os", finish_reason="length")
    replies = ["get_weather", cut_off, "get_weather", "city=Oslo\ndays=1", "reply", "Cold."]
    agent = create_agent(chat(replies), tools=[get_weather, now], middleware=[ask_again])
    messages = agent.invoke({"messages": [("human", "How is the weather in Oslo?")]})["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert "max_tokens" in messages[2].text
    assert (messages[-2].text, messages[-1].text) == ("Oslo 1", "Cold.")
