"""The blocking and the awaiting side of an engine behind one face, so that a test covers both."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, closing
from typing import cast

from raif_integrations.engines.base import Completion, Delta, Engine, Request


class EngineCalls(ABC):
    """Calls an engine and waits."""

    @abstractmethod
    def generate(self, engine: Engine, request: Request) -> Completion: ...

    @abstractmethod
    def generate_many(self, engine: Engine, requests: Sequence[Request]) -> list[Completion]: ...

    @abstractmethod
    def stream(self, engine: Engine, request: Request, *, at_most: int | None = None) -> list[Delta]:
        """The deltas, all of them or the first few, after which the stream is closed."""


class BlockingCalls(EngineCalls):
    def generate(self, engine: Engine, request: Request) -> Completion:
        return engine.generate(request)

    def generate_many(self, engine: Engine, requests: Sequence[Request]) -> list[Completion]:
        return engine.generate_many(requests)

    def stream(self, engine: Engine, request: Request, *, at_most: int | None = None) -> list[Delta]:
        deltas: list[Delta] = []
        with closing(cast("Generator[Delta, None, None]", engine.stream(request))) as stream:
            for delta in stream:
                deltas.append(delta)
                if len(deltas) == at_most:
                    break
        return deltas


class AwaitingCalls(EngineCalls):
    """Every call has an event loop of its own, as a program has that calls ``asyncio.run`` repeatedly."""

    def generate(self, engine: Engine, request: Request) -> Completion:
        return asyncio.run(engine.agenerate(request))

    def generate_many(self, engine: Engine, requests: Sequence[Request]) -> list[Completion]:
        return asyncio.run(engine.agenerate_many(requests))

    def stream(self, engine: Engine, request: Request, *, at_most: int | None = None) -> list[Delta]:
        return asyncio.run(self._stream(engine, request, at_most))

    async def _stream(self, engine: Engine, request: Request, at_most: int | None) -> list[Delta]:
        deltas: list[Delta] = []
        async with aclosing(cast("AsyncGenerator[Delta, None]", engine.astream(request))) as stream:
            async for delta in stream:
                deltas.append(delta)
                if len(deltas) == at_most:
                    break
        return deltas


BOTH = (BlockingCalls(), AwaitingCalls())
"""For ``pytest.mark.parametrize("calls", BOTH, ids=["blocking", "awaiting"])``."""
