"""Requests that a server decodes itself: what is sent, and the calls that come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from raif_integrations.engines.base import Request, Sampling, ServerDecoding, ToolCallPiece
from raif_integrations.engines.server import ServerEngine
from raif_integrations.engines.server.reply import DeltaReader, read_completion
from raif_integrations.engines.server.request import chat_body
from tests.support.engine_calls import BOTH, EngineCalls
from tests.support.stub_server import (
    Answer,
    EventStream,
    Received,
    Reply,
    StubServer,
    chunk,
    completion,
    event,
    reply_events,
    usage_chunk,
)

MESSAGES = [{"role": "user", "content": "Hello"}]
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
NAMED = {"type": "function", "function": {"name": "get_weather"}}

both = pytest.mark.parametrize("calls", BOTH, ids=["blocking", "awaiting"])


def call(arguments: Any = '{"city":"Oslo"}', *, call_id: str | None = "1", **more: Any) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **more}


@pytest.fixture
def stub() -> Iterator[StubServer]:
    def chat(request: Received) -> Reply:
        if "probe" in str(request.body["messages"]):
            return Answer(completion('{"probe":"kxqvzw"}'))
        if request.body.get("stream"):
            pieces = [chunk(tool_calls=[call("", index=0)]), chunk(tool_calls=[argument('{"city":"Oslo"}')])]
            return EventStream([*map(event, pieces), *reply_events()[1:]])
        return Answer(completion(None, tool_calls=[call()]))

    with StubServer(chat=chat, version=[Answer({"version": "0.32.0"})]) as server:
        yield server


def argument(text: str, index: int = 0) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": text}}


@pytest.mark.parametrize(
    ("decoding", "sent"),
    [
        (ServerDecoding(), {}),
        (ServerDecoding(tools=[TOOL]), {"tools": [TOOL]}),
        (
            ServerDecoding(tools=[TOOL], tool_choice=NAMED, parallel_tool_calls=False),
            {"tools": [TOOL], "tool_choice": NAMED, "parallel_tool_calls": False},
        ),
        (
            ServerDecoding(response_format={"type": "json_object"}),
            {"response_format": {"type": "json_object"}},
        ),
    ],
)
def test_openais_fields_are_sent_as_they_are(decoding: ServerDecoding, sent: dict[str, Any]) -> None:
    body = chat_body(Request(MESSAGES, server_decoding=decoding), "m", stream=False)
    assert body == {"model": "m", "messages": MESSAGES, **sent}


@both
def test_calls_come_back_whole_and_streamed(stub: StubServer, calls: EngineCalls) -> None:
    request = Request(MESSAGES, model="m", server_decoding=ServerDecoding(tools=[TOOL]))
    with ServerEngine(stub.root) as engine:
        whole = calls.generate(engine, request)
        streamed = calls.stream(engine, request)
    assert whole.tool_calls == (ToolCallPiece(0, "1", "get_weather", '{"city":"Oslo"}'),)
    assert [piece for delta in streamed for piece in delta.tool_calls] == [
        ToolCallPiece(0, "1", "get_weather", ""),
        ToolCallPiece(0, arguments='{"city":"Oslo"}'),
    ]
    assert streamed[-1].finish_reason == "stop"


@pytest.mark.parametrize(
    ("given", "pieces"),
    [
        (None, ()),
        ([], ()),
        (["no call", {"function": None}, {"id": "1"}], ()),
        ([call(None)], (ToolCallPiece(0, "1", "get_weather", ""),)),
        ([call({"city": "Oslo"})], (ToolCallPiece(0, "1", "get_weather", '{"city": "Oslo"}'),)),
        ([call("", call_id=None)], (ToolCallPiece(0, None, "get_weather", ""),)),
        (
            [call("{}"), call("{}", call_id="2")],
            (ToolCallPiece(0, "1", "get_weather", "{}"), ToolCallPiece(1, "2", "get_weather", "{}")),
        ),
        ([call("{}", index=3)], (ToolCallPiece(3, "1", "get_weather", "{}"),)),
    ],
    ids=["null", "none", "other shapes", "no arguments", "a dict", "no id", "two", "an index"],
)
def test_calls_of_any_shape_are_read(given: Any, pieces: tuple[ToolCallPiece, ...]) -> None:
    assert read_completion(completion(None, tool_calls=given)).tool_calls == pieces
    delta = DeltaReader().read(event(chunk("text", tool_calls=given))[6:].strip())
    assert delta is not None
    assert delta.tool_calls == pieces


@pytest.mark.parametrize(
    ("reported", "max_tokens", "told"),
    [
        ("tool_calls", 5, "length"),
        ("tool_calls", 6, "stop"),
        ("tool_calls", None, "stop"),
        ("stop", 5, "stop"),
        ("length", None, "length"),
    ],
)
def test_a_cut_that_vllm_hides_shows_in_the_usage(reported: str, max_tokens: int | None, told: str) -> None:
    whole = completion(None, finish_reason=reported, tool_calls=[call()])
    assert read_completion(whole, max_tokens=max_tokens).finish_reason == told
    reader = DeltaReader(max_tokens=max_tokens)
    for payload in (chunk("", finish_reason=reported), usage_chunk(11, 5)):
        assert reader.read(event(payload)[6:].strip()) is None
    last = reader.read(b"[DONE]")
    assert last is not None
    assert last.finish_reason == told


def test_max_tokens_of_the_request_counts(stub: StubServer) -> None:
    cut = completion(None, finish_reason="tool_calls", tool_calls=[call()])
    stub.on("/v1/chat/completions", Answer(cut))
    request = Request(
        MESSAGES, Sampling(max_tokens=5), model="m", server_decoding=ServerDecoding(tools=[TOOL])
    )
    with ServerEngine(stub.root) as engine:
        assert engine.generate(request).finish_reason == "length"
