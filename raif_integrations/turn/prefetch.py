"""Streams that run side by side although their consumer reads one after the other.

An engine's stream does nothing before its first delta is asked for. The arguments of several calls
are written at the same time, so each of their streams gets a reader of its own: a thread, or a task.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing
from queue import SimpleQueue
from typing import Protocol, TypeAlias

from raif_integrations.engines.base import Delta

_Item: TypeAlias = Delta | BaseException | None


class Deltas(Protocol):
    """A stream of deltas, read by the driver; closing it aborts the generation."""

    def __next__(self) -> Delta: ...

    def close(self) -> None:
        """Ends the stream."""


class AsyncDeltas(Protocol):
    """A stream of deltas, awaited by the driver; closing it aborts the generation."""

    async def __anext__(self) -> Delta: ...

    async def aclose(self) -> None:
        """Ends the stream."""


class Prefetched:
    """Reads a stream ahead in a thread of its own.

    Args:
        stream: The engine's stream; it is closed in that thread, at the delta after :meth:`close`.
    """

    def __init__(self, stream: Generator[Delta, None, None]) -> None:
        self._items: SimpleQueue[_Item] = SimpleQueue()
        self._left = threading.Event()
        threading.Thread(target=self._read, args=(stream,), name="raif-stream", daemon=True).start()

    def __next__(self) -> Delta:
        item = self._items.get()
        if item is None:
            raise StopIteration
        if isinstance(item, BaseException):
            raise item
        return item

    def close(self) -> None:
        """Has the stream closed; does not wait for it."""
        self._left.set()

    def _read(self, stream: Generator[Delta, None, None]) -> None:
        end: _Item = None
        try:
            with closing(stream):
                for delta in stream:
                    if self._left.is_set():
                        break
                    self._items.put(delta)
        except BaseException as error:  # belongs to the consumer, in its own thread
            end = error
        self._items.put(end)


class AsyncPrefetched:
    """Reads a stream ahead in a task of its own.

    Args:
        stream: The engine's stream.
    """

    def __init__(self, stream: AsyncGenerator[Delta, None]) -> None:
        self._items: asyncio.Queue[_Item] = asyncio.Queue()
        self._task = asyncio.create_task(self._read(stream))

    async def __anext__(self) -> Delta:
        item = await self._items.get()
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, BaseException):
            raise item
        return item

    async def aclose(self) -> None:
        """Closes the stream and waits until it is closed."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self, stream: AsyncGenerator[Delta, None]) -> None:
        end: _Item = None
        try:
            async with aclosing(stream):
                async for delta in stream:
                    self._items.put_nowait(delta)
        except Exception as error:
            end = error
        self._items.put_nowait(end)
