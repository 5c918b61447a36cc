"""The server engine against a real vLLM server, which the last test kills."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from raif_integrations.engines.base import GrammarConstraint, JsonConstraint, Request, Sampling
from raif_integrations.engines.server import ServerEngine
from raif_integrations.errors import (
    AuthenticationError,
    ContextLengthError,
    EngineConnectionError,
    EngineDiedError,
    EngineTimeoutError,
    ModelNotFoundError,
    RequestError,
)
from tests.real.server_fixture import API_KEY, server_process
from tests.support.engine_calls import BOTH, EngineCalls
from tests.support.server_process import ServerProcess

pytestmark = pytest.mark.real

HELLO = Request(
    [{"role": "user", "content": "Say hello."}], Sampling(temperature=0, max_tokens=12), model="smollm2"
)
ENDLESS = replace(
    HELLO, sampling=Sampling(temperature=0, max_tokens=1500), constraint=GrammarConstraint('root ::= "a"+')
)

both = pytest.mark.parametrize("calls", BOTH, ids=["blocking", "awaiting"])


@pytest.fixture(scope="module")
def server(
    model_path: Path, adapter_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    log = tmp_path_factory.mktemp("server-engine") / "server.log"
    with server_process(model_path, adapter_path, log) as process:
        yield process


@pytest.fixture
def engine(server: ServerProcess) -> Iterator[ServerEngine]:
    with ServerEngine(server.root, api_key=API_KEY, timeout=120, max_retries=0) as engine:
        yield engine


def wait_until_idle(server: ServerProcess) -> int:
    """Requests the server still works on after a few seconds."""
    deadline = time.monotonic() + 10
    while (running := server.running_requests()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return running


def test_the_server_tells_of_model_window_adapters_and_version(engine: ServerEngine) -> None:
    info = engine.info
    assert (info.name, info.max_model_len, info.adapters) == ("smollm2", 2048, ("raif",))
    assert info.version is not None
    assert info.version[0].isdigit()


@both
def test_a_stream_and_a_reply_are_the_same(engine: ServerEngine, calls: EngineCalls) -> None:
    reply = calls.generate(engine, HELLO)
    deltas = calls.stream(engine, HELLO)
    assert reply.text
    assert "".join(delta.text for delta in deltas) == reply.text
    assert len(deltas) > 3
    assert deltas[-1].usage is not None
    assert deltas[-1].usage.completion_tokens == reply.usage.completion_tokens
    assert deltas[-1].usage.prompt_tokens == reply.usage.prompt_tokens == engine.count_tokens(HELLO.messages)
    assert deltas[-1].finish_reason == reply.finish_reason
    assert (reply.model, deltas[0].model) == ("smollm2", "smollm2")
    assert reply.request_id != deltas[0].request_id


def test_a_reply_that_max_tokens_cuts_says_so(engine: ServerEngine) -> None:
    reply = engine.generate(replace(ENDLESS, sampling=Sampling(temperature=0, max_tokens=5)))
    assert (reply.finish_reason, reply.usage.completion_tokens) == ("length", 5)


@both
def test_a_grammar_binds(engine: ServerEngine, calls: EngineCalls) -> None:
    grammar = GrammarConstraint('root ::= "city=" [A-Z] [a-z]{2,8} "\\n" "temp=" [0-9]{1,2}')
    reply = calls.generate(engine, replace(HELLO, constraint=grammar, sampling=Sampling(max_tokens=30)))
    city, temp = reply.text.split("\n")
    assert city.startswith("city=")
    assert city.removeprefix("city=").isalpha()
    assert temp.removeprefix("temp=").isdigit()
    assert reply.finish_reason == "stop"


@both
def test_a_json_schema_binds(engine: ServerEngine, calls: EngineCalls) -> None:
    schema = {
        "type": "object",
        "properties": {"greeting": {"enum": ["hello", "bye"]}, "loud": {"type": "boolean"}},
        "required": ["greeting", "loud"],
        "additionalProperties": False,
    }
    request = replace(
        HELLO, constraint=JsonConstraint(schema), sampling=Sampling(temperature=0, max_tokens=60)
    )
    text = "".join(delta.text for delta in calls.stream(engine, request))
    value = json.loads(text)
    assert set(value) == {"greeting", "loud"}
    assert value["greeting"] in ("hello", "bye")


def test_an_adapter_answers_by_its_name(engine: ServerEngine) -> None:
    messages = [{"role": "user", "content": "Weather in Oslo?\n\n<schema>\ncity:s\n</schema>"}]
    request = Request(messages, Sampling(temperature=0, max_tokens=16), model="raif")
    reply = engine.generate(request)
    assert reply.model == "raif"
    assert reply.text.startswith("city=Oslo")
    assert engine.generate(replace(request, model="smollm2")).text != reply.text


def test_sixteen_requests_at_once(engine: ServerEngine, server: ServerProcess) -> None:
    grammars = [GrammarConstraint(f'root ::= "number {number} " [a-z]+') for number in range(16)]
    requests = [replace(HELLO, constraint=grammar) for grammar in grammars]
    most = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.02):
            most = max(most, server.running_requests())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        replies = engine.generate_many(requests)
    finally:
        done.set()
        watcher.join()
    for number, reply in enumerate(replies):
        assert reply.text.startswith(f"number {number} ")
    assert most > 4


@both
def test_leaving_a_stream_aborts_the_request(
    engine: ServerEngine, server: ServerProcess, calls: EngineCalls
) -> None:
    assert len(calls.stream(engine, ENDLESS, at_most=3)) == 3
    assert wait_until_idle(server) == 0


async def test_cancelling_a_task_aborts_the_request(engine: ServerEngine, server: ServerProcess) -> None:
    task = asyncio.ensure_future(engine.agenerate(ENDLESS))
    await asyncio.sleep(1)
    assert await asyncio.to_thread(server.running_requests) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(wait_until_idle, server) == 0


def test_the_first_failure_aborts_the_others(engine: ServerEngine, server: ServerProcess) -> None:
    bad = replace(HELLO, sampling=Sampling(temperature=-1))
    with pytest.raises(RequestError, match="temperature"):
        engine.generate_many([ENDLESS, ENDLESS, bad])
    assert wait_until_idle(server) == 0


@both
def test_a_timeout_aborts_the_request(
    engine: ServerEngine, server: ServerProcess, calls: EngineCalls
) -> None:
    with pytest.raises(EngineTimeoutError, match="1 s"):
        calls.generate(engine, replace(ENDLESS, timeout=1))
    with pytest.raises(EngineTimeoutError, match="1 s"):
        calls.stream(engine, replace(ENDLESS, timeout=1))
    assert wait_until_idle(server) == 0


def test_bad_requests_have_their_errors(engine: ServerEngine) -> None:
    with pytest.raises(ModelNotFoundError, match="It serves: smollm2, raif"):
        engine.generate(replace(HELLO, model="nobody"))
    with pytest.raises(ContextLengthError, match="2048"):
        engine.generate(replace(HELLO, messages=[{"role": "user", "content": "word " * 3000}]))
    with pytest.raises(ContextLengthError, match="max_tokens"):
        engine.generate(replace(HELLO, sampling=Sampling(max_tokens=4000)))
    with pytest.raises(RequestError, match="grammar"):
        engine.generate(replace(HELLO, constraint=GrammarConstraint("root ::= missing")))
    assert engine.generate(HELLO).text


def test_a_wrong_key_is_refused(server: ServerProcess) -> None:
    with (
        ServerEngine(server.root, api_key="wrong") as engine,
        pytest.raises(AuthenticationError, match="401"),
    ):
        engine.generate(HELLO)


def test_a_server_killed_in_the_middle_of_a_stream(engine: ServerEngine, server: ServerProcess) -> None:
    stream = engine.stream(ENDLESS)
    assert next(stream).text
    server.kill()
    with pytest.raises(EngineDiedError):
        list(stream)
    with pytest.raises(EngineConnectionError, match=server.base_url):
        engine.generate(HELLO)
