"""How much CPU time a tool call costs the client, beside the bare HTTP library doing the same exchange.

    python benchmarks/client_overhead.py [--smoke] [--json FILE]

A stub server in a process of its own answers at once. Beside the bare side, which posts the same body, reads
the same bytes and parses the JSON of a whole reply, these take turns:

* ``engine``: the server engine alone;
* ``turn``: with the cue, the grammar, the decoder and the validation of one tool call. The goals are at most
  2 times for a reply and 4 times for a stream of 256 pieces;
* ``ChatRaifVLLM`` with a bound tool, with all that LangChain does around a call;
* ``ChatOpenAI`` on the same replies, which are plain text to it: it decodes nothing;
* ``LangChain itself``: ``invoke`` of a model that only returns a message, so without any exchange.

The CPU time of all threads of this process counts, the server's does not. ``bind_tools`` is measured for its
own sake: repeated with the same ten tools, as agents do at every step, it is to take at most 0.3 ms.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable
from typing import Any

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field, SecretStr, create_model

import measuring
import stub
from raif_integrations import ChatRaifVLLM, ServerEngine
from raif_integrations.engines.base import Completion, Request
from raif_integrations.engines.server.request import chat_body
from raif_integrations.turn import run_turn, stream_turn

QUESTION = "How many times the bare HTTP library's CPU time does a tool call take, whole and streamed?"
PIECES = 256
MESSAGES = [SystemMessage("You call tools."), HumanMessage("What is the weather in Santoramo?")]


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    unit: str | None = None


class Message(BaseModel):
    """Sends a message."""

    body: str
    to: str


class Item(BaseModel):
    """One position of an order."""

    id: int
    name: str


class Order(BaseModel):
    """Places an order."""

    items: list[Item]


CASES = (
    ("reply", "call", Weather),
    ("stream of a long string", f"text-{PIECES}", Message),
    ("stream of a table", f"table-{PIECES}", Order),
)
GOALS = {"call": 2.0, f"text-{PIECES}": 4.0, f"table-{PIECES}": 4.0}


def main() -> None:
    """Measures, and reports."""
    options = measuring.parser(__doc__).parse_args()
    rounds = 2 if options.smoke else 15
    ratios = [bind_tools(rounds, calls=20 if options.smoke else 500)]
    with stub.server() as base_url:
        for name, model, tool in CASES:
            streamed = model != "call"
            calls = (2 if options.smoke else 10) if streamed else (10 if options.smoke else 100)
            with Exchange(base_url, model, tool, streamed=streamed) as exchange:
                times = measuring.in_turn(exchange.sides(), rounds=rounds, calls=calls)
            ratios += layers(name, times, goal=GOALS[model])
    measuring.report(options, QUESTION, ratios, openai=openai.__version__, pieces=PIECES)


def layers(name: str, times: dict[str, list[float]], *, goal: float) -> list[measuring.Ratio]:
    """The ratio of each layer to the bare side; the goal is the turn's."""
    lowest = {side: round(min(seconds) * 1e6) for side, seconds in times.items()}
    return [
        measuring.Ratio(
            f"{name}, {side}",
            measuring.median_ratio(times[side], times["bare"]),
            at_most=goal if side == "turn" else None,
            details={"this_us": lowest[side], "bare_us": lowest["bare"]},
        )
        for side in times
        if side != "bare"
    ]


class Recorder(ServerEngine):
    """An engine that keeps what it is asked."""

    def __init__(self, base_url: str) -> None:
        super().__init__(base_url)
        self.requests: list[Request] = []

    def generate(self, request: Request) -> Completion:
        """Generates one reply."""
        self.requests.append(request)
        return super().generate(request)


class Ready(BaseChatModel):
    """A model that costs nothing: what is left is LangChain's own part of a call."""

    @property
    def _llm_type(self) -> str:
        return "ready"

    def _generate(self, *arguments: Any, **more: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="Ready"))])


class Exchange:
    """The same exchange on every layer.

    Args:
        base_url: The server.
        model: What it is to answer.
        tool: The tool whose arguments that is.
        streamed: Whether the reply is streamed.
    """

    def __init__(self, base_url: str, model: str, tool: type[BaseModel], *, streamed: bool) -> None:
        self._ready = Ready()
        self._url = f"{base_url}/chat/completions"
        self._streamed = streamed
        self._engine = ServerEngine(base_url)
        self._bare = http_library().Client(headers={"authorization": "Bearer EMPTY"})
        chat = ChatRaifVLLM(engine=self._engine, model=model, prompting="trained")
        self._chat = chat.bind_tools([tool], tool_choice=tool.__name__)
        self._openai = ChatOpenAI(base_url=base_url, api_key=SecretStr("EMPTY"), model=model)
        self._turn = chat._request(MESSAGES, None, self._chat.kwargs)
        with Recorder(base_url) as recorder:
            run_turn(recorder, self._turn)
        self._request = recorder.requests[0]

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bare.close()
        self._engine.close()

    def sides(self) -> dict[str, Callable[[], object]]:
        """The layers, each as one call."""
        if self._streamed:
            return {
                "bare": self._bare_stream,
                "engine": lambda: drain(self._engine.stream(self._request)),
                "turn": lambda: drain(stream_turn(self._engine, self._turn)),
                "ChatRaifVLLM": lambda: drain(self._chat.stream(MESSAGES)),
                "ChatOpenAI": lambda: drain(self._openai.stream(MESSAGES)),
            }
        return {
            "bare": self._bare_reply,
            "engine": lambda: self._engine.generate(self._request),
            "turn": lambda: run_turn(self._engine, self._turn),
            "ChatRaifVLLM": lambda: self._chat.invoke(MESSAGES),
            "ChatOpenAI": lambda: self._openai.invoke(MESSAGES),
            "LangChain itself": lambda: self._ready.invoke(MESSAGES),
        }

    def _body(self) -> dict[str, Any]:
        return chat_body(self._request, str(self._request.model), stream=self._streamed)

    def _bare_reply(self) -> object:
        return json.loads(self._bare.post(self._url, json=self._body()).content)["choices"]

    def _bare_stream(self) -> object:
        with self._bare.stream("POST", self._url, json=self._body()) as response:
            return drain(response.iter_bytes())


def drain(items: Any) -> int:
    """Takes all items; how many there were."""
    return sum(1 for _ in items)


def bind_tools(rounds: int, *, calls: int) -> measuring.Ratio:
    """Time of a repeated ``bind_tools``, as a part of the 0.3 ms it may take."""
    names = ("city", "day", "unit")
    fields: dict[str, Any] = {name: (str, Field(description=f"The {name}.")) for name in names}
    tools = [create_model(f"Tool{number}", __doc__="Does something.", **fields) for number in range(10)]
    chat = ChatRaifVLLM(base_url="http://127.0.0.1:9/v1", model="raif")
    times = measuring.in_turn(
        {"bind_tools": lambda: chat.bind_tools(tools)}, rounds=rounds, calls=calls, clock=time.perf_counter
    )
    milliseconds = min(times["bind_tools"]) * 1000
    return measuring.Ratio(
        "bind_tools, of 0.3 ms", milliseconds / 0.3, at_most=1.0, details={"bind_tools_ms": milliseconds}
    )


def http_library() -> Any:
    """The HTTP library that the installed SDK is built on, so that both sides use the same."""
    module = openai.DefaultHttpxClient.__mro__[1].__module__
    return importlib.import_module(module.partition(".")[0])


if __name__ == "__main__":
    main()
