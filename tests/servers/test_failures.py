"""What both frameworks say when a server fails, whoever decodes: typed errors, no hang, safe repetitions."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core import exceptions as core
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool

from raif_integrations.errors import (
    AuthenticationError,
    ConfigurationError,
    EngineConnectionError,
    EngineDiedError,
    EngineError,
    EngineRateLimitError,
    EngineTimeoutError,
    ServerError,
)
from tests.servers.wire_server import (
    asked,
    call_piece,
    call_start,
    called,
    get_weather,
    langchain_model,
    llama_index_model,
    served,
)
from tests.support.stub_server import (
    Answer,
    Disconnect,
    EventStream,
    Reply,
    Silence,
    StubServer,
    chunk,
    completion,
    event,
)

OSLO_JSON = '{"city":"Oslo","days":3}'
SLOW = 0.3


def langchain_call(stub: StubServer, *, wire: str, stream: bool, **settings: Any) -> Any:
    model = langchain_model(stub, wire=wire, **settings).bind_tools([get_weather], tool_choice="any")
    return list(model.stream("go")) if stream else model.invoke("go")


def llama_index_call(stub: StubServer, *, wire: str, stream: bool, **settings: Any) -> Any:
    llm = llama_index_model(stub, wire=wire, **settings)
    given: dict[str, Any] = {"tools": [FunctionTool.from_defaults(get_weather)], "tool_choice": "required"}
    messages = [ChatMessage(content="go")]
    return list(llm.stream_chat(messages, **given)) if stream else llm.chat(messages, **given)


FRAMEWORKS: dict[str, Callable[..., Any]] = {"langchain": langchain_call, "llama_index": llama_index_call}

in_both = pytest.mark.parametrize("call", FRAMEWORKS.values(), ids=FRAMEWORKS.keys())
by_both = pytest.mark.parametrize("wire", ["auto", "server"])
streamed_or_not = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Answer({"error": "Unauthorized"}, status=401), AuthenticationError),
        (Answer({"error": {"message": "slow down"}}, status=429), EngineRateLimitError),
        (Answer({"error": {"message": "EngineCore died"}}, status=500), ServerError),
        (Answer(b"<html>Bad Gateway</html>", status=502), ServerError),
        (Answer(b"<html>Please log in</html>"), ServerError),
        (Disconnect(), EngineDiedError),
        (Silence(), EngineTimeoutError),
    ],
    ids=["401", "429", "500", "502", "login page", "cut connection", "silence"],
)
@in_both
@by_both
@streamed_or_not
def test_each_failure_has_its_error(
    call: Callable[..., Any], wire: str, stream: bool, reply: Reply, kind: type[EngineError]
) -> None:
    timeout = SLOW if isinstance(reply, Silence) else 10
    with served(reply) as stub, pytest.raises(EngineError) as caught:
        call(stub, wire=wire, stream=stream, max_retries=0, timeout=timeout)
    assert isinstance(caught.value, kind)


@in_both
@by_both
@streamed_or_not
def test_a_closed_port_names_the_address(call: Callable[..., Any], wire: str, stream: bool) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with StubServer() as stub, pytest.raises(EngineConnectionError, match=str(port)):
        call(stub, wire=wire, stream=stream, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)


def _pieces(wire: str) -> list[bytes]:
    if wire == "server":
        return [call_start("get_weather", ""), call_piece('{"city":"Os')]
    return [event(chunk("city=")), event(chunk("Os"))]


@pytest.mark.parametrize(
    ("end", "kind"),
    [("break", EngineDiedError), ("complete", EngineDiedError), ("hang", EngineTimeoutError)],
    ids=["cut off", "ended without a finish reason", "silent"],
)
@in_both
@by_both
def test_a_stream_that_does_not_end_well_is_not_made_again(
    call: Callable[..., Any], wire: str, end: Any, kind: type[EngineError]
) -> None:
    broken = EventStream(_pieces(wire), end=end)
    with served(broken) as stub:
        with pytest.raises(EngineError) as caught:
            call(stub, wire=wire, stream=True, timeout=SLOW if end == "hang" else 10)
        assert len(asked(stub)) == 1
    assert isinstance(caught.value, kind)


@pytest.mark.parametrize("status", [429, 500, 503])
@in_both
@by_both
def test_what_passes_is_tried_again(call: Callable[..., Any], wire: str, status: int) -> None:
    failure = Answer({"error": {"message": "not now"}}, status=status, headers={"retry-after": "0"})
    good = (
        called(("get_weather", OSLO_JSON)) if wire == "server" else Answer(completion("city=Oslo\ndays=3\n"))
    )
    with served(failure, failure, good) as stub:
        call(stub, wire=wire, stream=False, max_retries=2)
        assert len(asked(stub)) == 3


@pytest.mark.parametrize("seconds", ["200", "Wed, 21 Oct 2099 07:28:00 GMT"])
@in_both
@by_both
def test_a_server_that_asks_for_too_much_patience_is_told_of_at_once(
    call: Callable[..., Any], wire: str, seconds: str
) -> None:
    busy = Answer({"error": {"message": "slow down"}}, status=429, headers={"retry-after": seconds})
    with served(busy) as stub:
        with pytest.raises(EngineRateLimitError):
            call(stub, wire=wire, stream=False, max_retries=2)
        assert len(asked(stub)) == 1


@pytest.fixture
def bare() -> Iterator[StubServer]:
    refusal = {"error": {"message": "You can only use one kind of structured outputs constraint"}}
    with StubServer(chat=[Answer(refusal, status=400)], version=[Answer({"version": "0.19.1"})]) as stub:
        yield stub


@in_both
@streamed_or_not
def test_a_server_without_a_plugin_is_told_apart(
    bare: StubServer, call: Callable[..., Any], stream: bool
) -> None:
    with pytest.raises(ConfigurationError, match="no RAIF plugin"):
        call(bare, wire="server", stream=stream)


def test_langchains_own_errors_catch_them_too() -> None:
    busy = Answer({"error": {"message": "slow down"}}, status=429)
    with served(busy) as stub, pytest.raises(core.ModelRateLimitError):
        langchain_call(stub, wire="server", stream=False, max_retries=0)
