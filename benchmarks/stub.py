"""A server that answers chat completions at once, in a process of its own.

What it answers is asked for by the name of the model: ``call`` is one tool call's arguments, ``text-256`` is
a value with one long string in 256 pieces, ``table-256`` a list of small records in 256 pieces.
"""

from __future__ import annotations

import asyncio
import functools
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

CALL = "city=Santoramo\nunit=celsius\n"
"""What the model ``call`` writes."""

_WORDS = ("The", " cooling", " pump", " in", " hall", " 3", " lost", " pressure", " at", " night", ";")
_USAGE = {"prompt_tokens": 60, "total_tokens": 160, "completion_tokens": 100}


@contextmanager
def server() -> Iterator[str]:
    """Starts the server; gives its base URL."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def pieces(model: str) -> list[str]:
    """What a model writes, cut as it is streamed."""
    kind, _, number = model.partition("-")
    if kind == "text":
        words = [_WORDS[index % len(_WORDS)] for index in range(int(number) - 2)]
        return ["body=", *words, "\nto=ana@example.org"]
    if kind == "table":
        return ["items", "::id,name", *_cells(int(number) - 2)]
    return CALL.splitlines(keepends=True)


def _cells(count: int) -> Iterator[str]:
    """Rows of a table in three pieces each; the last one ends with the text."""
    for piece in range(count):
        row = piece // 3
        yield (f"\nitems[{row}]=", f"{100 + row}", ",lamp")[piece % 3 if piece < 3 * (count // 3) else 2]


def _serve(pipe: Connection) -> None:
    asyncio.run(_listen(pipe))


async def _listen(pipe: Connection) -> None:
    listening = await asyncio.start_server(_converse, "127.0.0.1", 0)
    pipe.send(listening.sockets[0].getsockname()[1])
    await listening.serve_forever()


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            if not head.startswith("post /v1/chat/completions "):
                writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                continue
            length = int(head.partition("content-length:")[2].split("\r\n")[0])
            body = json.loads(await reader.readexactly(length))
            # Each piece in a packet of its own, as a server sends them.
            for packet in _stream(body["model"]) if body.get("stream") else _reply(body["model"]):
                writer.write(packet)
                await writer.drain()
                await asyncio.sleep(0)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


@functools.cache
def _reply(model: str) -> list[bytes]:
    message = {"role": "assistant", "content": "".join(pieces(model))}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", "stop_reason": None}
    body = json.dumps(_head(model, "chat.completion") | {"choices": [choice], "usage": _USAGE}).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return [head % len(body) + body]


@functools.cache
def _stream(model: str) -> list[bytes]:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    events = [_chunk(model, _choice(piece)) for piece in pieces(model)]
    events += [_chunk(model, _choice("", "stop")), _chunk(model, [], _USAGE), b"[DONE]"]
    packets = [b"data: " + event + b"\n\n" for event in events]
    return [head, *(b"%x\r\n%b\r\n" % (len(packet), packet) for packet in packets), b"0\r\n\r\n"]


def _chunk(model: str, choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> bytes:
    payload = _head(model, "chat.completion.chunk") | {"choices": choices}
    return json.dumps(payload | ({"usage": usage} if usage else {})).encode()


def _head(model: str, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-9e77c3124d5d23fe", "object": kind, "created": 1796000000, "model": model}


def _choice(text: str, finish_reason: str | None = None) -> list[dict[str, Any]]:
    return [{"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": finish_reason}]
