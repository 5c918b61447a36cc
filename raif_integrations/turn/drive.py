"""Drives a turn on an engine: sync or async, streamed or not.

The course of a turn is written once, in ``steps.py``; a driver only fetches what the course asks for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence

from raif_integrations.conversation.history import check_messages
from raif_integrations.engines.base import Completion, Delta, Engine, Message, Request
from raif_integrations.turn.prefetch import AsyncDeltas, AsyncPrefetched, Deltas, Prefetched
from raif_integrations.turn.protocol import Next, Open, Steps
from raif_integrations.turn.types import TurnEvent, TurnRequest, TurnResult, is_raif_name


def run_turn(engine: Engine, request: TurnRequest) -> TurnResult:
    """Takes a turn and returns what came of it.

    Args:
        engine: Who generates.
        request: The turn.

    Returns:
        The text, tool calls or value.

    Raises:
        EngineError: The engine did not answer.
        RequestError: The messages cannot be sent.
        ConfigurationError: Tools and tool choice contradict each other.
        OutputError: A call is required, and the model named no tool.
    """
    steps = _begin(request, trained=_trained(engine, request), streaming=False)
    replies = _Collected()
    answer: Delta | None = None
    while True:
        step = steps.send(answer)
        answer = None
        match step:
            case Open():
                replies.add(_generate(engine, step.requests))
            case Next():
                answer = replies.take(step.number)
            case TurnResult():
                return step


async def arun_turn(engine: Engine, request: TurnRequest) -> TurnResult:
    """Takes a turn without blocking the event loop; see :func:`run_turn`."""
    steps = _begin(request, trained=await _atrained(engine, request), streaming=False)
    replies = _Collected()
    answer: Delta | None = None
    while True:
        step = steps.send(answer)
        answer = None
        match step:
            case Open():
                replies.add(await _agenerate(engine, step.requests))
            case Next():
                answer = replies.take(step.number)
            case TurnResult():
                return step


def stream_turn(engine: Engine, request: TurnRequest) -> Generator[TurnEvent, None, None]:
    """Takes a turn and yields what happens in it; closing the iterator aborts it.

    Args:
        engine: Who generates.
        request: The turn.

    Yields:
        Events as they happen; the last one is the :class:`TurnResult`.

    Raises:
        EngineError: The engine did not answer, or stopped in the middle.
        RequestError: The messages cannot be sent.
        ConfigurationError: Tools and tool choice contradict each other.
        OutputError: A call is required, and the model named no tool.
    """
    steps = _begin(request, trained=_trained(engine, request), streaming=True)
    streams: list[Deltas] = []
    answer: Delta | None = None
    try:
        while True:
            step = steps.send(answer)
            answer = None
            match step:
                case Open():
                    opened = [engine.stream(one) for one in step.requests]
                    streams += opened if len(opened) == 1 else map(Prefetched, opened)
                case Next():
                    answer = _next(streams[step.number])
                case _:
                    yield step
                    if isinstance(step, TurnResult):
                        return
    finally:
        for stream in streams:
            stream.close()


async def astream_turn(engine: Engine, request: TurnRequest) -> AsyncGenerator[TurnEvent, None]:
    """Takes a turn and yields what happens in it without blocking; see :func:`stream_turn`."""
    steps = _begin(request, trained=await _atrained(engine, request), streaming=True)
    streams: list[AsyncDeltas] = []
    answer: Delta | None = None
    try:
        while True:
            step = steps.send(answer)
            answer = None
            match step:
                case Open():
                    opened = [engine.astream(one) for one in step.requests]
                    streams += opened if len(opened) == 1 else map(AsyncPrefetched, opened)
                case Next():
                    answer = await _anext(streams[step.number])
                case _:
                    yield step
                    if isinstance(step, TurnResult):
                        return
    finally:
        for stream in streams:
            await stream.aclose()


def first_prompt(engine: Engine, request: TurnRequest) -> Sequence[Message]:
    """The messages a turn asks first, as its model would be shown them; nothing is generated.

    Args:
        engine: Asked for its model's name where that decides how a schema is shown.
        request: The turn.

    Raises:
        RequestError: The messages cannot be sent.
        ConfigurationError: Tools and tool choice contradict each other.
    """
    for step in _begin(request, trained=_trained(engine, request), streaming=False):
        if isinstance(step, Open):
            return step.requests[0].messages
    return ()


def _begin(request: TurnRequest, *, trained: bool, streaming: bool) -> Steps:
    """The course of the turn; contracts are loaded with the first one, not with this package."""
    from raif_integrations.turn.steps import take_turn

    return take_turn(request, trained=trained, streaming=streaming)


def _generate(engine: Engine, requests: tuple[Request, ...]) -> list[Completion]:
    """Completions of all; one alone needs none of the machinery that runs several side by side."""
    return [engine.generate(requests[0])] if len(requests) == 1 else engine.generate_many(requests)


async def _agenerate(engine: Engine, requests: tuple[Request, ...]) -> list[Completion]:
    if len(requests) == 1:
        return [await engine.agenerate(requests[0])]
    return await engine.agenerate_many(requests)


def _next(stream: Deltas) -> Delta | None:
    try:
        return stream.__next__()
    except StopIteration:
        return None


async def _anext(stream: AsyncDeltas) -> Delta | None:
    try:
        return await stream.__anext__()
    except StopAsyncIteration:
        return None


class _Collected:
    """Whole completions, handed out as a stream of one delta each."""

    def __init__(self) -> None:
        self._waiting: list[Delta | None] = []

    def add(self, completions: Sequence[Completion]) -> None:
        self._waiting += [completion.as_delta() for completion in completions]

    def take(self, number: int) -> Delta | None:
        delta, self._waiting[number] = self._waiting[number], None
        return delta


def _named(request: TurnRequest) -> str | None:
    """The name that tells whether the model was trained on RAIF; ``None`` if the engine has to say it."""
    return (request.model or None) if request.options.prompting == "auto" else ""


def _is_trained(request: TurnRequest, name: str) -> bool:
    if request.options.prompting != "auto":
        return request.options.prompting == "trained"
    return is_raif_name(name)


def _trained(engine: Engine, request: TurnRequest) -> bool:
    check_messages(request.messages)
    name = _named(request)
    return _is_trained(request, engine.info.name if name is None else name)


async def _atrained(engine: Engine, request: TurnRequest) -> bool:
    check_messages(request.messages)
    name = _named(request)
    if name is None:
        # Asking for the model's name may load the engine or ask the server.
        name = (await asyncio.to_thread(lambda: engine.info)).name
    return _is_trained(request, name)
