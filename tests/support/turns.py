"""Takes a turn in every way there is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from raif_integrations.turn import (
    TurnRequest,
    TurnResult,
    arun_turn,
    astream_turn,
    run_turn,
    stream_turn,
)
from tests.support.scripted_engine import ScriptedEngine


def run_every_way(replies: Sequence[Any], request: TurnRequest) -> TurnResult:
    """Runs a turn sync, async, streamed and async streamed, and returns the one result they agree on."""

    async def gather() -> list[TurnResult]:
        streamed = [
            event async for event in astream_turn(ScriptedEngine(replies, chunk_sizes=(1, 3)), request)
        ]
        assert isinstance(streamed[-1], TurnResult)
        return [await arun_turn(ScriptedEngine(replies), request), streamed[-1]]

    results = [run_turn(ScriptedEngine(replies), request), *asyncio.run(gather())]
    for size in (1, 2, 7, 1000):
        last = list(stream_turn(ScriptedEngine(replies, chunk_sizes=(size,)), request))[-1]
        assert isinstance(last, TurnResult)
        results.append(last)
    first = results[0]
    for other in results[1:]:
        assert comparable(other) == comparable(first)
    return first


def comparable(result: TurnResult) -> Any:
    """What two results of the same turn have in common; ids are new each time."""
    return (
        result.text,
        result.reasoning,
        [(call.name, call.arguments, call.raif) for call in result.tool_calls],
        [(call.name, call.text, call.error, call.truncated) for call in result.invalid_tool_calls],
        result.output,
        result.finish_reason,
        result.usage,
        result.report,
    )
