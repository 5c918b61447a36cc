"""What a server is found to be, and that nothing breaks where it does not tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from raif_integrations.engines.base import Request, ServerDecoding
from raif_integrations.engines.server import ServerEngine
from raif_integrations.engines.server.detection import ServerDescription, describe_server
from raif_integrations.errors import (
    AuthenticationError,
    ConfigurationError,
    EngineConnectionError,
    EngineError,
    EngineTimeoutError,
)
from tests.support.engine_calls import BOTH, EngineCalls
from tests.support.stub_server import (
    Answer,
    Disconnect,
    EventStream,
    Received,
    Reply,
    Silence,
    StubServer,
    completion,
    models,
    reply_events,
)

CHAT = "/v1/chat/completions"
MODELS = models(
    {"id": "base", "root": "/models/base", "parent": None, "max_model_len": 4096},
    {"id": "raif", "root": "/adapters/raif", "parent": "base", "max_model_len": None},
)
DECODED = Answer(completion('{"probe":"kxqvzw"}'))
TWO_CONSTRAINTS = Answer(
    {"error": {"message": "You can only use one kind of structured outputs constraint"}}, status=400
)
METRICS = 'vllm:num_requests_running{engine="0"} 0.0\n'
GAUGE = METRICS + 'raif_plugin_info{pid="7",version="0.3.0"} 1\n'
WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}
HELLO = [{"role": "user", "content": "Hello"}]

both = pytest.mark.parametrize("calls", BOTH, ids=["blocking", "awaiting"])


def server(
    version: str | None, probe: Reply, metrics: str | None = METRICS, reply: Reply | None = None
) -> StubServer:
    """A server that answers the probe, and everything else with ``reply``."""

    def chat(request: Received) -> Reply:
        return probe if "probe" in str(request.body["messages"]) else reply or Answer(completion("Hi"))

    stub = StubServer(chat=chat, models=[Answer(MODELS)])
    if version is not None:
        stub.on("/version", Answer({"version": version}))
    if metrics is not None:
        stub.on("/metrics", Answer(metrics.encode()))
    return stub


@pytest.fixture
def bare() -> Iterator[StubServer]:
    with server("0.32.0", TWO_CONSTRAINTS) as stub:
        yield stub


def description(stub: StubServer, **arguments: Any) -> ServerDescription:
    with ServerEngine(stub.root, max_retries=0) as engine:
        return describe_server(engine, **arguments)


def asked(stub: StubServer, **decoding: Any) -> Request:
    return Request(HELLO, model="raif", server_decoding=ServerDecoding(**decoding))


def test_a_bare_server(bare: StubServer) -> None:
    assert description(bare) == ServerDescription(
        version="0.32.0",
        models=("base",),
        adapters={"raif": "base"},
        max_model_len={"base": 4096},
        decodes=False,
    )


@pytest.mark.parametrize(
    ("version", "metrics", "probe", "plugin", "decodes"),
    [
        ("0.19.1", METRICS, DECODED, "raif-vllm", True),
        ("0.19.1", None, DECODED, "raif-vllm", True),
        ("0.19.1", METRICS, Answer(completion("probe=kxqvzw")), None, False),
        ("0.19.1", None, TWO_CONSTRAINTS, None, False),
        ("0.32.0", GAUGE, TWO_CONSTRAINTS, "raif-integrations", True),
        ("0.32.0", METRICS, TWO_CONSTRAINTS, None, False),
        ("0.32.0", None, TWO_CONSTRAINTS, None, None),
        (None, None, TWO_CONSTRAINTS, None, None),
        (None, METRICS, DECODED, None, True),
        ("0.32.0", METRICS, Answer(completion("I do not know.")), None, None),
    ],
    ids=[
        "raif-vllm",
        "raif-vllm without metrics",
        "raif-vllm without its reasoning parser",
        "a bare old server without metrics",
        "ours",
        "a bare server",
        "ours or none, without metrics",
        "ours or none, without metrics and version",
        "a plugin, without a version",
        "something else",
    ],
)
def test_plugins(
    version: str | None, metrics: str | None, probe: Reply, plugin: str | None, decodes: bool | None
) -> None:
    with server(version, probe, metrics) as stub:
        found = description(stub)
    assert (found.plugin, found.decodes) == (plugin, decodes)
    assert found.plugin_version == ("0.3.0" if metrics == GAUGE else None)


def test_without_a_probe_nothing_is_generated() -> None:
    with server("0.32.0", DECODED, GAUGE) as stub:
        found = description(stub, probe=False)
        assert stub.chats == []
    assert (found.plugin, found.decodes) == ("raif-integrations", True)
    with server("0.19.1", DECODED) as stub:
        found = description(stub, probe=False)
        assert stub.chats == []
    assert (found.plugin, found.decodes) == (None, None)


def test_each_question_is_asked_once() -> None:
    with server("0.19.1", DECODED) as stub, ServerEngine(stub.root, max_retries=0) as engine:
        request = asked(stub, response_format={"type": "json_object"})
        for _ in range(3):
            assert engine.generate(request).text == "Hi"
        paths = [received.path for received in stub.received]
    assert paths.count("/metrics") == paths.count("/version") == 1
    assert len(stub.chats) == 4


def test_a_request_without_decoding_asks_nothing_of_the_kind(bare: StubServer) -> None:
    with ServerEngine(bare.root) as engine:
        engine.generate(Request(HELLO, model="raif"))
    assert [received.path for received in bare.received] == [CHAT]


BLOCKED: Mapping[str, Reply] = {
    "403": Answer({"detail": "Forbidden"}, status=403),
    "404": Answer({"detail": "Not Found"}, status=404),
    "429": Answer({"detail": "slow down"}, status=429, headers={"retry-after": "60"}),
    "500": Answer(b"", status=500),
    "a login page": Answer(b"<html>Please log in</html>"),
    "an empty answer": Answer(b""),
    "other json": Answer(["nothing"]),
    "a cut connection": Disconnect(),
    "silence": Silence(),
}


@both
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("blocked", list(BLOCKED.values()), ids=list(BLOCKED))
def test_a_server_that_tells_nothing_is_asked_all_the_same(
    calls: EngineCalls, streamed: bool, blocked: Reply
) -> None:
    reply: Reply = EventStream(reply_events("Hi")) if streamed else Answer(completion("Hi"))
    probe = blocked if blocked is not BLOCKED["404"] else Answer(completion("Hi"))
    with server(None, probe, None, reply) as stub:
        for path in ("/version", "/metrics", "/v1/models"):
            stub.on(path, blocked)
        with ServerEngine(stub.root, timeout=0.2 if isinstance(blocked, Silence) else 10) as engine:
            request = replace(asked(stub, tools=[WEATHER]), timeout=10)
            if streamed:
                assert "".join(delta.text for delta in calls.stream(engine, request)) == "Hi"
            else:
                assert calls.generate(engine, request).text == "Hi"


@pytest.mark.parametrize("blocked", [BLOCKED["403"], BLOCKED["404"], BLOCKED["a login page"]])
def test_what_was_refused_is_told(blocked: Reply) -> None:
    with server(None, blocked, None) as stub:
        for path in ("/version", "/metrics", "/v1/models"):
            stub.on(path, blocked)
        found = description(stub)
    assert set(found.refused) == {"/version", "/metrics", "/v1/models"}
    assert (found.version, found.models, found.decodes) == (None, (), None)


def test_a_closed_port_and_a_wrong_key_are_no_descriptions() -> None:
    with StubServer() as stub:
        root = stub.root
        for path in ("/v1/models", CHAT):
            stub.on(path, Answer({"error": "Unauthorized"}, status=401))
        with pytest.raises(AuthenticationError):
            description(stub)
    with ServerEngine(root, max_retries=0) as engine, pytest.raises(EngineConnectionError):
        describe_server(engine)


def test_questions_take_no_longer_than_the_request_may() -> None:
    silent = BLOCKED["silence"]
    with server(None, silent, None, silent) as stub:
        for path in ("/version", "/metrics"):
            stub.on(path, silent)
        request = replace(asked(stub, tools=[WEATHER]), timeout=0.3)
        with ServerEngine(stub.root) as engine, pytest.raises(EngineTimeoutError):
            engine.generate(request)
        assert len(stub.received) <= 4


# What is refused before it is sent


@both
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_server_that_does_not_decode_is_told_apart(
    bare: StubServer, calls: EngineCalls, streamed: bool
) -> None:
    with ServerEngine(bare.root) as engine:
        request = asked(bare, tools=[WEATHER])
        with pytest.raises(
            ConfigurationError, match=r"no RAIF plugin.*Leave wire out.*--tool-call-parser raif"
        ):
            calls.stream(engine, request) if streamed else calls.generate(engine, request)
        assert engine.generate(Request(HELLO, model="raif")).text == "Hi"


@both
def test_raif_vllm_cannot_choose_between_tools(calls: EngineCalls) -> None:
    with server("0.19.1", DECODED) as stub, ServerEngine(stub.root) as engine:
        several = asked(stub, tools=[WEATHER, CLOCK], tool_choice="auto")
        with pytest.raises(ConfigurationError, match=r"calls no tool when several.*tool_choice"):
            calls.generate(engine, several)
        choice = {"type": "function", "function": {"name": "clock"}}
        assert calls.generate(engine, asked(stub, tools=[WEATHER, CLOCK], tool_choice=choice)).text == "Hi"


@both
def test_a_streamed_call_of_raif_vllm_is_fetched_whole(calls: EngineCalls) -> None:
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'},
    }
    reply = Answer(completion(None, finish_reason="tool_calls", tool_calls=[call]))
    with server("0.19.1", DECODED, reply=reply) as stub, ServerEngine(stub.root) as engine:
        deltas = calls.stream(engine, asked(stub, tools=[WEATHER], tool_choice="auto"))
    assert "stream" not in stub.chats[-1].body
    assert deltas[-1].finish_reason == "stop"
    (piece,) = [piece for delta in deltas for piece in delta.tool_calls]
    assert (piece.name, piece.arguments) == ("get_weather", '{"city":"Oslo"}')


@pytest.mark.parametrize(
    "decoding",
    [
        {"response_format": {"type": "json_object"}},
        {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
    ],
    ids=["value", "named tool"],
)
def test_what_raif_vllm_streams_is_streamed(decoding: dict[str, Any]) -> None:
    reply = EventStream(reply_events("city=", "Oslo"))
    with server("0.19.1", DECODED, reply=reply) as stub, ServerEngine(stub.root) as engine:
        deltas = list(engine.stream(asked(stub, **decoding)))
    assert [delta.text for delta in deltas] == ["city=", "Oslo", ""]


def test_errors_of_the_request_itself_are_not_hidden_by_the_questions() -> None:
    refusal = Answer({"error": "Unauthorized"}, status=401)
    with (
        server(None, BLOCKED["500"], None, refusal) as stub,
        ServerEngine(stub.root, max_retries=0) as engine,
        pytest.raises(EngineError) as caught,
    ):
        engine.generate(asked(stub, tools=[WEATHER]))
    assert type(caught.value) is AuthenticationError
