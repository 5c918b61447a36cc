"""Keys, headers, and the life of the server engine's connections across threads, loops and processes."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from raif_integrations.engines.base import Engine, Request
from raif_integrations.engines.server import ServerEngine
from raif_integrations.engines.server.http import http_library
from raif_integrations.errors import (
    ConfigurationError,
    EngineClosedError,
    EngineDiedError,
    EngineTimeoutError,
)
from tests.support.engine_calls import BOTH, EngineCalls
from tests.support.stub_server import (
    Answer,
    EventStream,
    Received,
    Silence,
    StubServer,
    chunk,
    completion,
    event,
    reply_events,
)

HELLO = Request([{"role": "user", "content": "Hello"}], model="served")
CHAT = "/v1/chat/completions"

both = pytest.mark.parametrize("calls", BOTH, ids=["blocking", "awaiting"])


@pytest.fixture
def stub() -> Iterator[StubServer]:
    def reply(request: Received) -> Answer | EventStream:
        return EventStream(reply_events("Hi")) if request.body.get("stream") else Answer(completion("Hi"))

    with StubServer(chat=reply) as server:
        yield server


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "secret-of-openai")
    monkeypatch.setenv("OPENAI_ORG_ID", "secret-of-openai")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "secret-of-openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/secret-of-openai")


def sent_by(stub: StubServer, calls: EngineCalls, **arguments: Any) -> Received:
    with ServerEngine(stub.root, **arguments) as engine:
        calls.generate(engine, HELLO)
    return stub.received[-1]


@both
@pytest.mark.parametrize("key", ["abc", SecretStr("abc"), lambda: "abc"], ids=["str", "secret", "function"])
def test_the_key_is_sent(stub: StubServer, calls: EngineCalls, key: Any) -> None:
    assert sent_by(stub, calls, api_key=key).headers["authorization"] == "Bearer abc"


@both
def test_a_function_is_asked_for_the_key_of_every_request(stub: StubServer, calls: EngineCalls) -> None:
    keys = iter(["first", "second"])
    with ServerEngine(stub.root, api_key=lambda: next(keys)) as engine:
        calls.generate(engine, HELLO)
        calls.generate(engine, HELLO)
    assert [request.headers["authorization"] for request in stub.received] == [
        "Bearer first",
        "Bearer second",
    ]


@both
def test_the_key_comes_from_vllms_variable_and_nothing_from_openais(
    stub: StubServer, calls: EngineCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = sent_by(stub, calls)
    assert without.headers["authorization"] == "Bearer EMPTY"
    assert "secret-of-openai" not in repr(without)
    monkeypatch.setenv("VLLM_API_KEY", "of-vllm")
    assert sent_by(stub, calls).headers["authorization"] == "Bearer of-vllm"


@both
def test_headers_and_query_are_sent(stub: StubServer, calls: EngineCalls) -> None:
    headers = {"authorization": "Basic abc", "x-team": "blue"}
    received = sent_by(
        stub, calls, api_key="key", default_headers=headers, default_query={"api-version": "1"}
    )
    assert received.headers["authorization"] == "Basic abc"
    assert received.headers["x-team"] == "blue"
    assert received.query == "api-version=1"


@pytest.mark.parametrize("key", ["", "hunter2\n", "hun ter2", "hünter2"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match="api_key") as caught:
        ServerEngine("http://host", api_key=key)
    assert "ter2" not in str(caught.value)


@both
def test_a_function_that_returns_no_key_is_told(stub: StubServer, calls: EngineCalls) -> None:
    with ServerEngine(stub.root, api_key=lambda: "") as engine, pytest.raises(ConfigurationError):
        calls.generate(engine, HELLO)


def test_secrets_are_not_shown() -> None:
    with ServerEngine("http://host", api_key="hunter2", default_headers={"x-key": "hunter3"}) as engine:
        assert repr(engine) == "ServerEngine(base_url='http://host/v1', model=None)"
        assert "hunter" not in repr(vars(engine)["_clients"]._settings)


@pytest.mark.filterwarnings("error")
def test_one_engine_serves_one_event_loop_after_another(stub: StubServer) -> None:
    async def use(engine: Engine) -> str:
        deltas = [delta async for delta in engine.astream(HELLO)]
        (reply,) = await engine.agenerate_many([HELLO])
        return deltas[0].text + reply.text

    with ServerEngine(stub.root) as engine:
        for _ in range(3):
            assert asyncio.run(use(engine)) == "HiHi"
            assert stub.wait_for_no_connections()


def test_event_loops_in_several_threads_share_an_engine(stub: StubServer) -> None:
    texts: list[str] = []

    async def use(engine: Engine) -> None:
        replies = await engine.agenerate_many([HELLO] * 4)
        texts.extend(reply.text for reply in replies)

    with ServerEngine(stub.root) as engine:
        threads = [threading.Thread(target=lambda: asyncio.run(use(engine))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert texts == ["Hi"] * 16


def _ask_in_child(engine: Engine, results: Any) -> None:
    texts = [engine.generate(HELLO).text, asyncio.run(engine.agenerate(HELLO)).text]
    results.put(texts + [reply.text for reply in engine.generate_many([HELLO])])


def test_a_forked_process_opens_connections_of_its_own(stub: StubServer) -> None:
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    with ServerEngine(stub.root) as engine:
        engine.generate(HELLO)
        engine.generate_many([HELLO])
        child = context.Process(target=_ask_in_child, args=(engine, results))
        child.start()
        child.join(20)
        assert child.exitcode == 0
        assert results.get() == ["Hi"] * 3
        assert engine.generate(HELLO).text == "Hi"
        assert engine.generate_many([HELLO])[0].text == "Hi"


def test_several_requests_share_one_thread(stub: StubServer) -> None:
    with ServerEngine(stub.root) as engine:
        engine.generate_many([HELLO] * 16)
        own = [thread for thread in threading.enumerate() if thread.name == "raif-server-engine"]
        assert len(own) == 1
        engine.generate_many([HELLO] * 16)
    assert not own[0].is_alive()


@both
def test_a_closed_engine_says_so(stub: StubServer, calls: EngineCalls) -> None:
    engine = ServerEngine(stub.root)
    calls.generate(engine, HELLO)
    assert not engine.closed
    engine.close()
    engine.close()
    assert engine.closed
    uses: list[Callable[[], object]] = [
        lambda: calls.generate(engine, HELLO),
        lambda: calls.generate_many(engine, [HELLO]),
        lambda: calls.stream(engine, HELLO),
        lambda: engine.info,
        lambda: engine.count_tokens("text"),
    ]
    for use in uses:
        with pytest.raises(EngineClosedError):
            use()
    assert stub.wait_for_no_connections()


def close_meanwhile(stub: StubServer, call: Callable[[Engine], object]) -> list[object]:
    """What a call in another thread gives or raises when the engine is closed meanwhile."""
    engine = ServerEngine(stub.root, max_retries=0)
    results: list[object] = []

    def run() -> None:
        try:
            results.append(call(engine))
        except Exception as error:
            results.append(type(error))

    thread = threading.Thread(target=run)
    thread.start()
    stub.wait_for_requests()
    time.sleep(0.05)
    engine.close()
    thread.join(5)
    assert not thread.is_alive()
    assert stub.wait_for_no_connections()
    return results


def test_closing_ends_awaited_replies(stub: StubServer) -> None:
    stub.on(CHAT, Silence())
    assert close_meanwhile(stub, lambda engine: asyncio.run(engine.agenerate(HELLO))) == [EngineClosedError]


@both
def test_closing_ends_several_replies(stub: StubServer, calls: EngineCalls) -> None:
    stub.on(CHAT, Silence())
    assert close_meanwhile(stub, lambda engine: calls.generate_many(engine, [HELLO] * 3)) == [
        EngineClosedError
    ]


@both
def test_closing_ends_a_stream(stub: StubServer, calls: EngineCalls) -> None:
    stub.on(CHAT, EventStream([event(chunk("a"))] * 1000, pause=0.02))
    assert close_meanwhile(stub, lambda engine: calls.stream(engine, HELLO)) == [EngineClosedError]


def test_a_thread_that_waits_for_a_reply_gets_it(stub: StubServer) -> None:
    stub.on(CHAT, Answer(completion("Hi"), delay=0.3))
    assert close_meanwhile(stub, lambda engine: engine.generate(HELLO).text) == ["Hi"]


# An SDK built on httpx2 takes a client of httpx too.
HTTP_LIBRARIES = {http_library().__name__, *(["httpx"] if importlib.util.find_spec("httpx") else [])}


@pytest.mark.parametrize("library", sorted(HTTP_LIBRARIES))
def test_the_callers_http_client_is_used_and_left_open(stub: StubServer, library: str) -> None:
    with importlib.import_module(library).Client(headers={"x-mine": "yes"}) as client:
        with ServerEngine(stub.root, http_client=client, max_retries=0) as engine:
            assert engine.generate(HELLO).text == "Hi"
            assert next(iter(engine.stream(HELLO))).text == "Hi"
            with pytest.raises(ConfigurationError, match="async_http_client"):
                engine.generate_many([HELLO])
            stub.on(CHAT, EventStream([event(chunk("a"))], end="break"))
            with pytest.raises(EngineDiedError):
                list(engine.stream(HELLO))
            stub.on(CHAT, Silence())
            with pytest.raises(EngineTimeoutError):
                engine.generate(replace(HELLO, timeout=0.2))
        assert not client.is_closed
    assert {received.headers["x-mine"] for received in stub.received} == {"yes"}


def test_a_function_makes_an_async_http_client_for_each_loop(stub: StubServer) -> None:
    made: list[Any] = []

    def make() -> Any:
        made.append(http_library().AsyncClient(headers={"x-mine": "yes"}))
        return made[-1]

    with ServerEngine(stub.root, async_http_client=make) as engine:
        for _ in range(2):
            assert asyncio.run(engine.agenerate(HELLO)).text == "Hi"
        assert engine.generate_many([HELLO])[0].text == "Hi"
    assert {received.headers["x-mine"] for received in stub.received} == {"yes"}
    assert [client.is_closed for client in made] == [True, True, True]


async def test_the_callers_async_http_client_serves_one_loop(stub: StubServer) -> None:
    async with http_library().AsyncClient(headers={"x-mine": "yes"}) as client:
        with ServerEngine(stub.root, async_http_client=client) as engine:
            assert (await engine.agenerate(HELLO)).text == "Hi"
            with pytest.raises(ConfigurationError, match="another event loop"):
                await asyncio.to_thread(lambda: asyncio.run(engine.agenerate(HELLO)))
            with pytest.raises(ConfigurationError, match="async_http_client"):
                await asyncio.to_thread(engine.generate_many, [HELLO])
        assert not client.is_closed


async def test_cancelling_a_task_closes_its_response(stub: StubServer) -> None:
    stub.on(CHAT, Silence())
    with ServerEngine(stub.root) as engine:
        task = asyncio.ensure_future(engine.agenerate(HELLO))
        await asyncio.to_thread(stub.wait_for_requests)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(stub.wait_for_abandoned)
