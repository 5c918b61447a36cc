"""A small HTTP server in this process that answers as a test tells it to."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response; a body that is not bytes is sent as JSON."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class EventStream:
    """A streamed response.

    ``end``: ``complete`` ends it properly, ``break`` cuts the connection, ``hang`` keeps it open
    in silence until the client leaves. ``pause``: seconds before each piece.
    """

    pieces: Sequence[bytes]
    end: Literal["complete", "break", "hang"] = "complete"
    pause: float = 0.0


class Silence:
    """No answer at all until the client leaves."""


class Disconnect:
    """The connection is closed without an answer."""


Reply: TypeAlias = Answer | EventStream | Silence | Disconnect
Replies: TypeAlias = list[Reply] | Callable[[Received], Reply]


class StubServer:
    """Answers each path from a list (whose last reply repeats) or a function; 404 elsewhere.

    Attributes:
        received: Every request, in the order of arrival.
        abandoned_count: Number of open responses that a client left.
        most_at_once: Largest number of requests under way at the same time.
        connections: Number of connections opened so far.
        open_connections: Number of connections open now.
    """

    def __init__(self, **replies: Replies) -> None:
        self.received: list[Received] = []
        self.abandoned_count = 0
        self.most_at_once = 0
        self.connections = 0
        self.open_connections = 0
        self._under_way = 0
        self._lock = threading.Lock()
        self._replies: dict[str, Replies] = {}
        self._stopped = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        for name, given in replies.items():
            self.on(_PATHS[name], given)

    def on(self, path: str, replies: Replies | Reply) -> None:
        """Sets the replies for ``path``."""
        self._replies[path] = replies if isinstance(replies, list) or callable(replies) else [replies]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def chats(self) -> list[Received]:
        """The chat completion requests received."""
        return [request for request in self.received if request.path == _PATHS["chat"]]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._http.shutdown()
        self._http.server_close()

    def reply_for(self, request: Received) -> Reply:
        with self._lock:
            self.received.append(request)
            replies = self._replies.get(request.path, [Answer({"detail": "Not Found"}, status=404)])
            if not callable(replies):
                return replies.pop(0) if len(replies) > 1 else replies[0]
        return replies(request)

    def connected(self, change: Literal[1, -1]) -> None:
        with self._lock:
            self.connections += max(change, 0)
            self.open_connections += change

    def wait_for_no_connections(self) -> bool:
        """Whether every connection is closed within a few seconds."""
        return self._wait(lambda: self.open_connections == 0)

    def wait_for_requests(self, count: int = 1) -> bool:
        """Whether so many requests have come within a few seconds."""
        return self._wait(lambda: len(self.received) >= count)

    def wait_for_abandoned(self, count: int = 1) -> bool:
        """Whether clients have left so many open responses within a few seconds."""
        return self._wait(lambda: self.abandoned_count >= count)

    def _wait(self, condition: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + 5
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.01)
        return condition()

    def entered(self) -> None:
        with self._lock:
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)

    def left(self) -> None:
        with self._lock:
            self._under_way -= 1

    def wait_until_left(self, connection: socket.socket) -> None:
        """Waits until the client closes the connection."""
        while not self._stopped.is_set():
            if select.select([connection], [], [], 0.02)[0]:
                with self._lock:
                    self.abandoned_count += 1
                return


_PATHS = {
    "chat": "/v1/chat/completions",
    "models": "/v1/models",
    "version": "/version",
    "tokenize": "/tokenize",
}


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is part of the tests."""


def _handler(stub: StubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            stub.connected(1)

        def finish(self) -> None:
            super().finish()
            stub.connected(-1)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _answer(self) -> None:
            stub.entered()
            try:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                path, _, query = self.path.partition("?")
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = json.loads(raw) if raw else None
                reply = stub.reply_for(Received(self.command, path, query, headers, body))
                match reply:
                    case Answer():
                        self._send_answer(reply)
                    case EventStream():
                        self._send_events(reply)
                    case Silence():
                        self.close_connection = True
                        stub.wait_until_left(self.connection)
                    case Disconnect():
                        self._cut()
            finally:
                stub.left()

        def _send_answer(self, answer: Answer) -> None:
            time.sleep(answer.delay)
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            kind = "text/html" if isinstance(answer.body, bytes) else "application/json"
            self.send_response(answer.status)
            for name, value in ({"content-type": kind} | answer.headers).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _send_events(self, stream: EventStream) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in stream.pieces:
                time.sleep(stream.pause)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if stream.end == "complete":
                self.wfile.write(b"0\r\n\r\n")
            elif stream.end == "break":
                self._cut()
            else:
                self.close_connection = True
                stub.wait_until_left(self.connection)

        def _cut(self) -> None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    return Handler


def completion(text: str | None, *, finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    """The body of a chat completion as vLLM sends it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish_reason,
                "stop_reason": None,
            }
        ],
        "usage": {
            "prompt_tokens": 11,
            "completion_tokens": 5,
            "total_tokens": 16,
            "prompt_tokens_details": {"cached_tokens": 8},
        },
    }


def event(payload: Any) -> bytes:
    """One server-sent event."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return b"data: " + data + b"\n\n"


def chunk(
    text: str | None = None, *, finish_reason: str | None = None, usage: Any = None, **delta: Any
) -> dict[str, Any]:
    """One chunk of a streamed chat completion as vLLM sends it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "served",
        "choices": [
            {
                "index": 0,
                "delta": {"content": text, **delta},
                "logprobs": None,
                "finish_reason": finish_reason,
            }
        ],
        "usage": usage,
    }


def usage_chunk(prompt: int, completed: int) -> dict[str, Any]:
    """The chunk with the usage, which has no choices."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completed, "total_tokens": prompt + completed}
    return chunk() | {"choices": [], "usage": usage}


def reply_events(*texts: str, finish_reason: str = "stop") -> list[bytes]:
    """The events of a whole streamed reply."""
    return [
        event(chunk("", role="assistant")),
        *(event(chunk(text)) for text in texts),
        event(chunk("", finish_reason=finish_reason)),
        event(usage_chunk(11, len(texts))),
        event(b"[DONE]"),
    ]


def models(*entries: dict[str, Any]) -> dict[str, Any]:
    """The body of ``GET /v1/models``."""
    return {"object": "list", "data": [{"object": "model"} | entry for entry in entries]}
