"""The bridges between the engine's loop and everybody else, without an engine."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing

import pytest

from raif_integrations.engines.embedded.loop import BUFFERED_ITEMS, LoopClosedError, LoopThread

PATIENCE = 10.0


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread("test-loop")
    yield thread
    thread.stop(lambda: None)


class Source:
    """Counts upwards for ever, or to ``end``; knows whether it was cleaned up."""

    def __init__(self, end: int | None = None) -> None:
        self.end = end
        self.made = 0
        self.cleaned = threading.Event()

    async def items(self) -> AsyncGenerator[int, None]:
        try:
            while self.end is None or self.made < self.end:
                self.made += 1
                yield self.made
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)
            self.cleaned.set()


async def _thread_name() -> str:
    return threading.current_thread().name


async def _fail() -> None:
    raise LookupError("lost")


async def _forever(begun: threading.Event, cleaned: threading.Event) -> None:
    try:
        begun.set()
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        cleaned.set()


def test_work_runs_on_the_loops_own_thread(loop: LoopThread) -> None:
    assert loop.run(_thread_name()) == "test-loop"
    assert not loop.is_current


async def test_work_awaited_from_another_loop_runs_on_the_loops_own_thread(loop: LoopThread) -> None:
    assert await loop.arun(_thread_name()) == "test-loop"


async def test_errors_reach_every_kind_of_caller(loop: LoopThread) -> None:
    with pytest.raises(LookupError):
        loop.run(_fail())
    with pytest.raises(LookupError):
        await loop.arun(_fail())


async def test_blocking_calls_from_a_running_loop_do_not_deadlock(loop: LoopThread) -> None:
    assert loop.run(asyncio.sleep(0, "done")) == "done"
    assert list(loop.iterate(Source(3).items())) == [1, 2, 3]


async def test_a_cancelled_caller_returns_when_the_cleanup_has_run(loop: LoopThread) -> None:
    begun, cleaned = threading.Event(), threading.Event()
    task = asyncio.create_task(loop.arun(_forever(begun, cleaned)))
    await asyncio.to_thread(begun.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned.is_set()


async def test_work_cancelled_before_its_turn_never_begins(loop: LoopThread) -> None:
    release, begun = threading.Event(), threading.Event()
    loop.call_soon(release.wait)
    task = asyncio.create_task(loop.arun(_forever(begun, threading.Event())))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task  # the loop is still busy: nobody waits for it
    release.set()
    loop.run(asyncio.sleep(0))
    assert not begun.is_set()


@pytest.mark.parametrize("end", [0, 1, BUFFERED_ITEMS, 5 * BUFFERED_ITEMS + 1])
async def test_streams_deliver_everything_in_order(loop: LoopThread, end: int) -> None:
    expected = list(range(1, end + 1))
    assert list(loop.iterate(Source(end).items())) == expected
    assert [item async for item in loop.aiterate(Source(end).items())] == expected


async def test_a_slow_consumer_holds_the_producer_back_but_not_the_loop(loop: LoopThread) -> None:
    source = Source()
    stream = loop.iterate(source.items())
    assert next(stream) == 1
    for _ in range(4 * BUFFERED_ITEMS):
        loop.run(asyncio.sleep(0))
    assert source.made <= BUFFERED_ITEMS + 2
    assert [next(stream) for _ in range(3 * BUFFERED_ITEMS)] == list(range(2, 3 * BUFFERED_ITEMS + 2))
    stream.close()
    assert source.cleaned.is_set()


def test_leaving_a_blocking_stream_cleans_up_first(loop: LoopThread) -> None:
    source = Source()
    for item in loop.iterate(source.items()):
        if item == 3:
            break
    gc.collect()
    assert source.cleaned.wait(PATIENCE)


async def test_leaving_an_asynchronous_stream_cleans_up_first(loop: LoopThread) -> None:
    source = Source()
    async with aclosing(loop.aiterate(source.items())) as stream:
        async for item in stream:
            if item == 3:
                break
    assert source.cleaned.is_set()


async def test_cancelling_the_reader_of_a_stream_cleans_up_first(loop: LoopThread) -> None:
    cleaned = threading.Event()

    async def silent() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    seen: list[int] = []

    async def read() -> None:
        async with aclosing(loop.aiterate(silent())) as stream:
            async for item in stream:
                seen.append(item)  # noqa: PERF401  (watched while it grows)

    task = asyncio.create_task(read())
    while not seen:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned.is_set()


async def test_an_error_ends_a_stream_after_the_items_before_it(loop: LoopThread) -> None:
    async def broken() -> AsyncGenerator[int, None]:
        yield 1
        yield 2
        raise LookupError("lost")

    seen = []
    with pytest.raises(LookupError):
        for item in loop.iterate(broken()):
            seen.append(item)  # noqa: PERF402  (the error comes out of the loop)
    assert seen == [1, 2]
    with pytest.raises(LookupError):
        [item async for item in loop.aiterate(broken())]


def test_many_threads_and_loops_share_it(loop: LoopThread) -> None:
    def blocking(end: int) -> int:
        return sum(loop.iterate(Source(end).items()))

    def asynchronous(end: int) -> int:
        async def total() -> int:
            return sum([item async for item in loop.aiterate(Source(end).items())])

        return asyncio.run(total())

    ends = [50 + 7 * number for number in range(8)]
    with ThreadPoolExecutor(16) as pool:
        futures = [pool.submit(work, end) for end in ends for work in (blocking, asynchronous)]
        assert [future.result(PATIENCE) for future in futures] == [
            end * (end + 1) // 2 for end in ends for _ in range(2)
        ]


def test_stopping_cancels_work_runs_the_last_step_and_refuses_more() -> None:
    loop = LoopThread("ending-loop")
    begun, cleaned = threading.Event(), threading.Event()
    steps: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        call: Future[None] = pool.submit(loop.run, _forever(begun, cleaned))
        stream = pool.submit(list, loop.iterate(Source().items()))
        assert begun.wait(PATIENCE)
        loop.stop(lambda: steps.append(f"last, cleaned={cleaned.is_set()}"))
        for future in (call, stream):
            with pytest.raises(LoopClosedError):
                future.result(PATIENCE)
    assert steps == ["last, cleaned=True"]
    with pytest.raises(LoopClosedError):
        loop.run(asyncio.sleep(0))
    loop.stop(lambda: steps.append("again"))
    assert len(steps) == 1


def test_a_stream_collected_on_the_loops_own_thread_does_not_block_it(loop: LoopThread) -> None:
    source = Source()
    kept = [loop.iterate(source.items())]
    next(kept[0])
    loop.call_soon(kept.clear)
    assert source.cleaned.wait(PATIENCE)
