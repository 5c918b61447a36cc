"""A repeated call is the same on the wire as the first, which the SDK sent, and fails the same way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from raif_integrations.engines.base import Completion, Request
from raif_integrations.engines.server import ServerEngine
from raif_integrations.errors import EngineError, RaifIntegrationsError
from tests.support.stub_server import (
    Answer,
    Disconnect,
    EventStream,
    Received,
    Silence,
    StubServer,
    completion,
    reply_events,
)

HELLO = Request([{"role": "user", "content": "Hello, Zoë"}], model="served")

Outcome = Completion | RaifIntegrationsError


def _blocking(engine: ServerEngine, requests: Sequence[Request], *, streamed: bool) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for request in requests:
        try:
            outcomes.append(_summed(list(engine.stream(request))) if streamed else engine.generate(request))
        except RaifIntegrationsError as error:
            outcomes.append(error)
    return outcomes


def _awaiting(engine: ServerEngine, requests: Sequence[Request], *, streamed: bool) -> list[Outcome]:
    """All calls in one event loop, whose client remembers them."""

    async def everything() -> list[Outcome]:
        outcomes: list[Outcome] = []
        for request in requests:
            try:
                if streamed:
                    outcomes.append(_summed([delta async for delta in engine.astream(request)]))
                else:
                    outcomes.append(await engine.agenerate(request))
            except RaifIntegrationsError as error:
                outcomes.append(error)
        return outcomes

    return asyncio.run(everything())


def _summed(deltas: list[Any]) -> Completion:
    last = deltas[-1]
    return Completion(
        "".join(delta.text for delta in deltas), last.finish_reason, last.usage, last.model, last.request_id
    )


Calls = Callable[..., list[Outcome]]
both = pytest.mark.parametrize("calls", [_blocking, _awaiting], ids=["blocking", "awaiting"])
whole_and_streamed = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture
def stub() -> Iterator[StubServer]:
    def reply(request: Received) -> Answer | EventStream:
        return EventStream(reply_events("Hi")) if request.body.get("stream") else Answer(completion("Hi"))

    with StubServer(chat=reply) as server:
        yield server


@both
@whole_and_streamed
def test_a_repeated_call_is_the_same_on_the_wire(stub: StubServer, calls: Calls, streamed: bool) -> None:
    engine = ServerEngine(
        stub.root,
        api_key="key",
        max_retries=0,
        default_headers={"x-team": "blue"},
        default_query={"api-version": "1"},
    )
    other = replace(HELLO, messages=[{"role": "user", "content": "Something longer than before, 日本"}])
    with engine:
        outcomes = calls(engine, [HELLO, HELLO, other], streamed=streamed)
    assert [outcome.text for outcome in outcomes if isinstance(outcome, Completion)] == ["Hi"] * 3
    first, second, third = stub.chats
    assert second == first
    assert third.body["messages"] == other.messages
    assert third.headers["content-length"] != first.headers["content-length"]
    assert {**third.headers, "content-length": ""} == {**first.headers, "content-length": ""}


@both
def test_streams_and_whole_replies_are_told_apart(stub: StubServer, calls: Calls) -> None:
    with ServerEngine(stub.root) as engine:
        for streamed in (False, True, False, True):
            (outcome,) = calls(engine, [HELLO], streamed=streamed)
            assert isinstance(outcome, Completion)
    assert [bool(chat.body.get("stream")) for chat in stub.chats] == [False, True, False, True]


@both
@whole_and_streamed
@pytest.mark.parametrize(
    "failure",
    [
        Answer({"message": "broken"}, status=500),
        Answer({"error": {"message": "no such thing"}}, status=400),
        Answer("login", status=401),
        Answer({"error": {"message": "slow down"}}, status=429),
        Disconnect(),
    ],
    ids=["500", "400", "401", "429", "disconnect"],
)
def test_a_repeated_call_fails_as_the_first(
    calls: Calls, streamed: bool, failure: Answer | Disconnect
) -> None:
    good = EventStream(reply_events("Hi")) if streamed else Answer(completion("Hi"))
    with (
        StubServer(chat=[failure, good, failure, good]) as stub,
        ServerEngine(stub.root, max_retries=0) as engine,
    ):
        first, hello, again, end = calls(engine, [HELLO] * 4, streamed=streamed)
    assert isinstance(first, EngineError)
    assert type(again) is type(first)
    assert str(again) == str(first)
    assert isinstance(hello, Completion)
    assert isinstance(end, Completion)


@both
def test_a_repeated_call_is_retried(calls: Calls) -> None:
    replies = [Answer(completion("Hi")), Answer({"message": "busy"}, status=503), Answer(completion("Ho"))]
    with StubServer(chat=replies) as stub, ServerEngine(stub.root, max_retries=1) as engine:
        outcomes = calls(engine, [HELLO, HELLO], streamed=False)
    assert [outcome.text for outcome in outcomes if isinstance(outcome, Completion)] == ["Hi", "Ho"]


@both
def test_a_repeated_call_has_its_own_timeout(calls: Calls) -> None:
    with StubServer(chat=[Answer(completion("Hi")), Silence()]) as stub, ServerEngine(stub.root) as engine:
        hello, late = calls(engine, [HELLO, replace(HELLO, timeout=0.2)], streamed=False)
    assert isinstance(hello, Completion)
    assert "did not complete the reply within 0.2 s" in str(late)


@both
def test_cookies_are_kept_and_sent(calls: Calls) -> None:
    with StubServer(
        chat=[Answer(completion("Hi"), headers={"set-cookie": "route=b; path=/"}), Answer(completion("Hi"))]
    ) as stub:
        with ServerEngine(stub.root) as engine:
            calls(engine, [HELLO] * 3, streamed=False)
        assert [chat.headers.get("cookie") for chat in stub.chats] == [None, "route=b", "route=b"]


@both
def test_what_only_the_sdk_can_write_is_left_to_it(stub: StubServer, calls: Calls) -> None:
    when = datetime(2026, 3, 1, tzinfo=UTC)
    dated = replace(HELLO, messages=[{"role": "user", "content": "Hello", "at": when}])
    with ServerEngine(stub.root) as engine:
        calls(engine, [HELLO, dated, dated], streamed=False)
    assert [chat.body["messages"][0].get("at") for chat in stub.chats] == [None, *[when.isoformat()] * 2]


@both
def test_text_that_is_no_unicode_is_refused_the_second_time_too(stub: StubServer, calls: Calls) -> None:
    broken = replace(HELLO, messages=[{"role": "user", "content": "half a pair: \ud83d"}])
    with ServerEngine(stub.root) as engine:
        first, _, again = calls(engine, [broken, HELLO, broken], streamed=False)
    assert isinstance(first, EngineError)
    assert str(again) == str(first)
    assert len(stub.chats) == 1
