"""An engine that answers from a script, for tests of the layers above the engines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from raif_integrations.engines.base import (
    Completion,
    Delta,
    Engine,
    FinishReason,
    Message,
    ModelInfo,
    Request,
    ToolCallPiece,
    Usage,
)
from raif_integrations.errors import EngineClosedError


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted reply.

    Attributes:
        text: What the model writes.
        finish_reason: Why it ends.
        reasoning: Reasoning text, reported apart from ``text`` and before it.
        usage: Token counts; words are counted if it is ``None``.
        error: Raised once ``text`` has been streamed, or in place of the completion.
        tool_calls: Calls a server decoded, each whole; streamed after ``text``, the arguments in pieces.
    """

    text: str = ""
    finish_reason: FinishReason = "stop"
    reasoning: str | None = None
    usage: Usage | None = None
    error: Exception | None = None
    tool_calls: tuple[ToolCallPiece, ...] = ()


ScriptLine: TypeAlias = str | Reply | Exception
Script: TypeAlias = Sequence[ScriptLine] | Callable[[Request], ScriptLine]


class ScriptedEngine(Engine):
    """Answers requests in turn from a list, or each from a function of the request.

    Args:
        replies: Texts, :class:`Reply` objects and exceptions (which are raised), used one a request
            in the order the requests arrive; or a function that makes one from the request. A list
            that has run out fails the test.
        chunk_sizes: Lengths of the streamed pieces in characters, repeated until the text ends.
        model: Name of the default model.
        adapters: Names of the adapters.

    Attributes:
        requests: Every request, in the order of arrival.
        abandoned: Requests whose stream was closed or cancelled before its last delta.
        closed: Whether :meth:`close` was called.
    """

    def __init__(
        self,
        replies: Script,
        *,
        chunk_sizes: Sequence[int] = (4,),
        model: str = "scripted",
        adapters: Sequence[str] = (),
    ) -> None:
        if not chunk_sizes or min(chunk_sizes) < 1:
            raise ValueError("chunk_sizes must be positive lengths")
        self.requests: list[Request] = []
        self.abandoned: list[Request] = []
        self.closed = False
        self._replies = replies
        self._chunk_sizes = tuple(chunk_sizes)
        self._info = ModelInfo(name=model, max_model_len=4096, adapters=tuple(adapters), version="0")
        self._lock = threading.Lock()

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def last_request(self) -> Request:
        """The newest request."""
        return self.requests[-1]

    def generate(self, request: Request) -> Completion:
        number, reply = self._next(request)
        if reply.error is not None:
            raise reply.error
        return Completion(
            text=reply.text,
            finish_reason=reply.finish_reason,
            usage=_usage(request, reply),
            model=request.model or self._info.name,
            request_id=f"scripted-{number}",
            reasoning=reply.reasoning,
            tool_calls=reply.tool_calls,
        )

    async def agenerate(self, request: Request) -> Completion:
        await asyncio.sleep(0)
        return self.generate(request)

    def generate_many(self, requests: Sequence[Request]) -> list[Completion]:
        return [self.generate(request) for request in requests]

    async def agenerate_many(self, requests: Sequence[Request]) -> list[Completion]:
        return list(await asyncio.gather(*(self.agenerate(request) for request in requests)))

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        number, reply = self._next(request)
        return self._deltas(request, reply, f"scripted-{number}")

    async def astream(self, request: Request) -> AsyncGenerator[Delta, None]:
        deltas = self.stream(request)
        try:
            for delta in deltas:
                await asyncio.sleep(0)
                yield delta
        finally:
            deltas.close()

    def count_tokens(self, messages: Sequence[Message] | str) -> int:
        if isinstance(messages, str):
            return len(messages.split())
        return sum(len(str(message.get("content") or "").split()) for message in messages)

    def close(self) -> None:
        self.closed = True

    def _next(self, request: Request) -> tuple[int, Reply]:
        if self.closed:
            raise EngineClosedError("The engine is closed.")
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        if callable(self._replies):
            line = self._replies(request)
        elif number < len(self._replies):
            line = self._replies[number]
        else:
            raise AssertionError(
                f"request {number + 1} came, but the script has {len(self._replies)} replies"
            )
        if isinstance(line, Exception):
            return number, Reply(error=line)
        return number, Reply(line) if isinstance(line, str) else line

    def _deltas(self, request: Request, reply: Reply, request_id: str) -> Generator[Delta, None, None]:
        model = request.model or self._info.name
        finished = False
        try:
            if reply.reasoning is not None:
                yield Delta(text="", model=model, request_id=request_id, reasoning=reply.reasoning)
            for piece in self._pieces(reply.text):
                yield Delta(text=piece, model=model, request_id=request_id)
            for call in reply.tool_calls:
                first = replace(call, arguments="")
                rest = [ToolCallPiece(call.index, arguments=part) for part in self._pieces(call.arguments)]
                for piece in (first, *rest):
                    yield Delta(text="", model=model, request_id=request_id, tool_calls=(piece,))
            finished = True
            if reply.error is not None:
                raise reply.error
            yield Delta(
                text="",
                model=model,
                request_id=request_id,
                finish_reason=reply.finish_reason,
                usage=_usage(request, reply),
            )
        finally:
            if not finished:
                self.abandoned.append(request)

    def _pieces(self, text: str) -> Iterator[str]:
        start = count = 0
        while start < len(text):
            size = self._chunk_sizes[count % len(self._chunk_sizes)]
            yield text[start : start + size]
            start += size
            count += 1


def _usage(request: Request, reply: Reply) -> Usage:
    if reply.usage is not None:
        return reply.usage
    prompt = sum(len(str(message.get("content") or "").split()) for message in request.messages)
    return Usage(prompt_tokens=prompt, completion_tokens=len(reply.text.split()))
