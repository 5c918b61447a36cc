"""The HTTP library below the SDK, and one call over it."""

from __future__ import annotations

import importlib
import ssl
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Protocol, TypeAlias

import openai

HttpClient: TypeAlias = Any
"""An ``httpx.Client`` (openai 2) or ``httpx2.Client`` (openai 3)."""
AsyncHttpClient: TypeAlias = Any
"""An ``httpx.AsyncClient`` (openai 2) or ``httpx2.AsyncClient`` (openai 3)."""
HttpRequest: TypeAlias = Any
"""An ``httpx.Request`` or ``httpx2.Request``."""


class HttpResponse(Protocol):
    """What httpx's and httpx2's responses have in common, as far as it is used here."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; names in any case."""

    @property
    def is_success(self) -> bool:
        """The status is 2xx."""

    @property
    def request(self) -> HttpRequest:
        """The request that was answered, as it was sent."""

    @property
    def history(self) -> list[Any]:
        """The redirections before it."""

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

    def read(self) -> bytes:
        """The whole body, waited for."""

    async def aread(self) -> bytes:
        """The whole body, awaited."""

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


def http_library() -> ModuleType:
    """The HTTP library the SDK is built on: httpx up to openai 2, httpx2 from openai 3 on."""
    roots = (base.__module__.partition(".")[0] for base in openai.DefaultHttpxClient.__mro__)
    return importlib.import_module(next(root for root in roots if root.startswith("httpx")))


def http_errors() -> tuple[type[Exception], ...]:
    """What reading a response can raise, for every HTTP library a client may be built on."""
    libraries = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    found = [getattr(library, name) for library in libraries for name in ("HTTPError", "StreamError")]
    return (*found, ssl.SSLError, OSError)
