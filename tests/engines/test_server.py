"""The server engine against a stub server: replies, streams, several requests at once, what it asks."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import cast

import pytest

from raif_integrations.engines.base import Delta, GrammarConstraint, ModelInfo, Request, Sampling, Usage
from raif_integrations.engines.server import ServerEngine
from raif_integrations.errors import (
    ConfigurationError,
    EngineDiedError,
    EngineTimeoutError,
    RequestError,
    ServerError,
)
from tests.support.engine_calls import BOTH, EngineCalls
from tests.support.stub_server import (
    Answer,
    EventStream,
    Received,
    Reply,
    Silence,
    StubServer,
    chunk,
    completion,
    event,
    models,
    reply_events,
)

HELLO = Request([{"role": "user", "content": "Hello"}], model="served")
MODELS = models(
    {"id": "base", "root": "/models/base", "parent": None, "max_model_len": 4096},
    {"id": "raif", "root": "/adapters/raif", "parent": "base", "max_model_len": None},
)

both = pytest.mark.parametrize("calls", BOTH, ids=["blocking", "awaiting"])


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


@pytest.fixture
def engine(stub: StubServer) -> Iterator[ServerEngine]:
    with ServerEngine(stub.root, timeout=10, max_retries=0) as engine:
        yield engine


@both
def test_a_reply(stub: StubServer, engine: ServerEngine, calls: EngineCalls) -> None:
    stub.on("/v1/chat/completions", Answer(completion("Hi", reasoning="polite")))
    grammar = GrammarConstraint('root ::= "Hi"')
    request = replace(HELLO, sampling=Sampling(temperature=0), constraint=grammar)
    reply = calls.generate(engine, request)
    assert (reply.text, reply.finish_reason, reply.reasoning) == ("Hi", "stop", "polite")
    assert reply.usage == Usage(prompt_tokens=11, completion_tokens=5, cached_tokens=8)
    assert (reply.model, reply.request_id) == ("served", "chatcmpl-1")
    (received,) = stub.received
    assert received.body == {
        "model": "served",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0,
        "structured_outputs": {"grammar": 'root ::= "Hi"'},
    }


@both
def test_a_stream(stub: StubServer, engine: ServerEngine, calls: EngineCalls) -> None:
    stub.on("/v1/chat/completions", EventStream(reply_events("Hel", "lo", finish_reason="length")))
    deltas = calls.stream(engine, HELLO)
    assert [delta.text for delta in deltas] == ["Hel", "lo", ""]
    assert [delta.finish_reason for delta in deltas] == [None, None, "length"]
    assert deltas[-1].usage == Usage(11, 2)
    assert stub.received[0].body["stream_options"] == {"include_usage": True}


@both
def test_a_stream_in_pieces_that_cut_characters(
    stub: StubServer, engine: ServerEngine, calls: EngineCalls
) -> None:
    raw = b"".join(reply_events("Grüße, 世界 🌍", "\r\n\n"))
    stub.on("/v1/chat/completions", EventStream([raw[start : start + 7] for start in range(0, len(raw), 7)]))
    assert "".join(delta.text for delta in calls.stream(engine, HELLO)) == "Grüße, 世界 🌍\r\n\n"


def test_a_piece_is_handed_out_before_the_next_arrives(stub: StubServer, engine: ServerEngine) -> None:
    stub.on("/v1/chat/completions", EventStream([event(chunk("first"))], end="hang"))
    with closing(cast("Generator[Delta, None, None]", engine.stream(HELLO))) as stream:
        assert next(stream).text == "first"
    assert stub.wait_for_abandoned()


@both
def test_leaving_a_stream_closes_the_response(
    stub: StubServer, engine: ServerEngine, calls: EngineCalls
) -> None:
    stub.on("/v1/chat/completions", EventStream(reply_events("a", "b")[:2], end="hang"))
    assert [delta.text for delta in calls.stream(engine, HELLO, at_most=1)] == ["a"]
    assert stub.wait_for_abandoned()


def test_a_finished_stream_leaves_its_connection_to_the_next(stub: StubServer, engine: ServerEngine) -> None:
    stub.on("/v1/chat/completions", EventStream(reply_events("a")))
    for _ in range(3):
        list(engine.stream(HELLO))
    assert (len(stub.received), stub.connections) == (3, 1)


@both
def test_a_stream_that_is_done_needs_no_end_of_the_response(stub: StubServer, calls: EngineCalls) -> None:
    stub.on("/v1/chat/completions", EventStream(reply_events("a"), end="hang"))
    with ServerEngine(stub.root, timeout=0.3) as engine:
        assert calls.stream(engine, HELLO)[-1].finish_reason == "stop"


@both
@pytest.mark.parametrize("end", ["break", "complete"])
def test_a_stream_that_breaks_is_an_error(
    stub: StubServer, engine: ServerEngine, calls: EngineCalls, end: str
) -> None:
    stub.on("/v1/chat/completions", EventStream([event(chunk("a"))], end=end))  # type: ignore[arg-type]
    with pytest.raises(EngineDiedError):
        calls.stream(engine, HELLO)
    assert len(stub.received) == 1


@both
def test_an_error_event_ends_the_stream(stub: StubServer, engine: ServerEngine, calls: EngineCalls) -> None:
    failure = event({"error": {"message": "EngineCore died", "type": "InternalServerError", "code": 500}})
    stub.on("/v1/chat/completions", EventStream([event(chunk("a")), failure, event(b"[DONE]")]))
    with pytest.raises(ServerError, match="EngineCore died"):
        calls.stream(engine, HELLO)


@both
def test_silence_in_a_stream_is_a_timeout(stub: StubServer, calls: EngineCalls) -> None:
    stub.on("/v1/chat/completions", EventStream([event(chunk("a"))], end="hang"))
    with ServerEngine(stub.root, timeout=0.2) as engine, pytest.raises(EngineTimeoutError, match=r"0\.2 s"):
        calls.stream(engine, HELLO)
    assert stub.wait_for_abandoned()


@both
def test_a_stream_that_trickles_past_the_requests_timeout_is_given_up(
    stub: StubServer, engine: ServerEngine, calls: EngineCalls
) -> None:
    stub.on("/v1/chat/completions", EventStream([event(chunk("a"))] * 1000, pause=0.02))
    with pytest.raises(EngineTimeoutError, match=r"0\.3 s"):
        calls.stream(engine, replace(HELLO, timeout=0.3))


@both
def test_a_slow_stream_within_the_engines_timeout_is_not(stub: StubServer, calls: EngineCalls) -> None:
    stub.on("/v1/chat/completions", EventStream(reply_events(*"abcdefgh"), pause=0.12))
    with ServerEngine(stub.root, timeout=1) as engine:
        assert "".join(delta.text for delta in calls.stream(engine, HELLO)) == "abcdefgh"


@both
def test_a_page_in_place_of_a_stream_is_explained(
    stub: StubServer, engine: ServerEngine, calls: EngineCalls
) -> None:
    stub.on("/v1/chat/completions", Answer(b"<html>Please log in</html>"))
    with pytest.raises(ServerError, match=r"text/html.*Please log in.*base_url"):
        calls.stream(engine, HELLO)


def echo(request: Received) -> Reply:
    """Repeats the question, later questions sooner."""
    question = request.body["messages"][-1]["content"]
    return Answer(completion(question), delay=0.2 / (1 + int(question)))


def numbered(count: int) -> list[Request]:
    return [Request([{"role": "user", "content": str(number)}], model="served") for number in range(count)]


@both
def test_many_replies_come_in_the_order_of_the_requests(
    stub: StubServer, engine: ServerEngine, calls: EngineCalls
) -> None:
    stub.on("/v1/chat/completions", echo)
    replies = calls.generate_many(engine, numbered(16))
    assert [reply.text for reply in replies] == [str(number) for number in range(16)]
    assert stub.most_at_once > 4


@both
def test_no_more_than_max_concurrency_are_under_way(stub: StubServer, calls: EngineCalls) -> None:
    stub.on("/v1/chat/completions", echo)
    with ServerEngine(stub.root, max_concurrency=3) as engine:
        assert len(calls.generate_many(engine, numbered(10))) == 10
    assert stub.most_at_once == 3


@both
def test_the_first_failure_aborts_the_others(
    stub: StubServer, engine: ServerEngine, calls: EngineCalls
) -> None:
    def one_fails(request: Received) -> Reply:
        if request.body["messages"][-1]["content"] == "2":
            stub.wait_for_requests(5)
            return Answer({"error": {"message": "No"}}, status=400)
        return Silence()

    stub.on("/v1/chat/completions", one_fails)
    with pytest.raises(RequestError, match="No"):
        calls.generate_many(engine, numbered(5))
    assert stub.wait_for_abandoned(4)


@both
def test_no_requests_need_no_server(calls: EngineCalls) -> None:
    with ServerEngine("http://127.0.0.1:1", model="m") as engine:
        assert calls.generate_many(engine, []) == []


@both
def test_the_only_base_model_is_the_default_and_asked_for_once(
    stub: StubServer, engine: ServerEngine, calls: EngineCalls
) -> None:
    stub.on("/v1/models", Answer(MODELS))
    stub.on("/v1/chat/completions", Answer(completion("Hi")))
    request = Request([{"role": "user", "content": "Hello"}])
    calls.generate_many(engine, [request] * 8)
    calls.generate(engine, request)
    assert [received.path for received in stub.received].count("/v1/models") == 1
    assert {received.body["model"] for received in stub.chats} == {"base"}


def test_the_engines_model_goes_before_the_servers(stub: StubServer) -> None:
    stub.on("/v1/chat/completions", Answer(completion("Hi")))
    with ServerEngine(stub.root, model="raif") as engine:
        engine.generate(Request([{"role": "user", "content": "Hello"}]))
        engine.generate(HELLO)
    assert [received.body["model"] for received in stub.received] == ["raif", "served"]


def test_what_the_server_tells_of_itself(stub: StubServer, engine: ServerEngine) -> None:
    stub.on("/v1/models", Answer(MODELS))
    stub.on("/version", Answer({"version": "0.32.0"}))
    told = ModelInfo(name="base", max_model_len=4096, adapters=("raif",), version="0.32.0")
    assert (engine.info, engine.info) == (told, told)
    assert len(stub.received) == 2


def test_an_adapter_shares_the_window_of_its_base(stub: StubServer) -> None:
    stub.on("/v1/models", Answer(MODELS))
    with ServerEngine(stub.root, model="raif") as engine:
        assert (engine.info.name, engine.info.max_model_len) == ("raif", 4096)


@pytest.mark.parametrize(
    "refusal", [Answer(status=403), Answer(status=404), Answer(b"<html>Portal</html>"), Answer({"data": "?"})]
)
def test_a_server_that_tells_nothing_is_used_all_the_same(stub: StubServer, refusal: Answer) -> None:
    stub.on("/v1/models", refusal)
    stub.on("/version", refusal)
    stub.on("/v1/chat/completions", Answer(completion("Hi")))
    with ServerEngine(stub.root, model="served", max_retries=0) as engine:
        assert engine.info == ModelInfo(name="served")
        assert engine.generate(Request([{"role": "user", "content": "Hello"}])).text == "Hi"
    with ServerEngine(stub.root) as engine, pytest.raises(ConfigurationError, match="Pass model="):
        engine.generate(Request([{"role": "user", "content": "Hello"}]))


def test_several_models_need_a_choice(stub: StubServer, engine: ServerEngine) -> None:
    stub.on("/v1/models", Answer(models({"id": "a"}, {"id": "b"})))
    with pytest.raises(ConfigurationError, match=r"several: a, b\. Pass model="):
        _ = engine.info


def test_tokens_are_counted_by_the_server(stub: StubServer) -> None:
    stub.on("/tokenize", Answer({"count": 7, "max_model_len": 4096, "tokens": [1] * 7}))
    with ServerEngine(stub.root, model="served") as engine:
        assert engine.count_tokens("some text") == 7
        assert engine.count_tokens([{"role": "user", "content": "Hello"}]) == 7
    assert [received.body for received in stub.received] == [
        {"model": "served", "prompt": "some text", "add_special_tokens": False},
        {
            "model": "served",
            "messages": [{"role": "user", "content": "Hello"}],
            "add_generation_prompt": True,
        },
    ]


@pytest.mark.parametrize("status", [403, 404])
def test_tokens_that_cannot_be_counted_are_not_guessed(stub: StubServer, status: int) -> None:
    stub.on("/tokenize", Answer({"detail": "Not here"}, status=status))
    with ServerEngine(stub.root, model="served") as engine, pytest.raises(RequestError, match="/tokenize"):
        engine.count_tokens("some text")


def test_threads_share_an_engine(stub: StubServer, engine: ServerEngine) -> None:
    stub.on("/v1/chat/completions", echo)
    texts: dict[int, str] = {}

    def ask(number: int, request: Request) -> None:
        texts[number] = engine.generate(request).text

    threads = [threading.Thread(target=ask, args=pair) for pair in enumerate(numbered(12))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert texts == {number: str(number) for number in range(12)}
