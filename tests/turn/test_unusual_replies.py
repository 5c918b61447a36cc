"""Replies that come in another place, or name nothing, on every way a turn can be taken."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from raif_integrations.contract import OutputContract
from raif_integrations.errors import OutputError, TruncatedOutputError
from raif_integrations.turn import (
    Tool,
    TurnOptions,
    TurnRequest,
    TurnResult,
    arun_turn,
    astream_turn,
    run_turn,
    stream_turn,
)
from tests.support.scripted_engine import Reply, ScriptedEngine

TOTAL = OutputContract.from_json_schema(
    {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}, name="total"
)
CITY = OutputContract.from_json_schema(
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}, name="weather"
)
NOTHING = OutputContract.from_json_schema({"type": "object", "properties": {}}, name="now")
TOOLS = (Tool("get_weather", "Get the weather", CITY), Tool("now", "Tell the time", NOTHING))


async def _invoke(replies: Sequence[Reply], request: TurnRequest) -> TurnResult:
    return run_turn(ScriptedEngine(replies), request)


async def _ainvoke(replies: Sequence[Reply], request: TurnRequest) -> TurnResult:
    return await arun_turn(ScriptedEngine(replies), request)


async def _stream(replies: Sequence[Reply], request: TurnRequest) -> TurnResult:
    return _result(list(stream_turn(ScriptedEngine(replies, chunk_sizes=(1,)), request))[-1])


async def _astream(replies: Sequence[Reply], request: TurnRequest) -> TurnResult:
    events: AsyncIterator[Any] = astream_turn(ScriptedEngine(replies, chunk_sizes=(1,)), request)
    return _result([event async for event in events][-1])


def _result(event: Any) -> TurnResult:
    assert isinstance(event, TurnResult)
    return event


every_way = pytest.mark.parametrize("take", [_invoke, _ainvoke, _stream, _astream])


def ask(**options: Any) -> TurnRequest:
    return TurnRequest(messages=[{"role": "user", "content": "Weather?"}], model="raif", **options)


@every_way
async def test_a_value_that_a_server_took_for_reasoning_is_found(take: Callable[..., Any]) -> None:
    result = await take([Reply("", reasoning="total=7.5")], ask(output=TOTAL))
    assert json.loads(result.text) == {"total": 7.5}
    assert result.report.text == "total=7.5"


@every_way
async def test_plan_and_arguments_that_a_server_took_for_reasoning_are_found(
    take: Callable[..., Any],
) -> None:
    replies = [Reply("", reasoning="get_weather"), Reply("\n", reasoning="city=Oslo")]
    result = await take(replies, ask(tools=TOOLS))
    assert [(call.name, call.arguments) for call in result.tool_calls] == [("get_weather", {"city": "Oslo"})]


@every_way
async def test_words_that_are_reasoning_stay_reasoning(take: Callable[..., Any]) -> None:
    result = await take([Reply("", reasoning="Hm.")], ask())
    assert (result.text, result.reasoning) == ("", "Hm.")
    result = await take([Reply("total=1", reasoning="total=2")], ask(output=TOTAL))
    assert json.loads(result.text) == {"total": 1}


@every_way
@pytest.mark.parametrize(
    ("reply", "error", "remedy"),
    [
        (Reply("I will not."), OutputError, "constrain"),
        (Reply("get_w", finish_reason="length"), TruncatedOutputError, "max_tokens"),
        (Reply("", finish_reason="length"), TruncatedOutputError, "max_tokens"),
    ],
)
async def test_a_required_call_that_does_not_come_is_an_error(
    take: Callable[..., Any], reply: Reply, error: type[OutputError], remedy: str
) -> None:
    request = ask(tools=TOOLS, tool_choice="required", options=TurnOptions(constrain=False))
    with pytest.raises(OutputError, match=remedy) as caught:
        await take([reply], request)
    assert type(caught.value) is error
    assert caught.value.text == reply.text
