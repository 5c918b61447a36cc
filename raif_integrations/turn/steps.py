"""The course of a turn, without input or output.

:func:`take_turn` is a generator that asks its driver for generations and yields events. It never
calls an engine, so one text serves sync and async, streamed and not; the drivers in ``drive.py``
are a few lines each.

The course: with tools to choose from, a plan (names only); then the planned calls, the value or the
free text; then fields that came back missing or broken are asked for again.
"""

from __future__ import annotations

import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from raif_integrations.contract import OutputContract
from raif_integrations.contract.report import Decoded
from raif_integrations.conversation.content import inert, without_turn_markers
from raif_integrations.conversation.history import arguments_text, as_turns
from raif_integrations.conversation.prompt import cue_block, with_block
from raif_integrations.conversation.reasoning import ReasoningSplitter
from raif_integrations.conversation.routing import REPLY, plan_block, plan_grammar, read_plan
from raif_integrations.conversation.tools import NamedTool, Tool, check_tools
from raif_integrations.engines.base import (
    Constraint,
    Delta,
    FinishReason,
    GrammarConstraint,
    JsonConstraint,
    Message,
    Request,
)
from raif_integrations.errors import OutputError, TruncatedOutputError
from raif_integrations.turn.protocol import Next, Open, Step, Steps
from raif_integrations.turn.sinks import MakeEvent, PlainSink, Sink, TextSink, ValueSink
from raif_integrations.turn.tally import Tally
from raif_integrations.turn.types import (
    Growing,
    InvalidToolCall,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    TurnEvent,
    TurnRequest,
)


@dataclass(frozen=True, slots=True)
class _Generated:
    text: str
    finish_reason: FinishReason


def take_turn(request: TurnRequest, *, trained: bool, streaming: bool) -> Steps:
    """Takes one turn.

    Args:
        request: The turn.
        trained: The model was trained on RAIF cues; decides how the schema is shown.
        streaming: Events are looked at as they come. Otherwise nothing is committed before a value is
            whole, so that any field can still be repaired.

    Yields:
        :class:`Open` and :class:`Next`, to be answered by the driver, and events; the last is a
        :class:`TurnResult`.

    Raises:
        RequestError: The messages cannot be sent.
        ConfigurationError: The tools or the tool choice contradict each other.
        OutputError: A call is required, and the model named no tool.
    """
    yield from _Turn(request, trained=trained, streaming=streaming).take()


class _Turn:
    def __init__(self, request: TurnRequest, *, trained: bool, streaming: bool) -> None:
        check_tools(request.tools, request.tool_choice)
        self._request = request
        self._trained = trained
        self._streaming = streaming
        self._tools = {tool.name: tool for tool in request.tools}
        self._offered = () if request.tool_choice == "none" else request.tools
        self._turns = as_turns(
            request.messages,
            contracts={name: tool.contract for name, tool in self._tools.items()},
            neutralise_tags=bool(self._offered or request.output),
        )
        self._opened = 0
        self._tally = Tally()

    def take(self) -> Steps:
        names = yield from self._plan()
        if names:
            yield from self._make_calls(names)
        elif self._request.output is not None:
            yield from self._write_value(self._request.output)
        else:
            yield from self._reply()
        yield self._tally.result()

    # The plan

    def _plan(self) -> Generator[Step, Delta | None, tuple[str, ...]]:
        request = self._request
        if not self._offered:
            return ()
        if isinstance(request.tool_choice, NamedTool):
            return (request.tool_choice.name,)
        may_reply = request.tool_choice == "auto"
        if len(self._offered) == 1 and not may_reply:
            return (self._offered[0].name,)
        parallel = request.parallel_tool_calls
        block = plan_block(self._offered, trained=self._trained, may_reply=may_reply, parallel=parallel)
        grammar = plan_grammar(self._offered, may_reply=may_reply, parallel=parallel)
        (number,) = yield from self._open(
            self._generation(with_block(self._turns, block), GrammarConstraint(grammar))
        )
        written = yield from self._read(number, PlainSink())
        cut_off = written.finish_reason == "length"
        names = read_plan(
            written.text, self._offered, may_reply=may_reply, parallel=parallel, cut_off=cut_off
        )
        if not names and not may_reply:
            raise _no_call(written.text, cut_off=cut_off)
        self._tally.plan = names or (REPLY,)
        return names

    # What comes after it

    def _reply(self) -> Steps:
        sampling = self._request.sampling
        (number,) = yield from self._open(replace(self._generation(self._turns, None), sampling=sampling))
        yield from self._read(number, TextSink(self._tally))

    def _write_value(self, contract: OutputContract) -> Steps:
        def event(json: str, growing: Growing) -> TurnEvent:
            self._tally.text.append(json)
            return TextDelta(json, growing)

        sink = self._value_sink(contract, event)
        turns = self._asking(contract)
        (number,) = yield from self._open(self._generation(turns, _constraint(contract)))
        self._tally.output = yield from self._finish_value(number, sink, turns)

    def _make_calls(self, names: tuple[str, ...]) -> Steps:
        """Fills the planned calls: side by side, except that a repeated tool sees its earlier calls."""
        fresh = {
            index: self._asking(self._tools[name].contract, name)
            for index, name in enumerate(names)
            if self._tools[name].has_parameters and name not in names[:index]
        }
        numbers = yield from self._open(
            *(
                self._generation(turns, _constraint(self._tools[names[index]].contract))
                for index, turns in fresh.items()
            )
        )
        opened = {
            index: (number, turns) for (index, turns), number in zip(fresh.items(), numbers, strict=True)
        }
        made: list[ToolCall | InvalidToolCall] = []
        for index, name in enumerate(names):
            call = yield from self._make_call(index, self._tools[name], opened.get(index), made)
            made.append(call)
            self._tally.add_call(call)

    def _make_call(
        self,
        index: int,
        tool: Tool,
        opened: tuple[int, list[Message]] | None,
        made: list[ToolCall | InvalidToolCall],
    ) -> Generator[Step, Delta | None, ToolCall | InvalidToolCall]:
        call_id = f"call_{uuid.uuid4().hex[:24]}"
        yield ToolCallStart(index, call_id, tool.name)
        if not tool.has_parameters:
            yield ToolCallDelta(index, "{}")
            call: ToolCall | InvalidToolCall = ToolCall(call_id, tool.name, {}, "")
        else:
            sink = self._value_sink(tool.contract, lambda json, value: ToolCallDelta(index, json, value))
            if opened is None:
                turns = self._asking(tool.contract, tool.name, [one for one in made if one.name == tool.name])
                (number,) = yield from self._open(self._generation(turns, _constraint(tool.contract)))
                opened = (number, turns)
            decoded = yield from self._finish_value(opened[0], sink, opened[1])
            call = _call(call_id, tool.name, decoded, sink.text)
        yield ToolCallEnd(index, call)
        return call

    # Values

    def _asking(
        self, contract: OutputContract, tool: str = "", made: list[ToolCall | InvalidToolCall] | None = None
    ) -> list[Message]:
        """The conversation with the cue in its last user turn."""
        turns = self._turns
        if made:
            calls = "\n".join(_shown_call(call) for call in made)
            turns = [*turns, {"role": "assistant", "content": calls}]
        purpose = f"Give the arguments for the next call of {tool}." if tool else ""
        return with_block(turns, cue_block(contract, trained=self._trained, purpose=purpose))

    def _value_sink(self, contract: OutputContract, event: MakeEvent) -> ValueSink:
        return ValueSink(
            contract, event, streaming=self._streaming, constrained=self._request.options.constrain
        )

    def _finish_value(
        self, number: int, sink: ValueSink, turns: list[Message]
    ) -> Generator[Step, Delta | None, Decoded]:
        """Reads a value to its end and asks again for what is missing or broken in it."""
        written = yield from self._read(number, sink)
        decoded = sink.finish(written.finish_reason)
        for _ in range(self._request.options.repair_attempts):
            patch = None if decoded.ok or decoded.truncated else sink.contract.missing(decoded)
            if patch is None:
                break
            said = without_turn_markers(decoded.raif or written.text or "-")
            asked = [*turns, {"role": "assistant", "content": said}]
            asked = with_block(
                asked, cue_block(patch, trained=self._trained, purpose=_what_is_wrong(decoded))
            )
            (again,) = yield from self._open(self._generation(asked, _constraint(patch)))
            answer = yield from self._read(again, PlainSink())
            decoded = sink.contract.merge(
                decoded, patch.decode(answer.text, finished=answer.finish_reason == "stop")
            )
            self._tally.repair_requests += 1
        decoded = sink.settle(decoded)
        yield from sink.rest()
        self._tally.add_value(sink.contract, decoded, sink.text)
        return decoded

    # Generations

    def _generation(self, turns: list[Message], constraint: Constraint | None) -> Request:
        """A request for structured text: a user's stop strings would cut RAIF short, so they do not apply."""
        request = self._request
        return Request(
            messages=turns,
            sampling=replace(request.sampling, stop=()),
            constraint=constraint if request.options.constrain else None,
            model=request.model,
            chat_template_kwargs=request.chat_template_kwargs,
            timeout=request.timeout,
        )

    def _open(self, *requests: Request) -> Generator[Step, Delta | None, list[int]]:
        if requests:
            yield Open(requests)
        numbers = list(range(self._opened, self._opened + len(requests)))
        self._opened += len(requests)
        return numbers

    def _read(self, number: int, sink: Sink) -> Generator[Step, Delta | None, _Generated]:
        """Reads a generation to its end; reasoning is handed on, the answer goes into the sink.

        A server's reasoning parser takes everything for reasoning where a model does not think. Data is
        then found there.
        """
        splitter = ReasoningSplitter()
        parts: list[str] = []
        set_apart: list[str] = []
        finish_reason: FinishReason = "abort"
        while (delta := (yield Next(number))) is not None:
            self._tally.note(delta)
            finish_reason = delta.finish_reason or finish_reason
            set_apart.append(delta.reasoning or "")
            thought, text = splitter.push(delta.text) if delta.text else ("", "")
            if delta.finish_reason is not None:
                held_thought, held_text = splitter.finish()
                thought, text = thought + held_thought, text + held_text
            if reasoning := (delta.reasoning or "") + thought:
                self._tally.reasoning.append(reasoning)
                yield ReasoningDelta(reasoning)
            if text:
                parts.append(text)
                yield from sink.push(text)
        if sink.is_data and not "".join(parts).strip() and (found := "".join(set_apart)):
            parts = [found]
            yield from sink.push(found)
        return _Generated("".join(parts), finish_reason)


def _constraint(contract: OutputContract) -> Constraint | None:
    """What the engine enforces; nothing for a schema that allows anything (vLLM then writes without end)."""
    if contract.wire == "raif":
        return GrammarConstraint(contract.grammar())
    schema = contract.schema
    return JsonConstraint(schema) if isinstance(schema, Mapping) and schema else None


def _no_call(text: str, *, cut_off: bool) -> OutputError:
    """The error for a plan that must name a tool and names none."""
    if cut_off:
        message = "The reply was cut off before it named a tool."
        return TruncatedOutputError(message, text=text, hint="Raise max_tokens.")
    message = "A call is required, but the model named none of the tools."
    return OutputError(message, text=text, hint="With constrain=True it cannot write anything else.")


def _call(call_id: str, name: str, decoded: Decoded, text: str) -> ToolCall | InvalidToolCall:
    if decoded.ok and isinstance(decoded.value, dict):
        return ToolCall(call_id, name, decoded.value, decoded.raif)
    if decoded.truncated:
        error = f"The reply was cut off before the arguments of {name} were complete; raise max_tokens."
    else:
        error = f"The arguments of {name} do not fit its schema: {_first_errors(decoded)}."
    return InvalidToolCall(call_id, name, text, error, decoded.errors, decoded.truncated)


def _first_errors(decoded: Decoded) -> str:
    shown = "; ".join(str(error) for error in decoded.errors[:3])
    return shown + (f"; and {len(decoded.errors) - 3} more" if len(decoded.errors) > 3 else "")


def _what_is_wrong(decoded: Decoded) -> str:
    return f"Some fields are missing or wrong ({_first_errors(decoded)}). Give only these."


def _shown_call(call: ToolCall | InvalidToolCall) -> str:
    body = arguments_text(call.arguments) if isinstance(call, ToolCall) else call.text
    return "\n".join(["<tool_call>", call.name, *([inert(body)] if body else []), "</tool_call>"])
