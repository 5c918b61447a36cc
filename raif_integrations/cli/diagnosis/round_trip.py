"""Whether RAIF goes to a model and comes back: a grammar, an object, a tool call and a stream."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Final

from raif_integrations.cli.diagnosis.findings import Finding, attempt
from raif_integrations.contract import OutputContract
from raif_integrations.engines.base import Engine, GrammarConstraint, Request, Sampling, ServerDecoding
from raif_integrations.turn import NamedTool, TextDelta, Tool, TurnRequest, TurnResult, run_turn, stream_turn

# Nothing a model would say of itself.
_GRAMMAR: Final = 'root ::= "zq" [3-5] [3-5] [3-5] "-" ("lim" | "tam")'
_SENTENCE: Final = re.compile(r"zq[3-5]{3}-(lim|tam)")

_PERSON: Final = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}},
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}
_PERSON_TEXT: Final = "Extract the data: Ada Okoye is 34 years old and lives in Lagos."
_PERSON_VALUE: Final = {"name": "Ada Okoye", "age": 34, "city": "Lagos"}

_WEATHER: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_WEATHER_PURPOSE: Final = "Get the current weather for a city"
_WEATHER_TEXT: Final = "What is the weather in Oslo?"
_WEATHER_VALUE: Final = {"city": "Oslo"}

_SAMPLING: Final = Sampling(temperature=0, max_tokens=128)


def check_round_trip(engine: Engine, model: str | None) -> Iterator[Finding]:
    """Lets a model write RAIF.

    Args:
        engine: Who generates.
        model: Name of the model or adapter to ask; ``None`` is the engine's default.

    Yields:
        What was found; nothing more after a plain chat fails.
    """
    with attempt("chat") as chat:
        started = time.monotonic()
        messages = [{"role": "user", "content": "Say hello."}]
        reply = engine.generate(Request(messages, Sampling(temperature=0, max_tokens=16), model=model))
        seconds = time.monotonic() - started
        yield Finding(
            "ok",
            "chat",
            f"{reply.model} answered with {reply.usage.completion_tokens} tokens in {seconds:.1f} s",
        )
    yield from chat.findings
    if chat.failed:
        return
    yield from _check_grammar(engine, model)
    yield from _check_output(engine, model)
    yield from _check_call(engine, model)


def check_any_client(engine: Engine, model: str | None) -> Iterator[Finding]:
    """Calls a tool as an OpenAI client would, with ``tools`` in the request and JSON in the reply.

    Args:
        engine: An engine for a server whose plugin decodes.
        model: Name of the model or adapter to ask.
    """
    function = {"name": "get_weather", "description": _WEATHER_PURPOSE, "parameters": _WEATHER}
    decoding = ServerDecoding(
        tools=[{"type": "function", "function": function}],
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
    )
    with attempt("any client") as asked:
        messages = [{"role": "user", "content": _WEATHER_TEXT}]
        reply = engine.generate(Request(messages, _SAMPLING, model=model, server_decoding=decoding))
        written = "".join(piece.arguments for piece in reply.tool_calls)
        try:
            fits = isinstance(json.loads(written)["city"], str)
        except (ValueError, KeyError, TypeError):
            fits = False
        if fits:
            yield Finding("ok", "any client", f"{written}, decoded by the server")
        else:
            yield Finding(
                "fail",
                "any client",
                f"the server answered with arguments that do not fit: {written!r}",
                _WEAK,
            )
    yield from asked.findings


def _check_grammar(engine: Engine, model: str | None) -> Iterator[Finding]:
    with attempt("grammar") as grammar:
        messages = [{"role": "user", "content": "Say hello."}]
        reply = engine.generate(Request(messages, _SAMPLING, GrammarConstraint(_GRAMMAR), model))
        text = reply.text or reply.reasoning or ""
        if _SENTENCE.fullmatch(text.strip()):
            yield Finding("ok", "grammar", f"`structured_outputs` binds what is written ({text.strip()})")
        else:
            yield Finding(
                "fail",
                "grammar",
                f"`structured_outputs` was sent and had no effect: the reply was {text[:60]!r}",
                "Use vLLM 0.12 or newer, and let a gateway before it pass unknown fields on. Until then set "
                "constrain=False: replies are then validated and asked for again, but not guaranteed.",
            )
    yield from grammar.findings


def _check_output(engine: Engine, model: str | None) -> Iterator[Finding]:
    request = TurnRequest(
        [{"role": "user", "content": _PERSON_TEXT}],
        sampling=_SAMPLING,
        model=model,
        output=OutputContract.from_json_schema(_PERSON, name="person"),
    )
    with attempt("structured output") as output:
        yield _judged_output("structured output", run_turn(engine, request))
    yield from output.findings
    with attempt("streaming") as streaming:
        pieces: list[str] = []
        for event in stream_turn(engine, request):
            if isinstance(event, TextDelta):
                pieces.append(event.text)
            if isinstance(event, TurnResult):
                yield _judged_stream("streaming", pieces, event)
    yield from streaming.findings


def _judged_output(subject: str, result: TurnResult) -> Finding:
    decoded = result.output
    assert decoded is not None
    if not decoded.ok:
        wrong = "; ".join(map(str, decoded.errors[:3])) or "it was cut off"
        return Finding("fail", subject, f"what the model wrote is no valid object: {wrong}", _WEAK)
    return _judged_value(subject, decoded.value, _PERSON_VALUE, result)


def _judged_stream(subject: str, pieces: list[str], result: TurnResult) -> Finding:
    judged = _judged_output(subject, result)
    if judged.level == "fail":
        return judged
    assert result.output is not None
    if json.loads("".join(pieces)) != result.output.value:
        text = "".join(pieces)
        return Finding("fail", subject, f"the pieces are not the object they end with: {text[:120]}")
    return Finding("ok", subject, f"{len(pieces)} pieces of JSON text make up the object")


def _check_call(engine: Engine, model: str | None) -> Iterator[Finding]:
    tool = Tool(
        "get_weather",
        _WEATHER_PURPOSE,
        OutputContract.from_json_schema(_WEATHER, name="get_weather"),
    )
    request = TurnRequest(
        [{"role": "user", "content": _WEATHER_TEXT}],
        sampling=_SAMPLING,
        model=model,
        tools=(tool,),
        tool_choice=NamedTool(tool.name),
    )
    with attempt("tool call") as call:
        result = run_turn(engine, request)
        if result.tool_calls:
            yield _judged_value("tool call", result.tool_calls[0].arguments, _WEATHER_VALUE, result)
        else:
            yield Finding("fail", "tool call", result.invalid_tool_calls[0].error, _WEAK)
    yield from call.findings


_WEAK: Final = "Try an adapter trained on RAIF, or a larger model."


def _judged_value(subject: str, value: object, expected: object, result: TurnResult) -> Finding:
    shown = json.dumps(value, ensure_ascii=False)
    wrote = f"{result.report.completion_tokens} tokens of {(result.report.wire or 'json').upper()}"
    if value == expected:
        return Finding("ok", subject, f"{shown} from {wrote}")
    return Finding(
        "warn", subject, f"{shown} from {wrote}: it fits the schema, but is not what the text says", _WEAK
    )
