"""The course of a turn, without input or output.

:func:`take_turn` is a generator that asks its driver for generations and yields events. It never
calls an engine, so one text serves sync and async, streamed and not; the drivers in ``drive.py``
are a few lines each.

The course here: with tools to choose from, a plan (names only); then the planned calls, the value or the
free text; then fields that came back missing or broken are asked for again. Where the server decodes,
``server_turn.py`` has the course; what both have in common is in ``generations.py``.
"""

from __future__ import annotations

from collections.abc import Generator

from raif_integrations.contract import OutputContract
from raif_integrations.contract.report import Decoded
from raif_integrations.conversation.history import arguments_text, call_text
from raif_integrations.conversation.prompt import with_block
from raif_integrations.conversation.routing import REPLY, plan_block, plan_grammar, read_plan
from raif_integrations.conversation.tools import NamedTool, Tool
from raif_integrations.engines.base import Delta, GrammarConstraint, Message
from raif_integrations.turn.generations import (
    Generations,
    finished_call,
    new_call_id,
    no_call,
)
from raif_integrations.turn.protocol import Step, Steps
from raif_integrations.turn.server_turn import ServerTurn
from raif_integrations.turn.sinks import MakeEvent, PlainSink, ValueSink
from raif_integrations.turn.types import (
    Growing,
    InvalidToolCall,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    TurnEvent,
    TurnRequest,
)


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
    course = ServerTurn if request.options.server_decoding else _Turn
    yield from course(request, trained=trained, streaming=streaming).take()


class _Turn(Generations):
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
            raise no_call(written.text, cut_off=cut_off)
        self._tally.plan = names or (REPLY,)
        return names

    # What comes after it

    def _write_value(self, contract: OutputContract) -> Steps:
        def event(json: str, growing: Growing) -> TurnEvent:
            self._tally.text.append(json)
            return TextDelta(json, growing)

        sink = self._value_sink(contract, event)
        turns = self._asking(contract)
        (number,) = yield from self._open(self._generation(turns, self._constraint(contract)))
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
                self._generation(turns, self._constraint(self._tools[names[index]].contract))
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
        call_id = new_call_id()
        yield ToolCallStart(index, call_id, tool.name)
        if not tool.has_parameters:
            yield ToolCallDelta(index, "{}")
            call: ToolCall | InvalidToolCall = ToolCall(call_id, tool.name, {}, "")
        else:
            sink = self._value_sink(tool.contract, lambda json, value: ToolCallDelta(index, json, value))
            if opened is None:
                earlier = "\n".join(_shown_call(one, tool.contract) for one in made if one.name == tool.name)
                turns = self._asking(tool.contract, tool.name, earlier)
                (number,) = yield from self._open(self._generation(turns, self._constraint(tool.contract)))
                opened = (number, turns)
            decoded = yield from self._finish_value(opened[0], sink, opened[1])
            call = finished_call(call_id, tool.name, decoded, sink)
        yield ToolCallEnd(index, call)
        return call

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
        return (yield from self._settle_value(sink, written.text, decoded, turns))


def _shown_call(call: ToolCall | InvalidToolCall, contract: OutputContract) -> str:
    body = arguments_text(call.arguments, contract) if isinstance(call, ToolCall) else call.text
    return call_text(call.name, body)
