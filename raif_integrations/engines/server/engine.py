"""The engine for models behind a vLLM OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pydantic import SecretStr

from raif_integrations.engines.base import Completion, Delta, Engine, Message, ModelInfo, Request
from raif_integrations.engines.server.address import ServerAddress
from raif_integrations.engines.server.clients import Clients, ClientSettings
from raif_integrations.engines.server.detection import ServerDescription
from raif_integrations.engines.server.exchange import Steps, T, arun, run
from raif_integrations.engines.server.http import AsyncHttpClient, HttpClient, http_errors
from raif_integrations.engines.server.retries import RetryPolicy
from raif_integrations.engines.server.steps import ServerSteps
from raif_integrations.errors import ConfigurationError, EngineClosedError

ApiKey = SecretStr | str | Callable[[], str]
"""A key, or a function that returns the current one and is asked before every request."""

DEFAULT_TIMEOUT = 600.0
"""Seconds, as in the SDK."""

_NO_KEY = "EMPTY"
_CLOSED_MEANWHILE = "The engine was closed while it generated."


class ServerEngine(Engine):
    """Generates with a vLLM server, of any version from 0.12 on, whatever plugins it runs.

    The requests are chat completions with ``structured_outputs`` for constraints; only a request with
    ``server_decoding`` carries ``tools`` or ``response_format``. Connections are made by the ``openai``
    SDK and shared by all threads and, each its own, all event loops.

    Args:
        base_url: Address of the server, ``http://host:8000`` or ``http://host:8000/v1``.
        api_key: The server's ``--api-key``. Without it the environment variable ``VLLM_API_KEY``, which
            vLLM's server reads too, is used. ``OPENAI_API_KEY`` is not: that key is OpenAI's, and no
            business of a server that is not.
        model: Name of the model or adapter for requests that name none. Without it the server is asked,
            once, for its only base model.
        timeout: Longest silence in seconds: the wait for a reply that is not streamed, or for the next
            piece of one that is. ``None`` is 600. A request's own ``timeout`` limits its whole
            generation instead.
        max_retries: How often a call is made again after a lost connection, HTTP 429 or a failure of the
            server (5xx). A call that timed out and a stream that has begun are not made again.
        max_concurrency: How many of the requests given to :meth:`generate_many` are under way at once.
        default_headers: Sent with every request; an ``Authorization`` here replaces the key.
        default_query: Query parameters of every request.
        http_client: An HTTP client of the kind the installed ``openai`` SDK takes, for proxies,
            certificates and the like. It is not closed with the engine.
        async_http_client: A function that makes the same for async use, called once for each event loop
            and closed with it; or a client, for use in one event loop only, which is not closed.

    Raises:
        ConfigurationError: An argument is out of its range.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: ApiKey | None = None,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int = 2,
        max_concurrency: int = 256,
        default_headers: Mapping[str, str] | None = None,
        default_query: Mapping[str, object] | None = None,
        http_client: HttpClient | None = None,
        async_http_client: AsyncHttpClient | Callable[[], AsyncHttpClient] | None = None,
    ) -> None:
        if timeout is None:
            timeout = DEFAULT_TIMEOUT
        if timeout <= 0:
            raise ConfigurationError(f"timeout is {timeout}, but must be above 0 seconds.")
        if max_retries < 0:
            raise ConfigurationError(f"max_retries is {max_retries}, but must be 0 or more.")
        if max_concurrency < 1:
            raise ConfigurationError(f"max_concurrency is {max_concurrency}, but must be 1 or more.")
        address = ServerAddress.parse(base_url)
        self._base_url = address.api
        self._model = model
        self._max_concurrency = max_concurrency
        self._steps = ServerSteps(
            address, model=model, timeout=timeout, retries=RetryPolicy(max_retries=max_retries)
        )
        self._clients = Clients(
            ClientSettings(
                base_url=address.api,
                api_key=_key_reader(api_key),
                default_headers=default_headers,
                default_query=default_query,
                http_client=http_client,
                async_http_client=async_http_client,
            )
        )

    @property
    def base_url(self) -> str:
        """Base URL of the server's API."""
        return self._base_url

    @property
    def info(self) -> ModelInfo:
        """The served model; asks the server once.

        Raises:
            ConfigurationError: No model is given and the server does not have exactly one.
            EngineError: The server cannot be asked.
        """
        return self._run(self._steps.describe())

    def describe(self, *, probe: bool = True) -> ServerDescription:
        """What kind of server it is: version, models, adapters, and whether a plugin decodes RAIF on it.

        Args:
            probe: Generate a few tokens, once, to see whether the server decodes.

        Raises:
            EngineConnectionError: Nothing answers.
            AuthenticationError: The key is refused.
        """
        return self._run(self._steps.describe_server(probe=probe))

    async def adescribe(self, *, probe: bool = True) -> ServerDescription:
        """:meth:`describe` without blocking the event loop."""
        return await self._arun(self._steps.describe_server(probe=probe))

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._clients.closed

    def generate(self, request: Request) -> Completion:
        """Generates one reply."""
        return self._run(self._steps.generate(request))

    async def agenerate(self, request: Request) -> Completion:
        """Generates one reply without blocking the event loop. Cancelling the task aborts it."""
        return await self._arun(self._steps.generate(request))

    def generate_many(self, requests: Sequence[Request]) -> list[Completion]:
        """Generates replies side by side, in the order of ``requests``.

        They run on an event loop in the background rather than on threads, because only an awaited
        call can be cut short: when one fails, the connections of the others are closed and the server
        aborts them.

        Raises:
            EngineError: The first failure.
            ConfigurationError: The HTTP clients given to the engine cannot be used for it.
        """
        return self._clients.in_background(self.agenerate_many(requests)) if requests else []

    async def agenerate_many(self, requests: Sequence[Request]) -> list[Completion]:
        """Generates replies side by side, in the order of ``requests``.

        Raises:
            EngineError: The first failure; the other requests are aborted.
        """
        if any(request.model is None for request in requests):
            await self._arun(self._steps.default_model())  # Asked once here, not once by each.
        slots = asyncio.Semaphore(self._max_concurrency)

        async def generate(request: Request) -> Completion:
            async with slots:
                return await self.agenerate(request)

        tasks = [asyncio.ensure_future(generate(request)) for request in requests]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """Generates one reply piece by piece; the request is sent when the first piece is asked for.

        Closing the iterator closes the response, and the server aborts the request.
        """
        with self._clients.blocking() as client, self._closed_is_told():
            opened = run(self._steps.open_stream(request), client)
            if isinstance(opened, Completion):
                yield opened.as_delta()
                return
            try:
                for block in opened.response.iter_bytes():
                    self._check_open()
                    yield from opened.read(block)
                yield from opened.end()
            except http_errors() as error:
                opened.broken(error)
            finally:
                opened.response.close()

    async def astream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Generates one reply piece by piece without blocking the event loop; see :meth:`stream`."""
        opened = await self._arun(self._steps.open_stream(request))
        if isinstance(opened, Completion):
            yield opened.as_delta()
            return
        with self._closed_is_told():
            try:
                async for block in opened.response.aiter_bytes():
                    for delta in opened.read(block):
                        yield delta
                for delta in opened.end():
                    yield delta
            except http_errors() as error:
                opened.broken(error)
            finally:
                await opened.response.aclose()

    def count_tokens(self, messages: Sequence[Message] | str) -> int:
        """Counts the tokens of a rendered prompt (messages) or of a bare text (string).

        The server counts (``/tokenize``), with its own tokenizer and chat template. There is no
        estimate in its place: a wrong count would let a prompt outgrow the context unnoticed.

        Raises:
            RequestError: The server or a gateway before it does not offer ``/tokenize``.
        """
        return self._run(self._steps.count_tokens(messages))

    def close(self) -> None:
        """Closes all connections. Safe to call twice.

        Awaited calls under way fail with ``EngineClosedError``, and so do streams in other threads at
        their next piece. A thread that waits for a whole reply still gets it.
        """
        self._clients.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._base_url!r}, model={self._model!r})"

    def _run(self, steps: Steps[T]) -> T:
        with self._clients.blocking() as client, self._closed_is_told():
            return run(steps, client)

    async def _arun(self, steps: Steps[T]) -> T:
        client = await self._clients.current()
        with self._closed_is_told():
            return await arun(steps, client)

    @contextmanager
    def _closed_is_told(self) -> Iterator[None]:
        """A call that fails because the engine was closed meanwhile says so, whatever broke first."""
        try:
            yield
        except Exception as error:
            if self.closed and not isinstance(error, EngineClosedError):
                raise EngineClosedError(_CLOSED_MEANWHILE) from error
            raise

    def _check_open(self) -> None:
        if self.closed:
            raise EngineClosedError(_CLOSED_MEANWHILE)


def _key_reader(api_key: ApiKey | None) -> Callable[[], str]:
    """A function that returns the key to send, checked so that no HTTP library prints it in an error."""
    if api_key is None:
        api_key = os.environ.get("VLLM_API_KEY") or _NO_KEY
    if isinstance(api_key, SecretStr):
        api_key = api_key.get_secret_value()
    if callable(api_key):
        read = api_key
        return lambda: _checked_key(read())
    key = _checked_key(api_key)
    return lambda: key


def _checked_key(key: str) -> str:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            "api_key is empty or holds a space, a line end or a character that no HTTP header can carry.",
            hint="Check for a line end copied along with it.",
        )
    return key
