"""What a turn gives becomes LlamaIndex responses."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatResponse, TextBlock, ThinkingBlock, ToolCallBlock

from raif_integrations.contract.report import Decoded, FieldError
from raif_integrations.engines.base import Usage
from raif_integrations.errors import OutputError, TruncatedOutputError
from raif_integrations.llama_index.results import (
    agrowing,
    as_it_is,
    growing,
    to_chat_response,
    to_completion_response,
)
from raif_integrations.turn.types import (
    InvalidToolCall,
    RaifReport,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    TurnEvent,
    TurnResult,
)

USAGE = Usage(prompt_tokens=10, completion_tokens=4, cached_tokens=8)


def turn(**fields: Any) -> TurnResult:
    defaults: dict[str, Any] = {
        "text": "",
        "finish_reason": "stop",
        "usage": USAGE,
        "model": "m",
        "request_id": "r1",
    }
    return TurnResult(**{**defaults, **fields})


WEATHER = ToolCall(id="c1", name="weather", arguments={"city": "Oslo"}, raif="city=Oslo")
TIME = ToolCall(id="c2", name="time", arguments={}, raif="")


def test_text_comes_with_counts_where_counters_look() -> None:
    response = to_chat_response(turn(text="hello"))
    assert response.message.role == "assistant"
    assert response.message.content == "hello"
    assert response.message.additional_kwargs == {}
    assert response.raw["usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "total_tokens": 14,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    assert response.additional_kwargs == {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    assert (response.raw["id"], response.raw["model"], response.raw["finish_reason"]) == ("r1", "m", "stop")


def test_an_empty_answer_has_empty_text() -> None:
    assert to_chat_response(turn()).message.content == ""


def test_blocks_come_in_order_and_calls_are_kept_twice() -> None:
    response = to_chat_response(turn(text="one moment", reasoning="hm", tool_calls=(WEATHER, TIME)))
    assert [type(block) for block in response.message.blocks] == [
        ThinkingBlock,
        TextBlock,
        ToolCallBlock,
        ToolCallBlock,
    ]
    assert response.message.content == "one moment"
    calls = response.message.additional_kwargs["tool_calls"]
    assert [call["function"]["name"] for call in calls] == ["weather", "time"]
    assert json.loads(calls[0]["function"]["arguments"]) == {"city": "Oslo"}
    assert [call["id"] for call in calls] == ["c1", "c2"]


def test_a_response_survives_json() -> None:
    report = RaifReport(text="city=Oslo", wire="raif", completion_tokens=4)
    response = to_chat_response(turn(tool_calls=(WEATHER,), report=report))
    again = ChatResponse.model_validate_json(response.model_dump_json())
    assert again.message == response.message
    assert again.raw == response.raw
    assert again.raw["raif"]["text"] == "city=Oslo"


def test_arguments_are_not_shared_with_the_turn() -> None:
    response = to_chat_response(turn(tool_calls=(WEATHER,)))
    block = response.message.blocks[0]
    assert isinstance(block, ToolCallBlock)
    assert isinstance(block.tool_kwargs, dict)
    block.tool_kwargs["city"] = "Rome"
    assert WEATHER.arguments == {"city": "Oslo"}


BROKEN = InvalidToolCall(
    id="c1",
    name="weather",
    text="city=",
    error="The arguments of weather do not fit.",
    errors=(FieldError("city", "minLength", "is too short"),),
)


@pytest.mark.parametrize(
    ("result", "kind", "said"),
    [
        (turn(invalid_tool_calls=(BROKEN,)), OutputError, r"weather do not fit.*'city='"),
        (
            turn(invalid_tool_calls=(InvalidToolCall("c", "w", "ci", "Cut off.", truncated=True),)),
            TruncatedOutputError,
            r"Cut off.*'ci'.*max_tokens",
        ),
        (
            turn(
                report=RaifReport(text="x=1"),
                output=Decoded(value={}, ok=False, errors=(FieldError("a.b", "required", "is missing"),)),
            ),
            OutputError,
            r"a\.b: is missing.*'x=1'",
        ),
        (
            turn(report=RaifReport(text="a"), output=Decoded(value={}, ok=False, truncated=True)),
            TruncatedOutputError,
            r"cut off.*'a'",
        ),
    ],
    ids=["call", "truncated call", "value", "truncated value"],
)
def test_what_does_not_fit_is_raised_with_the_models_text(
    result: TurnResult, kind: type[OutputError], said: str
) -> None:
    with pytest.raises(kind, match=f"(?s){said}") as raised:
        to_chat_response(result)
    assert raised.value.text
    assert isinstance(raised.value, ValueError)


def test_a_long_text_is_shortened_in_the_message_only() -> None:
    call = InvalidToolCall("c", "weather", "x" * 1000, "Broken.")
    with pytest.raises(OutputError) as raised:
        to_chat_response(turn(invalid_tool_calls=(call,)))
    assert raised.value.text == "x" * 1000
    assert len(str(raised.value)) < 500


EVENTS: list[TurnEvent] = [
    ReasoningDelta("hm"),
    TextDelta("one "),
    TextDelta("moment"),
    ToolCallStart(0, "c1", "weather"),
    ToolCallDelta(0, '{"city":', SimpleNamespace(value=None)),
    ToolCallDelta(0, '"Oslo"', SimpleNamespace(value={"city": "Oslo"})),
    ToolCallDelta(0, "}", SimpleNamespace(value={"city": "Oslo"})),
    ToolCallEnd(0, WEATHER),
    ToolCallStart(1, "c2", "time"),
    ToolCallEnd(1, TIME),
    turn(text="one moment", reasoning="hm", tool_calls=(WEATHER, TIME)),
]


def test_a_stream_is_cumulative_and_ends_with_the_whole_message() -> None:
    responses = list(growing(iter_closing(EVENTS), as_it_is))
    assert [response.delta for response in responses] == ["", "one ", "moment", *[""] * 8]
    assert responses[0].additional_kwargs == {"thinking_delta": "hm"}
    assert [response.message.content for response in responses[1:4]] == ["one ", "one moment", "one moment"]
    assert (
        responses[-1].message
        == to_chat_response(turn(text="one moment", reasoning="hm", tool_calls=(WEATHER, TIME))).message
    )
    arguments = [
        block.tool_kwargs
        for response in responses[3:7]
        for block in response.message.blocks
        if isinstance(block, ToolCallBlock)
    ]
    assert arguments == [{}, {}, {"city": "Oslo"}, {"city": "Oslo"}]


def test_chunks_do_not_share_their_calls() -> None:
    responses = list(growing(iter_closing(EVENTS), as_it_is))
    first, second = responses[5].message, responses[6].message
    assert first.additional_kwargs["tool_calls"] is not second.additional_kwargs["tool_calls"]
    assert first.blocks[-1] == second.blocks[-1]
    block = second.blocks[-1]
    assert isinstance(block, ToolCallBlock)
    assert isinstance(block.tool_kwargs, dict)
    block.tool_kwargs["city"] = "Rome"
    assert first.blocks[-1] != second.blocks[-1]


def test_text_that_was_held_back_comes_with_the_last_chunk() -> None:
    responses = list(growing(iter_closing([TextDelta('{"a":1'), turn(text='{"a":1}')]), as_it_is))
    assert "".join(response.delta or "" for response in responses) == '{"a":1}'


def test_a_broken_call_ends_the_stream_with_an_error() -> None:
    events: list[TurnEvent] = [
        ToolCallStart(0, "c1", "weather"),
        ToolCallEnd(0, BROKEN),
        turn(invalid_tool_calls=(BROKEN,)),
    ]
    responses = growing(iter_closing(events), as_it_is)
    next(responses)
    next(responses)
    with pytest.raises(OutputError, match="weather"):
        next(responses)


def test_completions_carry_text_and_counts() -> None:
    responses = list(growing(iter_closing([TextDelta("hel"), turn(text="hello")]), to_completion_response))
    assert [(response.text, response.delta) for response in responses] == [("hel", "hel"), ("hello", "lo")]
    assert responses[-1].raw["usage"]["total_tokens"] == 14


def iter_closing(events: list[TurnEvent]) -> Iterator[TurnEvent]:
    yield from events


async def test_sync_and_async_streams_agree_and_close_the_turn() -> None:
    closed: list[str] = []

    def events() -> Iterator[TurnEvent]:
        try:
            yield from EVENTS
        finally:
            closed.append("sync")

    async def aevents() -> AsyncIterator[TurnEvent]:
        try:
            for event in EVENTS:
                yield event
        finally:
            closed.append("async")

    assert list(growing(events(), as_it_is)) == [r async for r in agrowing(aevents(), as_it_is)]
    assert closed == ["sync", "async"]

    left = growing(events(), as_it_is)
    next(left)
    left.close()
    aleft = agrowing(aevents(), as_it_is)
    await anext(aleft)
    await aleft.aclose()
    assert closed == ["sync", "async", "sync", "async"]
