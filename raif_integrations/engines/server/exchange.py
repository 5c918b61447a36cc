"""One HTTP exchange, and the two ways to carry it out: blocking and awaiting.

What the engine does between exchanges (choosing the model, retrying, reading the reply, explaining
a failure) is written once, as generators that yield a :class:`Call` and get its response. The two
``run`` functions carry such steps out; they are the only place where sync and async differ.
"""

from __future__ import annotations

import asyncio
import importlib
import ssl
import sys
import time
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import openai

T = TypeVar("T")

_CONNECT_SECONDS = 5.0
_FAILURES = (openai.OpenAIError, TypeError, UnicodeError)


class HttpResponse(Protocol):
    """What httpx's and httpx2's responses have in common, as far as it is used here."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; names in any case."""

    @property
    def content(self) -> bytes:
        """The whole body."""

    @property
    def text(self) -> str:
        """The whole body as text."""

    def iter_bytes(self) -> Iterator[bytes]:
        """The body as it arrives."""

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it arrives, awaited."""

    def close(self) -> None:
        """Ends the exchange, closing the connection if the body is not read to its end."""

    async def aclose(self) -> None:
        """Does the same for an async client."""


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP exchange.

    Attributes:
        method: The HTTP method.
        url: The whole URL.
        timeout: Longest silence of the server in seconds.
        body: Sent as JSON.
        stream: Return as soon as the headers are there; the caller closes the response.
    """

    method: Literal["GET", "POST"]
    url: str
    timeout: float
    body: dict[str, Any] | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """Time to let pass, in seconds."""

    seconds: float


Steps: TypeAlias = Generator[Call | Pause, Any, T]
"""Yields calls and pauses, is sent each call's :class:`HttpResponse`, returns the result."""


def run(steps: Steps[T], client: openai.OpenAI) -> T:
    """Carries steps out, blocking.

    A failed call is thrown into the steps as the SDK's exception, and so is what the SDK raises for a
    body that is no JSON (``TypeError``, ``UnicodeError``).
    """
    try:
        step = next(steps)
        while True:
            try:
                answer = _send(client, step)
            except _FAILURES as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


async def arun(steps: Steps[T], client: openai.AsyncOpenAI) -> T:
    """Carries steps out, awaiting. Otherwise as :func:`run`."""
    try:
        step = next(steps)
        while True:
            try:
                answer = await _asend(client, step)
            except _FAILURES as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


def _send(client: openai.OpenAI, step: Call | Pause) -> Any:
    if isinstance(step, Pause):
        return time.sleep(step.seconds)
    if step.method == "GET":
        return client.get(step.url, **_arguments(step))
    return client.post(step.url, body=step.body, **_arguments(step))


async def _asend(client: openai.AsyncOpenAI, step: Call | Pause) -> Any:
    if isinstance(step, Pause):
        return await asyncio.sleep(step.seconds)
    if step.method == "GET":
        return await client.get(step.url, **_arguments(step))
    return await client.post(step.url, body=step.body, **_arguments(step))


def _arguments(call: Call) -> dict[str, Any]:
    timeout = openai.Timeout(call.timeout, connect=min(call.timeout, _CONNECT_SECONDS))
    return {"cast_to": _RESPONSE, "stream": call.stream, "options": {"timeout": timeout}}


def http_library() -> ModuleType:
    """The HTTP library the SDK is built on: httpx up to openai 2, httpx2 from openai 3 on."""
    roots = (base.__module__.partition(".")[0] for base in openai.DefaultHttpxClient.__mro__)
    return importlib.import_module(next(root for root in roots if root.startswith("httpx")))


# With this type the SDK hands out the bare response: its documented way around its response models.
_RESPONSE: Any = http_library().Response


def http_errors() -> tuple[type[Exception], ...]:
    """What reading a response can raise, for every HTTP library a client may be built on."""
    libraries = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    found = [getattr(library, name) for library in libraries for name in ("HTTPError", "StreamError")]
    return (*found, ssl.SSLError, OSError)
