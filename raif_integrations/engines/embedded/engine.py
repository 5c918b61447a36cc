"""The embedded engine: vLLM in this process, usable from any thread and any event loop."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from copy import copy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from raif_integrations.engines.base import Completion, Delta, Engine, Message, ModelInfo, Request
from raif_integrations.engines.embedded.loop import LoopClosedError, LoopThread
from raif_integrations.engines.embedded.settings import EmbeddedSettings
from raif_integrations.engines.embedded.spawn import check_process
from raif_integrations.engines.speculation import DEFAULT_SPECULATION, Speculation
from raif_integrations.errors import ConfigurationError, EngineClosedError, EngineError

if TYPE_CHECKING:
    from raif_integrations.engines.embedded.loaded import LoadedEngine

T = TypeVar("T")

Work: TypeAlias = "Callable[[LoadedEngine], Coroutine[Any, Any, T]]"
"""What is done with the engine, on its loop."""


class EmbeddedEngine(Engine):
    """Generates with vLLM's ``AsyncLLM`` on a thread and an event loop of its own.

    Making the object is cheap; vLLM loads the model on the first request, or in :meth:`start`. The
    engine ends with :meth:`close`, at the end of a ``with`` block, or when the interpreter exits. If
    vLLM's process dies, the requests under way fail with
    :class:`~raif_integrations.errors.EngineDiedError` and the next request starts it again.

    On machines without a GPU (and wherever vLLM has to use the ``spawn`` method) the script that uses
    the engine needs an ``if __name__ == "__main__":`` guard.

    Args:
        model: Directory or hub id of the model.
        adapters: LoRA adapters by name, or a list of them, named after the last part of their path.
            Requests name one as :attr:`~raif_integrations.engines.base.Request.model`.
        tokenizer: Directory or hub id of the tokenizer, if it is not the model's.
        chat_template: Text or path of a chat template, if it is not the tokenizer's.
        timeout: Seconds until a request is given up; loading the model does not count.
        engine_args: Further arguments of vLLM's ``AsyncEngineArgs``, by name (``dtype``,
            ``max_model_len``, ``tensor_parallel_size`` …). They win over the defaults set here:
            the ``xgrammar`` backend with JSON on one line, and without a GPU eager execution and a
            2 GiB cache with the longest context that fits into it.
        speculation: Whether vLLM drafts what the schema and the prompt decide and verifies it, so that
            replies come sooner and stay the same (:mod:`raif_integrations.engines.speculation`). ``auto``
            drafts without a GPU where vLLM can, unless ``engine_args`` has a ``speculative_config`` of its
            own; ``on`` drafts on a GPU too and makes it an error where vLLM cannot.

    Raises:
        ConfigurationError: An argument cannot work; the message names it.
    """

    _shared: ClassVar[dict[str, EmbeddedEngine]] = {}
    _shared_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        adapters: Mapping[str, str | Path] | Sequence[str | Path] = (),
        tokenizer: str | Path | None = None,
        chat_template: str | Path | None = None,
        timeout: float | None = None,
        engine_args: Mapping[str, Any] | None = None,
        speculation: Speculation = DEFAULT_SPECULATION,
    ) -> None:
        self._settings = EmbeddedSettings.parse(
            model,
            adapters=adapters,
            tokenizer=tokenizer,
            chat_template=chat_template,
            timeout=timeout,
            engine_args=engine_args,
            speculation=speculation,
        )
        self._lock = threading.Lock()
        self._closed = False
        self._running: _Running | None = None

    @classmethod
    def shared(cls, model: str | Path | None = None, **arguments: Any) -> EmbeddedEngine:
        """Returns the open engine with these arguments, or makes one.

        Whoever closes a shared engine closes it for all; the next call makes a new one.

        Args:
            model: As for the class.
            **arguments: As for the class.

        Raises:
            ConfigurationError: An argument cannot work; the message names it.
        """
        engine = cls(model, **arguments)
        with cls._shared_lock:
            found = cls._shared.setdefault(engine._settings.key, engine)
            if found.closed:
                found = cls._shared[engine._settings.key] = engine
        return found

    @property
    def closed(self) -> bool:
        """The engine was closed, or belongs to the process this one was forked from."""
        running = self._running
        return self._closed or (running is not None and running.process != os.getpid())

    @property
    def info(self) -> ModelInfo:
        """The model; starts the engine."""
        return self._run(_info)

    @property
    def unfinished_requests(self) -> int:
        """Requests vLLM is still working on; 0 for an engine that does not run."""
        running = self._running
        engine = None if running is None else running.loaded_so_far()
        return 0 if engine is None else engine.unfinished_requests

    def start(self) -> None:
        """Loads the model now; returns when it is loaded, at once if it is loaded already.

        Raises:
            ConfigurationError: The arguments contradict the adapters, this vLLM, or each other.
            EngineError: vLLM could not start.
            ImportError: vLLM is not installed.
        """
        self._run(_info)

    def generate(self, request: Request) -> Completion:
        """Generates one reply."""
        return self._run(lambda engine: engine.complete(request))

    async def agenerate(self, request: Request) -> Completion:
        """Generates one reply without blocking the event loop."""
        return await self._arun(lambda engine: engine.complete(request))

    def generate_many(self, requests: Sequence[Request]) -> list[Completion]:
        """Generates replies side by side, in the order of ``requests``.

        Raises:
            EngineError: The first failure; the other requests are aborted.
        """
        return self._run(lambda engine: engine.complete_all(requests)) if requests else []

    async def agenerate_many(self, requests: Sequence[Request]) -> list[Completion]:
        """Generates replies side by side without blocking the event loop."""
        return await self._arun(lambda engine: engine.complete_all(requests)) if requests else []

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """Generates one reply piece by piece. Closing the iterator aborts the request."""
        with self._work(blocking=True) as running:
            yield from running.thread.iterate(running.deltas(request))

    async def astream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Generates one reply piece by piece without blocking the event loop."""
        with self._work() as running:
            async with aclosing(running.thread.aiterate(running.deltas(request))) as deltas:
                async for delta in deltas:
                    yield delta

    def count_tokens(self, messages: Sequence[Message] | str) -> int:
        """Counts the tokens of a rendered prompt (messages) or of a bare text (string)."""
        return self._run(lambda engine: engine.count_tokens(messages))

    def close(self) -> None:
        """Ends the engine, in a few seconds. Requests under way raise :class:`EngineClosedError`."""
        with self._lock:
            self._closed = True
            running = self._running
        _open.discard(self)
        if running is not None and running.process == os.getpid():
            running.end()

    def _run(self, work: Work[T]) -> T:
        with self._work(blocking=True) as running:
            return running.thread.run(running.do(work))

    async def _arun(self, work: Work[T]) -> T:
        with self._work() as running:
            return await running.thread.arun(running.do(work))

    @contextmanager
    def _work(self, *, blocking: bool = False) -> Iterator[_Running]:
        """Starts the engine if need be, and explains what happens to work when it is closed."""
        running = self._begin()
        if blocking and running.thread.is_current:
            raise EngineError(
                "A blocking call was made on the engine's own thread, where it would wait for itself.",
                hint="Use the asynchronous methods there.",
            )
        try:
            yield running
        except LoopClosedError:
            raise EngineClosedError("The engine was closed.") from None

    def _begin(self) -> _Running:
        with self._lock:
            if self._closed:
                raise EngineClosedError("The engine was closed.", hint="Make a new one.")
            running = self._running
            if running is not None and running.process != os.getpid():
                raise EngineClosedError(
                    f"The engine runs in process {running.process}, which this process was forked from.",
                    hint="Make an engine after the fork.",
                )
            if running is None or running.dead or running.failed:
                check_process()
                if running is not None:
                    running.end(wait=False)
                self._running = running = _Running(self._settings)
                _open.add(self)
            return running


class _Running:
    """An engine being started or started, and the thread it lives on."""

    def __init__(self, settings: EmbeddedSettings) -> None:
        self.process = os.getpid()
        self.thread = LoopThread("raif-embedded-engine")
        # Loading blocks the loop, so whatever is submitted later runs when it is over.
        self._loading = self.thread.submit(_load(settings))

    @property
    def dead(self) -> bool:
        """The process of vLLM is gone."""
        engine = self.loaded_so_far()
        return engine is not None and engine.dead

    @property
    def failed(self) -> bool:
        """The model could not be loaded, for a reason that may have gone: no network, no room on the GPU."""
        future = self._loading.future
        if not future.done() or future.cancelled():
            return False
        error = future.exception()
        return error is not None and not isinstance(error, ConfigurationError)

    def loaded_so_far(self) -> LoadedEngine | None:
        """The engine, if it has been loaded; may be asked from any thread."""
        future = self._loading.future
        return future.result() if future.done() and future.exception() is None else None

    async def do(self, work: Work[T]) -> T:
        """Does some work on the engine; runs on its loop.

        Raises:
            RaifIntegrationsError: The engine could not be loaded; each caller gets an exception of its own.
        """
        return await work(await self._loaded())

    async def deltas(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Streams a reply; runs on the engine's loop. Raises as :meth:`do`."""
        async with aclosing((await self._loaded()).deltas(request)) as deltas:
            async for delta in deltas:
                yield delta

    def end(self, *, wait: bool = True) -> None:
        """Ends the work, vLLM and the thread."""
        self.thread.stop(self._shut_down, wait=wait)

    def _shut_down(self) -> None:
        engine = self.loaded_so_far()
        if engine is not None:
            engine.shut_down()

    async def _loaded(self) -> LoadedEngine:
        future = self._loading.future
        if not future.done():
            await asyncio.wrap_future(self._loading.ended)
        error = future.exception()
        if error is not None:
            raise copy(error).with_traceback(None) from error.__cause__
        return future.result()


async def _load(settings: EmbeddedSettings) -> LoadedEngine:
    from raif_integrations.engines.embedded.loaded import load

    _close_at_exit()
    return load(settings)


async def _info(engine: LoadedEngine) -> ModelInfo:
    return engine.info


_open: set[EmbeddedEngine] = set()


@cache
def _close_at_exit() -> None:
    """Ends what is still open when the interpreter exits, before vLLM's own exit handlers run.

    Called when vLLM has been imported: the last handler registered runs first.
    """
    atexit.register(_close_all)


def _close_all() -> None:
    for engine in list(_open):
        with suppress(Exception):
            engine.close()
