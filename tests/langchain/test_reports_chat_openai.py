"""What ``ChatOpenAI`` does today with some of the reports, on the same server.

A test here that fails is good news: that report has been fixed upstream, and its row says so no more.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.langchain.chats import INVOICE_TEXT, Invoice, get_weather
from tests.langchain.report_rows import Check, Reports
from tests.support.stub_server import Answer, EventStream, StubServer, chunk, completion, event

report = Reports()


@contextmanager
def served(reply: Answer | EventStream, **settings: Any) -> Iterator[tuple[ChatOpenAI, StubServer]]:
    with StubServer(chat=[reply]) as stub:
        key = SecretStr("none")
        yield (
            ChatOpenAI(base_url=f"{stub.root}/v1", api_key=key, model="raif", max_retries=0, **settings),
            stub,
        )


def call_chunk(index: int, arguments: str, *, name: str | None = None) -> bytes:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    named = {"id": f"c{index}", "type": "function"} if name else {}
    return event(chunk(None, tool_calls=[{"index": index, **named, "function": function}]))


def stream(*pieces: bytes, finish_reason: str = "stop") -> EventStream:
    return EventStream([*pieces, event(chunk("", finish_reason=finish_reason)), event(b"[DONE]")])


def summed(chunks: Any) -> AIMessageChunk:
    first, *rest = chunks
    return first + rest if rest else first


@report("1", "a cut-off stream gives a valid call")
async def cut_off() -> None:
    pieces = stream(
        call_chunk(0, "", name="get_weather"), call_chunk(0, '{"city":"prod-u'), finish_reason="length"
    )
    with served(pieces) as (model, _):
        message = summed(model.bind_tools([get_weather]).stream("go"))
    assert message.tool_calls[0]["args"] == {"city": "prod-u"}
    assert message.invalid_tool_calls == []


@report("5, 15", "a structured reply in the reasoning is lost")
async def in_the_reasoning() -> None:
    with served(Answer(completion(None, reasoning=INVOICE_TEXT))) as (model, _):
        assert model.with_structured_output(Invoice, method="function_calling").invoke("go") is None


@report("11", "an agent without tools sends an empty list of them")
async def empty_tools() -> None:
    text = '{"number": "1", "total": 2, "tags": []}'
    with served(Answer(completion(text)), profile={"structured_output": True}) as (model, stub):
        create_agent(model, [], response_format=Invoice).invoke({"messages": [("human", "go")]})
    assert stub.chats[0].body["tools"] == []


@report("14", "reasoning is lost under both of its names")
async def reasoning() -> None:
    for name in ("reasoning", "reasoning_content"):
        with served(Answer(completion("Yes.", **{name: "Hm."}))) as (model, _):
            assert [block["type"] for block in model.invoke("go").content_blocks] == ["text"]


@report("19", "usage on every chunk adds up")
async def usage() -> None:
    counted = {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101}
    pieces = stream(*(event(chunk(text, usage=counted)) for text in "abc"))
    with served(pieces, stream_usage=True) as (model, _):
        found = summed(model.stream("go")).usage_metadata
    assert found is not None
    assert found["input_tokens"] == 300


@report("22", "an array at the root becomes a tool without parameters")
async def array_root() -> None:
    schema = {"title": "numbers", "description": "d", "type": "array", "items": {"type": "integer"}}
    with served(Answer(completion(None))) as (model, stub):
        model.with_structured_output(schema, method="function_calling").invoke("go")
    assert "parameters" not in stub.chats[0].body["tools"][0]["function"]


@report("30", "an Enum is taken for a function")
async def enum_schema() -> None:
    color = enum.Enum("Color", "RED BLUE")
    with served(Answer(completion(None))) as (model, stub):
        model.with_structured_output(color, method="function_calling").invoke("go")
    assert stub.chats[0].body["tools"][0]["function"]["name"] == "Color"


@report("31", "a call needs the server's own tool parser")
async def no_parser() -> None:
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>'
    with served(Answer(completion(text))) as (model, _):
        message = model.bind_tools([get_weather], tool_choice="any").invoke("go")
    assert message.tool_calls == []
    assert message.content == text


@report("v1", "text before the calls swallows the first of them with output_version='v1'")
async def swallowed() -> None:
    pieces = stream(
        event(chunk("Sure.")),
        call_chunk(0, '{"city": "Oslo", "days": 1}', name="get_weather"),
        call_chunk(1, '{"city": "Rome", "days": 1}', name="get_weather"),
    )
    with served(pieces, output_version="v1") as (model, _):
        message = summed(model.bind_tools([get_weather]).stream("go"))
    calls = [block for block in message.content_blocks if block["type"] == "tool_call"]
    assert len(calls) == 1


@pytest.mark.parametrize("check", report.rows)
async def test_what_chat_openai_does_today(check: Check) -> None:
    await check()
