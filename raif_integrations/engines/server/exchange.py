"""One HTTP exchange, and the two ways to carry it out: blocking and awaiting.

What the engine does between exchanges (choosing the model, retrying, reading the reply, explaining
a failure) is written once, as generators that yield a :class:`Call` and get its response. The two
``run`` functions carry such steps out; they are the only place where sync and async differ.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import openai

from raif_integrations.engines.server.http import (
    Call,
    HttpClient,
    HttpRequest,
    HttpResponse,
    http_errors,
    http_library,
)
from raif_integrations.engines.server.repeats import Repeats

T = TypeVar("T")
SdkT = TypeVar("SdkT", openai.OpenAI, openai.AsyncOpenAI)

_CONNECT_SECONDS = 5.0
_FAILURES = (openai.OpenAIError, TypeError, UnicodeError)


@dataclass(frozen=True, slots=True)
class Client(Generic[SdkT]):
    """What a call is made with.

    Attributes:
        sdk: The SDK's client.
        http: The HTTP client below it.
        repeats: How earlier calls were sent.
    """

    sdk: SdkT
    http: HttpClient
    repeats: Repeats


@dataclass(frozen=True, slots=True)
class Pause:
    """Time to let pass, in seconds."""

    seconds: float


Steps: TypeAlias = Generator[Call | Pause, Any, T]
"""Yields calls and pauses, is sent each call's :class:`HttpResponse`, returns the result."""


def run(steps: Steps[T], client: Client[openai.OpenAI]) -> T:
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


async def arun(steps: Steps[T], client: Client[openai.AsyncOpenAI]) -> T:
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


def _send(client: Client[openai.OpenAI], step: Call | Pause) -> Any:
    if isinstance(step, Pause):
        return time.sleep(step.seconds)
    request = client.repeats.request(step, client.http)
    if request is None:
        return client.repeats.remember(step, _by_sdk(client.sdk, step))
    with _failing_as_sdk(request):
        response = client.http.send(request, stream=step.stream)
        if not response.is_success:
            response.read()
    return _checked(response)


async def _asend(client: Client[openai.AsyncOpenAI], step: Call | Pause) -> Any:
    if isinstance(step, Pause):
        return await asyncio.sleep(step.seconds)
    request = client.repeats.request(step, client.http)
    if request is None:
        return client.repeats.remember(step, await _by_sdk(client.sdk, step))
    with _failing_as_sdk(request):
        response = await client.http.send(request, stream=step.stream)
        if not response.is_success:
            await response.aread()
    return _checked(response)


def _by_sdk(sdk: Any, call: Call) -> Any:
    """The SDK's own way to make a call: a response, or what an awaiting client awaits."""
    timeout = openai.Timeout(call.timeout, connect=min(call.timeout, _CONNECT_SECONDS))
    arguments = {"cast_to": _RESPONSE, "stream": call.stream, "options": {"timeout": timeout}}
    return (
        sdk.get(call.url, **arguments)
        if call.method == "GET"
        else sdk.post(call.url, body=call.body, **arguments)
    )


@contextmanager
def _failing_as_sdk(request: HttpRequest) -> Iterator[None]:
    """What the HTTP library raises, as the SDK's exception."""
    try:
        yield
    except http_errors() as error:
        raise openai.APIConnectionError(request=request) from error


def _checked(response: HttpResponse) -> HttpResponse:
    """A response of success; any other as the SDK's exception."""
    if response.is_success:
        return response
    raise openai.APIStatusError(f"Error code: {response.status_code}", response=response, body=None)  # type: ignore[arg-type]


# With this type the SDK hands out the bare response: its documented way around its response models.
_RESPONSE: Any = http_library().Response
