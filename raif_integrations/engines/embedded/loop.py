"""A daemon thread with one event loop, and the bridges to it from threads and from other event loops.

vLLM's asynchronous engine belongs to the loop that first used it, so everything that touches the
engine runs on this loop. Callers hand over a coroutine and wait, or hand over an asynchronous
iterator and receive its items. Blocking and asynchronous callers share everything but the wait:
both wait for a :class:`concurrent.futures.Future`.

Nothing here knows of vLLM.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import aclosing, suppress
from typing import Any, Final, Generic, TypeVar, cast

T = TypeVar("T")

BUFFERED_ITEMS: Final = 64
"""Items a stream holds for a slow consumer before its producer has to wait."""

_CLEANUP_SECONDS: Final = 10.0


class LoopClosedError(Exception):
    """The loop ended, or is ending, before the work was done."""


class LoopCall(Generic[T]):
    """A coroutine that runs on the loop, seen from outside.

    Attributes:
        future: The coroutine's result; it cannot be cancelled, use :meth:`cancel`.
        ended: Done, without a result, as soon as ``future`` is. Both wait for the coroutine's own
            cleanup, unlike the future of :func:`asyncio.run_coroutine_threadsafe`.
    """

    def __init__(self, owner: LoopThread, coroutine: Coroutine[Any, Any, T]) -> None:
        self._owner = owner
        self._coroutine = coroutine
        self._task: asyncio.Task[T] | None = None
        self._unwanted = False
        self.future: Future[T] = _uncancellable()
        self.ended: Future[None] = _uncancellable()

    @property
    def begun(self) -> bool:
        """The coroutine has started."""
        return self._task is not None

    def begin(self) -> None:
        """Starts the coroutine unless it was cancelled before; called on the loop."""
        if self._unwanted:
            self._coroutine.close()
            self.future.set_exception(asyncio.CancelledError())
            self.ended.set_result(None)
            return
        self._task = asyncio.get_running_loop().create_task(self._coroutine)
        self._task.add_done_callback(self._settle)

    def cancel(self) -> None:
        """Asks the coroutine to end; safe from any thread, at any time, more than once."""
        self._unwanted = True
        self._owner.call_soon(self._cancel_task)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _settle(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self.future.set_exception(LoopClosedError() if self._owner.closing else asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(task.result())
        self.ended.set_result(None)


class _End:
    """Marks the end of a stream."""


_END: Final = _End()


class Channel(Generic[T]):
    """Carries items from the loop to one consumer in another thread or on another loop.

    The producer waits, without blocking its loop, while ``capacity`` items lie unread.
    """

    def __init__(self, owner: LoopThread, capacity: int = BUFFERED_ITEMS) -> None:
        self._owner = owner
        self._capacity = capacity
        self._lock = threading.Lock()
        self._items: deque[T] = deque()
        self._reader: Future[T | _End] | None = None
        self._ended = False
        self._error: BaseException | None = None
        self._room = asyncio.Event()

    async def send(self, item: T) -> None:
        """Hands over one item; called on the loop."""
        with self._lock:
            reader, self._reader = self._reader, None
            if reader is None:
                self._items.append(item)
            full = len(self._items) >= self._capacity
            if full:
                self._room.clear()
        if reader is not None:
            reader.set_result(item)
        elif full:
            await self._room.wait()

    def end(self, error: BaseException | None = None) -> None:
        """Ends the stream, after the items already sent, with ``error`` if there is one."""
        with self._lock:
            self._ended, self._error = True, error
            reader, self._reader = self._reader, None
        if reader is not None:
            self._finish(reader)

    def receive(self) -> Future[T | _End]:
        """Returns a future of the next item, which may be done already; called by the consumer."""
        future: Future[T | _End] = _uncancellable()
        item: T | _End = _END
        with self._lock:
            was_full = len(self._items) >= self._capacity
            if self._items:
                item = self._items.popleft()
            elif not self._ended:
                self._reader = future
                return future
        if was_full:
            self._owner.call_soon(self._room.set)
        if item is _END:
            self._finish(future)
        else:
            future.set_result(item)
        return future

    def _finish(self, future: Future[T | _End]) -> None:
        if self._error is None:
            future.set_result(_END)
        else:
            future.set_exception(self._error)


class LoopThread:
    """One daemon thread that runs one event loop.

    Args:
        name: The thread's name, as debuggers show it.
    """

    def __init__(self, name: str) -> None:
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._lock = threading.Lock()
        self._closing = False
        self._last: Callable[[], object] = lambda: None
        self._stop_asked = asyncio.Event()
        self._calls: set[LoopCall[Any]] = set()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._thread.start()

    @property
    def closing(self) -> bool:
        """The loop takes no more work."""
        return self._closing

    @property
    def is_current(self) -> bool:
        """The caller runs on this very thread, where waiting for the loop would never end."""
        return threading.current_thread() is self._thread

    def call_soon(self, callback: Callable[[], object]) -> None:
        """Runs ``callback`` on the loop; does nothing once the loop has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback)

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> LoopCall[T]:
        """Starts a coroutine on the loop.

        Raises:
            LoopClosedError: The loop takes no more work.
        """
        call = LoopCall(self, coroutine)
        with self._lock:
            if not self._closing:
                self._loop.call_soon_threadsafe(self._begin, call)
                return call
        coroutine.close()
        raise LoopClosedError

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the loop and blocks until it has ended."""
        call = self.submit(coroutine)
        try:
            return call.future.result()
        finally:
            self._leave(call)

    async def arun(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the loop and waits on the caller's own loop until it has ended."""
        call = self.submit(coroutine)
        try:
            return await asyncio.shield(asyncio.wrap_future(call.future))
        finally:
            await self._aleave(call)

    def iterate(self, items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """Yields, blocking, what an asynchronous generator yields on the loop."""
        channel, call = self._pump(items)
        try:
            while (item := channel.receive().result()) is not _END:
                yield cast(T, item)
        finally:
            self._leave(call)

    async def aiterate(self, items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """Yields on the caller's own loop what an asynchronous generator yields on this one."""
        channel, call = self._pump(items)
        try:
            while True:
                ready = channel.receive()
                item = ready.result() if ready.done() else await asyncio.wrap_future(ready)
                if item is _END:
                    return
                yield cast(T, item)
        finally:
            await self._aleave(call)

    def stop(self, last: Callable[[], object], *, wait: bool = True) -> None:
        """Cancels all work, runs ``last`` on the loop and ends the thread. Safe to call twice.

        Args:
            last: Called on the loop when all work has ended.
            wait: Return when the thread has ended.
        """
        with self._lock:
            first, self._closing = not self._closing, True
        if first:
            self._last = last
            self._loop.call_soon_threadsafe(self._stop_asked.set)
        if wait and not self.is_current:
            self._thread.join()

    def _begin(self, call: LoopCall[Any]) -> None:
        self._calls.add(call)
        call.ended.add_done_callback(lambda _: self._calls.discard(call))
        call.begin()

    def _pump(self, items: AsyncGenerator[T, None]) -> tuple[Channel[T], LoopCall[None]]:
        channel: Channel[T] = Channel(self)

        async def pump() -> None:
            async with aclosing(items):
                async for item in items:
                    await channel.send(item)

        call = self.submit(pump())
        call.future.add_done_callback(lambda future: channel.end(future.exception()))
        return channel, call

    def _leave(self, call: LoopCall[Any]) -> None:
        if not _cancelled(call):
            return
        # A forgotten iterator is closed by the garbage collector, on any thread and while any lock is
        # held: on this thread the wait would never end, elsewhere it must not be endless.
        if not self.is_current:
            with suppress(TimeoutError):
                call.ended.result(_CLEANUP_SECONDS)

    async def _aleave(self, call: LoopCall[Any]) -> None:
        if _cancelled(call):
            await asyncio.shield(asyncio.wrap_future(call.ended))

    async def _serve(self) -> None:
        await self._stop_asked.wait()
        calls = list(self._calls)
        for call in calls:
            call.cancel()
        if calls:
            await asyncio.wait([asyncio.wrap_future(call.ended) for call in calls])
        self._last()

    def _main(self) -> None:
        with self._runner:
            self._runner.run(self._serve())


def _cancelled(call: LoopCall[Any]) -> bool:
    """Cancels a call; tells whether its cleanup is worth waiting for.

    A call that has not begun has nothing to clean up, and its turn may be far off: a loop that loads a
    model does nothing else.
    """
    if call.future.done():
        return False
    call.cancel()
    return call.begun


def _uncancellable() -> Future[T]:
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()
    return future
