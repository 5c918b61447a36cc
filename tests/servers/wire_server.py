"""Model objects of both frameworks that leave decoding to a stub server with a plugin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from raif_integrations.langchain import ChatRaifVLLM
from raif_integrations.llama_index import RaifVLLM
from tests.support.stub_server import (
    Answer,
    EventStream,
    Received,
    Reply,
    StubServer,
    chunk,
    completion,
    event,
    usage_chunk,
)


def get_weather(city: str, days: int) -> str:
    """Tells the weather of a city."""
    return f"{city} {days}"


def now() -> str:
    """Tells the time."""
    return "12:00"


@contextmanager
def served(*replies: Reply, version: str = "0.32.0") -> Iterator[StubServer]:
    """A server whose plugin decodes; it gives these replies, the last one again and again."""
    waiting = list(replies)

    def chat(request: Received) -> Reply:
        if request.body["messages"][-1]["content"] == "probe":
            return Answer(completion('{"probe":"kxqvzw"}'))
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    with StubServer(chat=chat, version=[Answer({"version": version})]) as stub:
        yield stub


def asked(stub: StubServer) -> list[dict[str, Any]]:
    """The bodies of the requests that were made for a user."""
    bodies = [received.body for received in stub.chats]
    return [body for body in bodies if body["messages"][-1]["content"] != "probe"]


def langchain_model(stub: StubServer, **settings: Any) -> ChatRaifVLLM:
    """A chat model that leaves decoding to the server."""
    return ChatRaifVLLM(**{"base_url": stub.root, "model": "raif", "wire": "server", **settings})


def llama_index_model(stub: StubServer, **settings: Any) -> RaifVLLM:
    """A LlamaIndex model that leaves decoding to the server."""
    return RaifVLLM(**{"base_url": stub.root, "model": "raif", "wire": "server", **settings})


def called(*calls: tuple[str, str], finish_reason: str = "tool_calls", **message: Any) -> Answer:
    """A reply with calls, each a name and the text of its arguments."""
    tool_calls = [
        {"id": f"call-{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return Answer(completion(None, finish_reason=finish_reason, tool_calls=tool_calls, **message))


def call_start(name: str, arguments: str | None = None, *, index: int = 0, call_id: str = "") -> bytes:
    """The first piece of a streamed call."""
    function = {"name": name, "arguments": arguments}
    piece = {"index": index, "id": call_id or f"call-{index}", "type": "function", "function": function}
    return event(chunk(tool_calls=[piece]))


def call_piece(arguments: str, *, index: int = 0) -> bytes:
    """A later piece of a streamed call."""
    return event(chunk(tool_calls=[{"index": index, "function": {"arguments": arguments}}]))


def streamed(*events: bytes, finish_reason: str = "tool_calls", tokens: int = 5) -> EventStream:
    """A streamed reply of these events."""
    start, last = event(chunk("", role="assistant")), event(chunk("", finish_reason=finish_reason))
    return EventStream([start, *events, last, event(usage_chunk(11, tokens)), event(b"[DONE]")])
