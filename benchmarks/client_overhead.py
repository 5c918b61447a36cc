"""How much CPU the server engine costs a client, beside the bare HTTP library doing the same exchange.

    python benchmarks/client_overhead.py [--smoke] [--json FILE]

A stub server in a process of its own answers at once. Both sides take turns in one run; only the CPU
time of the calling thread counts, so neither the server nor other programs are measured. The bare
side posts the same body and reads the same bytes, and parses the JSON of a whole reply; of a stream it
reads the bytes only. The lowest of the rounds counts for each side. The goals are 2 times for a reply
and 4 times for a stream of 256 pieces.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import openai

from raif_integrations.engines.base import GrammarConstraint, Request, Sampling
from raif_integrations.engines.server import ServerEngine
from raif_integrations.engines.server.request import chat_body

PIECES = 256
REQUEST = Request(
    messages=[
        {"role": "system", "content": "You call tools."},
        {"role": "user", "content": "Weather in Santoramo?\n\n<schema>\ncity:s\nunit:s?\n</schema>"},
    ],
    sampling=Sampling(temperature=0.0, max_tokens=256),
    constraint=GrammarConstraint('root ::= "city=" [A-Za-z ]+ ("\\nunit=" [a-z]+)? "\\n"?'),
    model="served",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """CPU time of one exchange in microseconds, lowest of the rounds."""

    name: str
    engine_us: float
    bare_us: float
    goal: float

    @property
    def ratio(self) -> float:
        """How many times the bare library's time the engine takes."""
        return self.engine_us / self.bare_us


def main() -> None:
    """Measures, prints a line for each case, and writes the results as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a few exchanges, to see that it runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    options = parser.parse_args()
    results = measure(rounds=2 if options.smoke else 15, calls=5 if options.smoke else 100)
    for result in results:
        sys.stdout.write(
            f"{result.name}: {result.engine_us:.0f} µs of CPU, {result.ratio:.2f} times "
            f"the bare HTTP library ({result.bare_us:.0f} µs; goal {result.goal:g})\n"
        )
    if options.json is not None:
        rows = [asdict(result) | {"ratio": result.ratio} for result in results]
        report = {"openai": openai.__version__, "pieces": PIECES, "results": rows}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


def measure(*, rounds: int, calls: int) -> list[Measured]:
    """Measures a reply and a stream.

    Args:
        rounds: How often the two sides take turns.
        calls: Exchanges in a turn; a stream counts as ten.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    base_url = f"http://127.0.0.1:{ours.recv()}/v1"
    url = f"{base_url}/chat/completions"
    library = http_library()
    headers = {"authorization": "Bearer EMPTY"}
    try:
        with ServerEngine(base_url) as engine, library.Client(headers=headers) as client:

            def engine_reply() -> None:
                assert engine.generate(REQUEST).text

            def bare_reply() -> None:
                response = client.post(url, json=chat_body(REQUEST, "served", stream=False))
                assert json.loads(response.content)["choices"]

            def engine_stream() -> None:
                assert sum(1 for _ in engine.stream(REQUEST)) == PIECES + 1

            def bare_stream() -> None:
                body = chat_body(REQUEST, "served", stream=True)
                with client.stream("POST", url, json=body) as response:
                    assert sum(map(len, response.iter_bytes()))

            streams = max(1, calls // 10)
            return [
                take_turns("reply", engine_reply, bare_reply, rounds, calls, goal=2.0),
                take_turns(f"stream of {PIECES}", engine_stream, bare_stream, rounds, streams, goal=4.0),
            ]
    finally:
        server.terminate()
        server.join()


def take_turns(
    name: str,
    engine: Callable[[], None],
    bare: Callable[[], None],
    rounds: int,
    calls: int,
    *,
    goal: float,
) -> Measured:
    """Lowest CPU time of both sides, measured in turn."""
    engine()
    bare()
    times = [(cpu_time(engine, calls), cpu_time(bare, calls)) for _ in range(rounds)]
    return Measured(
        name, engine_us=min(pair[0] for pair in times), bare_us=min(pair[1] for pair in times), goal=goal
    )


def cpu_time(call: Callable[[], None], calls: int) -> float:
    """CPU time of the calling thread for one call, in microseconds."""
    start = time.thread_time_ns()
    for _ in range(calls):
        call()
    return (time.thread_time_ns() - start) / calls / 1000


def http_library() -> Any:
    """The HTTP library that the installed SDK is built on, so that both sides use the same."""
    module = openai.DefaultHttpxClient.__mro__[1].__module__
    return importlib.import_module(module.partition(".")[0])


def serve(pipe: Connection) -> None:
    """Answers chat completions, each piece of a stream in a packet of its own, and tells its port."""
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    server = await asyncio.start_server(_converse, "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length:")[2].split("\r\n")[0])
            body = json.loads(await reader.readexactly(length))
            pieces = _STREAM if body.get("stream") else [_REPLY]
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def _chunk(choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> bytes:
    payload = {
        "id": "chatcmpl-9e77c3124d5d23fe",
        "object": "chat.completion.chunk",
        "created": 1796000000,
        "model": "served",
        "choices": choices,
    }
    return b"data: " + json.dumps(payload | ({"usage": usage} if usage else {})).encode() + b"\n\n"


def _packet(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _choice(text: str, finish_reason: str | None = None) -> list[dict[str, Any]]:
    return [{"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": finish_reason}]


_USAGE = {"prompt_tokens": 60, "total_tokens": 60 + PIECES, "completion_tokens": PIECES}
_REPLY_BODY = json.dumps(
    {
        "id": "chatcmpl-9e77c3124d5d23fe",
        "object": "chat.completion",
        "created": 1796000000,
        "model": "served",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "city=Santoramo\nunit=celsius\n"},
                "logprobs": None,
                "finish_reason": "stop",
                "stop_reason": None,
            }
        ],
        "usage": {"prompt_tokens": 60, "total_tokens": 72, "completion_tokens": 12},
    }
).encode()
_REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(_REPLY_BODY),
    _REPLY_BODY,
)
_STREAM = [
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    *(_packet(_chunk(_choice(" word"))) for _ in range(PIECES)),
    _packet(_chunk(_choice("", "stop"))),
    _packet(_chunk([], _USAGE)),
    _packet(b"data: [DONE]\n\n"),
    b"0\r\n\r\n",
]


if __name__ == "__main__":
    main()
