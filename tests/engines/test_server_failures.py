"""Every way a server can fail has its own error, which says what to do."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from raif_integrations.engines.base import Request
from raif_integrations.engines.server import ServerEngine
from raif_integrations.errors import (
    AuthenticationError,
    ConfigurationError,
    ContextLengthError,
    EngineConnectionError,
    EngineDiedError,
    EngineError,
    EngineRateLimitError,
    EngineTimeoutError,
    ModelNotFoundError,
    RequestError,
    ServerError,
)
from tests.support.engine_calls import BOTH, EngineCalls
from tests.support.stub_server import (
    Answer,
    Disconnect,
    EventStream,
    Silence,
    StubServer,
    completion,
    models,
    reply_events,
)

HELLO = Request([{"role": "user", "content": "Hello"}], model="served")
CHAT = "/v1/chat/completions"
NOW = {"retry-after": "0"}

both = pytest.mark.parametrize("calls", BOTH, ids=["blocking", "awaiting"])


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


def said(message: str) -> dict[str, object]:
    """An error body as vLLM sends it."""
    return {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}}


STATUSES = [
    (400, said("temperature must be non-negative"), RequestError, "temperature must be non-negative"),
    (422, {"detail": [{"msg": "Field required"}]}, RequestError, "Field required"),
    (400, {"object": "error", "message": "old form"}, RequestError, "old form"),
    (413, b"<html>too large</html>", RequestError, "too large"),
    (400, said("This model's maximum context length is 2048 tokens."), ContextLengthError, "--max-model-len"),
    (400, said("longer than the maximum model length of 64"), ContextLengthError, "lower max_tokens"),
    (400, said("max_tokens=9 cannot be greater than max_model_len=8"), ContextLengthError, "max_tokens=9"),
    (401, {"error": "Unauthorized"}, AuthenticationError, "VLLM_API_KEY"),
    (403, b"", AuthenticationError, "HTTP 403: no message"),
    (404, {"detail": "Not Found"}, RequestError, "base_url"),
    (408, b"", EngineTimeoutError, "HTTP 408"),
    (429, said("slow down"), EngineRateLimitError, "slow down"),
    (500, said("EngineCore encountered an issue"), ServerError, "EngineCore encountered an issue"),
    (502, b"<html>\n  Bad Gateway</html>", ServerError, "<html> Bad Gateway"),
    (503, b"", ServerError, "HTTP 503"),
    (504, b"", EngineTimeoutError, "gateway"),
    (200, b"<html>Please log in</html>", ServerError, "base_url"),
    (200, {"object": "nothing"}, ServerError, "nothing"),
]


@both
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("status", "body", "kind", "message"), STATUSES)
def test_each_status_has_its_error(
    stub: StubServer,
    calls: EngineCalls,
    streamed: bool,
    status: int,
    body: object,
    kind: type[EngineError],
    message: str,
) -> None:
    stub.on(CHAT, Answer(body, status=status))
    with ServerEngine(stub.root, max_retries=0) as engine, pytest.raises(EngineError) as caught:
        calls.stream(engine, HELLO) if streamed else calls.generate(engine, HELLO)
    assert type(caught.value) is kind
    assert message in str(caught.value)
    assert caught.value.retryable == kind.retryable


@both
def test_a_missing_model_names_what_is_served(stub: StubServer, calls: EngineCalls) -> None:
    stub.on(CHAT, Answer(said("The model `served` does not exist."), status=404))
    with ServerEngine(stub.root, max_retries=0) as engine:
        with pytest.raises(ModelNotFoundError, match="'served'"):
            calls.generate(engine, HELLO)
        stub.on("/v1/models", Answer(models({"id": "base"}, {"id": "raif", "parent": "base"})))
        with pytest.raises(ModelNotFoundError, match="It serves: base, raif"):
            calls.generate(engine, HELLO)


@both
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_closed_port_names_the_address(calls: EngineCalls, streamed: bool) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with ServerEngine(f"http://127.0.0.1:{port}", max_retries=0) as engine:
        with pytest.raises(EngineConnectionError, match=rf"http://127\.0\.0\.1:{port}/v1.*base_url"):
            calls.stream(engine, HELLO) if streamed else calls.generate(engine, HELLO)
        with pytest.raises(EngineConnectionError):
            _ = engine.info


@both
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_silent_server_is_a_timeout_and_not_asked_again(
    stub: StubServer, calls: EngineCalls, streamed: bool
) -> None:
    stub.on(CHAT, Silence())
    request = Request(HELLO.messages, model="served", timeout=0.2)
    with ServerEngine(stub.root, max_retries=3) as engine, pytest.raises(EngineTimeoutError, match=r"0\.2 s"):
        calls.stream(engine, request) if streamed else calls.generate(engine, request)
    assert len(stub.received) == 1
    assert stub.wait_for_abandoned()


@both
def test_a_connection_that_breaks_before_the_reply_is_tried_again(
    stub: StubServer, calls: EngineCalls
) -> None:
    stub.on(CHAT, [Disconnect(), Answer(completion("Hi"))])
    with ServerEngine(stub.root, max_retries=1) as engine:
        assert calls.generate(engine, HELLO).text == "Hi"
    stub.on(CHAT, Disconnect())
    with ServerEngine(stub.root, max_retries=0) as engine, pytest.raises(EngineDiedError, match="broke"):
        calls.generate(engine, HELLO)


@both
@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(stub: StubServer, calls: EngineCalls, status: int) -> None:
    failure = Answer(said("not now"), status=status, headers=NOW)
    stub.on(CHAT, [failure, failure, Answer(completion("Hi"))])
    with ServerEngine(stub.root, max_retries=2) as engine:
        assert calls.generate(engine, HELLO).text == "Hi"
    stub.on(CHAT, [failure, EventStream(reply_events("Hi"))])
    with ServerEngine(stub.root, max_retries=2) as engine:
        assert calls.stream(engine, HELLO)[0].text == "Hi"
    assert len(stub.received) == 5


def test_retries_end_with_the_servers_error(stub: StubServer) -> None:
    stub.on(CHAT, Answer(said("slow down"), status=429, headers=NOW))
    with ServerEngine(stub.root, max_retries=2) as engine, pytest.raises(EngineRateLimitError):
        engine.generate(HELLO)
    assert len(stub.received) == 3


def test_a_wait_beyond_the_requests_timeout_is_not_made(stub: StubServer) -> None:
    stub.on(CHAT, Answer(said("slow down"), status=429, headers={"retry-after": "30"}))
    request = Request(HELLO.messages, model="served", timeout=5)
    with ServerEngine(stub.root) as engine, pytest.raises(EngineRateLimitError):
        engine.generate(request)
    assert len(stub.received) == 1


@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_does_not_pass_is_not_tried_again(stub: StubServer, status: int) -> None:
    stub.on(CHAT, Answer(said("no"), status=status))
    with ServerEngine(stub.root, max_retries=2) as engine, pytest.raises(EngineError):
        engine.generate(HELLO)
    assert len(stub.chats) == 1


def test_a_wrong_key_is_told_whatever_is_asked_first(stub: StubServer) -> None:
    for path in (CHAT, "/v1/models", "/tokenize"):
        stub.on(path, Answer({"error": "Unauthorized"}, status=401))
    with ServerEngine(stub.root, api_key="wrong") as engine:
        for ask in (lambda: engine.info, lambda: engine.generate(HELLO), lambda: engine.count_tokens("a")):
            with pytest.raises(AuthenticationError) as caught:
                ask()
            assert "wrong" not in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "value"), [("timeout", 0), ("timeout", -1), ("max_retries", -1), ("max_concurrency", 0)]
)
def test_arguments_out_of_range_are_named(argument: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=argument):
        ServerEngine("http://host", **{argument: value})  # type: ignore[arg-type]


def test_a_requests_timeout_out_of_range_is_named() -> None:
    request = Request(HELLO.messages, model="served", timeout=0)
    with ServerEngine("http://host") as engine, pytest.raises(ConfigurationError, match="timeout"):
        engine.generate(request)


@both
@pytest.mark.parametrize("content", [object(), "half of an emoji: \ud83d"], ids=["object", "surrogate"])
def test_a_message_that_is_no_json_is_refused(stub: StubServer, calls: EngineCalls, content: object) -> None:
    request = Request([{"role": "user", "content": content}], model="served")
    with ServerEngine(stub.root) as engine, pytest.raises(RequestError, match="sent as JSON"):
        calls.generate(engine, request)
    assert stub.received == []
