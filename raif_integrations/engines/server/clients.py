"""The SDK's clients: one for threads, one for each event loop, made when they are first needed."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import openai

from raif_integrations.engines.server.exchange import Client
from raif_integrations.engines.server.http import AsyncHttpClient, HttpClient, http_library
from raif_integrations.engines.server.repeats import Repeats
from raif_integrations.errors import ConfigurationError, EngineClosedError

T = TypeVar("T")

_STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What every client of an engine is made with.

    Attributes:
        base_url: Base URL of the API.
        api_key: Returns the key, asked before every request; never shown.
        default_headers: Sent with every request; an ``Authorization`` here replaces the key.
        default_query: Query parameters of every request.
        http_client: The caller's own blocking HTTP client.
        async_http_client: The caller's own async HTTP client, or a function that makes one for each
            event loop.
    """

    base_url: str
    api_key: Callable[[], str] = field(repr=False)
    default_headers: Mapping[str, str] | None = field(default=None, repr=False)
    default_query: Mapping[str, object] | None = field(default=None, repr=False)
    http_client: HttpClient | None = None
    async_http_client: AsyncHttpClient | Callable[[], AsyncHttpClient] | None = None


class Clients:
    """Makes, shares and closes the clients of one engine.

    An HTTP connection belongs to the process that opened it and, when it is awaited, to the event loop
    it was opened in. So a forked process starts without clients, and every event loop has its own,
    which is closed when the loop ends.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self.closed = False
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._sync: Client[openai.OpenAI] | None = None
        self._blocking_calls = 0
        self._loop_clients: dict[asyncio.AbstractEventLoop, _LoopClient] = {}
        self._background: BackgroundLoop | None = None

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Holds the lock of clients that are open and of this process."""
        if self._process != os.getpid():
            self._lock = threading.Lock()
            self._forget()
        with self._lock:
            if self.closed:
                raise EngineClosedError("The engine is closed.", hint="Make a new ServerEngine.")
            yield

    @contextmanager
    def blocking(self) -> Iterator[Client[openai.OpenAI]]:
        """The client for a blocking call, shared by all threads.

        A thread that waits for bytes cannot be woken by closing its connection, so :meth:`close` leaves
        that to the last call under way.

        Raises:
            EngineClosedError: The engine is closed.
        """
        with self._open():
            client = self._sync = self._sync or self._new_sync()
            self._blocking_calls += 1
        try:
            yield client
        finally:
            with self._lock:
                self._blocking_calls -= 1
                last = self.closed and self._blocking_calls == 0
            if last:
                self._close_sync(client)

    async def current(self) -> Client[openai.AsyncOpenAI]:
        """The client of the running event loop.

        Raises:
            EngineClosedError: The engine is closed.
            ConfigurationError: The caller's async HTTP client is in use in another event loop.
        """
        loop = asyncio.get_running_loop()
        held = self._loop_clients.get(loop)
        if held is None or self.closed or self._process != os.getpid():
            with self._open():
                held = self._new_loop_client(loop)
            await held.hold()
        return held.client

    def in_background(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs async work for a blocking caller, on an event loop that the engine's threads share.

        Raises:
            EngineClosedError: The engine is closed, before or meanwhile.
            ConfigurationError: The caller gave HTTP clients that cannot be used there.
        """
        try:
            self._check_background()
            with self._open():
                if self._background is None:
                    self._background = BackgroundLoop()
                    weakref.finalize(self, self._background.stop)
                background = self._background
        except BaseException:
            work.close()
            raise
        try:
            return background.run(work)
        except CancelledError:
            if self.closed:
                raise EngineClosedError("The engine was closed while it generated.") from None
            raise

    def close(self) -> None:
        """Closes every client. The caller's own HTTP clients stay open. Safe to call twice."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            sync = self._sync if self._blocking_calls == 0 else None
        if self._process != os.getpid():
            return
        if self._background is not None:
            self._background.stop()
        for loop, held in list(self._loop_clients.items()):
            if loop.is_running():  # A loop that rests closes its client when it ends.
                asyncio.run_coroutine_threadsafe(held.end(), loop)
        if sync is not None:
            self._close_sync(sync)

    def _close_sync(self, client: Client[openai.OpenAI]) -> None:
        if self._settings.http_client is None:
            client.sdk.close()

    def _new_sync(self) -> Client[openai.OpenAI]:
        own = self._settings.http_client
        http = openai.DefaultHttpxClient(verify=_tls()) if own is None else own
        sdk = openai.OpenAI(**self._arguments(), api_key=self._settings.api_key, http_client=http)
        _detach_from_openai_account(sdk)
        if own is None:
            weakref.finalize(self, sdk.close)
        return Client(sdk, http, self._repeats())

    def _repeats(self) -> Repeats:
        return Repeats(self._settings.api_key, self._settings.default_headers)

    def _check_background(self) -> None:
        given = self._settings
        if given.async_http_client is None and given.http_client is not None:
            raise ConfigurationError(
                "Several requests at once are sent by an async client, but only http_client is given.",
                hint="Give async_http_client too: a function that makes an async client.",
            )
        if given.async_http_client is not None and not _is_factory(given.async_http_client):
            raise ConfigurationError(
                "Several blocking requests at once need an async client of their own.",
                hint="Give a function that makes a client, as async_http_client=httpx2.AsyncClient.",
            )

    def _new_loop_client(self, loop: asyncio.AbstractEventLoop) -> _LoopClient:
        own = self._settings.async_http_client
        borrowed = own is not None and not _is_factory(own)
        self._loop_clients = {
            other: held for other, held in self._loop_clients.items() if not other.is_closed()
        }
        if self._loop_clients and borrowed:
            raise ConfigurationError(
                "async_http_client is in use in another event loop.",
                hint="Give a function that makes a client, as async_http_client=httpx2.AsyncClient.",
            )
        held = self._loop_clients[loop] = _LoopClient(self._new_async(), owned=not borrowed)
        return held

    def _new_async(self) -> Client[openai.AsyncOpenAI]:
        own: Any = self._settings.async_http_client
        if own is None:
            http: AsyncHttpClient = openai.DefaultAsyncHttpxClient(verify=_tls())
        else:
            http = own() if _is_factory(own) else own
        read_key = self._settings.api_key

        async def api_key() -> str:
            return read_key()

        sdk = openai.AsyncOpenAI(**self._arguments(), api_key=api_key, http_client=http)
        _detach_from_openai_account(sdk)
        return Client(sdk, http, self._repeats())

    def _arguments(self) -> dict[str, Any]:
        return {
            "base_url": self._settings.base_url,
            "max_retries": 0,
            "default_headers": self._settings.default_headers,
            "default_query": self._settings.default_query,
        }


class _LoopClient:
    """A client and the event loop it lives in.

    Asyncio closes the async generators of a loop that ends, while it can still await
    (``loop.shutdown_asyncgens``, called by ``asyncio.run``). A generator that closes the client
    therefore closes its connections in time, without the caller having to.
    """

    def __init__(self, client: Client[openai.AsyncOpenAI], *, owned: bool) -> None:
        self.client = client
        self._owned = owned
        self._keeper = self._keep()

    async def hold(self) -> None:
        await anext(self._keeper)

    async def end(self) -> None:
        await self._keeper.aclose()

    async def _keep(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            if self._owned:
                await self.client.sdk.close()


class BackgroundLoop:
    """An event loop on a daemon thread of its own."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._thread = threading.Thread(
            target=asyncio.run, args=(self._main(),), name="raif-server-engine", daemon=True
        )
        self._thread.start()
        self._ready.wait()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs ``work`` and waits for it; an interrupted wait cancels it.

        Raises:
            concurrent.futures.CancelledError: The loop was stopped.
        """
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise CancelledError from None
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """Cancels what runs and ends the thread. Safe to call twice."""
        with contextlib.suppress(RuntimeError):  # The loop has ended already.
            self._loop.call_soon_threadsafe(self._stop.set)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=_STOP_SECONDS)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._ready.set()
        await self._stop.wait()


@functools.cache
def _tls() -> Any:
    """The HTTP library's TLS settings, read once: reading the certificates takes 60 ms a client."""
    return http_library().create_ssl_context()


def _is_factory(client: Any) -> bool:
    return callable(client)


def _detach_from_openai_account(client: openai.OpenAI | openai.AsyncOpenAI) -> None:
    # The SDK fills these from the environment and would send them to a server that is not OpenAI's.
    client.organization = None
    client.project = None
