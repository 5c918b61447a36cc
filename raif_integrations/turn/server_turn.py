"""The course of a turn on a server whose plugin shows the schema and decodes the reply.

OpenAI's own fields go out and calls or JSON come back. What comes back is held to the contract as on the
other course: typed by the schema, validated, and asked for again, in RAIF and decoded here, where the
server lost something.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from raif_integrations.contract import OutputContract
from raif_integrations.contract.report import Decoded, FieldError
from raif_integrations.conversation.tools import NamedTool, Tool
from raif_integrations.engines.base import Delta, FinishReason, Request, ServerDecoding, ToolCallPiece
from raif_integrations.turn.generations import Generations, finished_call, no_call
from raif_integrations.turn.protocol import Step, Steps
from raif_integrations.turn.received import ReceivedCall, ReceivedCalls, ReceivedValue
from raif_integrations.turn.sinks import PlainSink, TextSink
from raif_integrations.turn.types import (
    Growing,
    InvalidToolCall,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    TurnEvent,
)


class ServerTurn(Generations):
    """A turn that leaves decoding to the server; see :class:`Generations` for its arguments."""

    def take(self) -> Steps:
        """Takes the turn.

        Yields:
            What the driver has to do, and events; the last is a :class:`TurnResult`.

        Raises:
            OutputError: A call is required, and none came.
        """
        self._tally.server_decoding = True
        output = self._request.output
        if self._offered:
            text = yield from self._call_or_reply()
            # One after the other: with tools and a response format in one request, vLLM calls no tool.
            if output is not None and not (self._tally.calls or self._tally.invalid_calls):
                yield from self._write_value(output, already_written=text)
        elif output is not None:
            yield from self._write_value(output)
        else:
            yield from self._reply()
        yield self._tally.result()

    # Tools

    def _call_or_reply(self) -> Generator[Step, Delta | None, str]:
        """Has the model call tools, or reply; gives the text it wrote."""
        request = self._request
        forced = self._forced_tool()
        calls = ReceivedCalls(self._tools, parallel=request.parallel_tool_calls, streaming=self._streaming)
        if forced is not None and not forced.has_parameters:
            yield from calls.take([ToolCallPiece(0, name=forced.name)])
            yield from self._end_calls(calls, "stop")
            return ""
        (number,) = yield from self._open(self._asking_server(self._tool_fields(forced)))
        replies = request.tool_choice == "auto" and request.output is None
        written = yield from self._read(number, TextSink(self._tally) if replies else PlainSink(), calls)
        if forced is not None and not calls.calls:
            yield from calls.take([ToolCallPiece(0, name=forced.name, arguments=written.text)])
        if request.tool_choice == "required" and not calls.calls:
            raise no_call(written.text, cut_off=written.finish_reason == "length")
        yield from self._end_calls(calls, written.finish_reason)
        return written.text

    def _forced_tool(self) -> Tool | None:
        """The one tool that must be called, if it is clear which."""
        choice = self._request.tool_choice
        if isinstance(choice, NamedTool):
            return self._tools[choice.name]
        return self._offered[0] if choice == "required" and len(self._offered) == 1 else None

    def _tool_fields(self, forced: Tool | None) -> ServerDecoding:
        # A tool that must be called is named even if it is the only one: raif-vllm loses "required".
        if forced is not None:
            choice = {"type": "function", "function": {"name": forced.name}}
            return ServerDecoding(tools=[_tool_dict(forced)], tool_choice=choice)
        return ServerDecoding(
            tools=[_tool_dict(tool) for tool in self._offered],
            tool_choice="required" if self._request.tool_choice == "required" else "auto",
            parallel_tool_calls=self._request.parallel_tool_calls,
        )

    def _end_calls(self, calls: ReceivedCalls, finish_reason: FinishReason) -> Steps:
        for call in calls.calls:
            last = call is calls.calls[-1]
            ended = yield from self._end_call(call, cut_off=last and finish_reason != "stop")
            self._tally.add_call(ended)
            yield ToolCallEnd(call.index, ended)

    def _end_call(
        self, call: ReceivedCall, *, cut_off: bool
    ) -> Generator[Step, Delta | None, ToolCall | InvalidToolCall]:
        if call.tool is None:
            known = ", ".join(self._tools)
            error = f"The server calls {call.name!r}, which is no tool; known tools: {known}."
            return InvalidToolCall(call.id, call.name, call.text, error)
        if call.value is None:
            yield ToolCallDelta(call.index, "{}")
            return ToolCall(call.id, call.name, {}, "")
        decoded = yield from self._end_value(call.value, cut_off=cut_off, tool=call.name)
        return finished_call(call.id, call.name, decoded, call.value)

    # Values

    def _write_value(self, contract: OutputContract, already_written: str = "") -> Steps:
        """Has the value written, unless the text of a reply is that value already."""

        def event(json: str, growing: Growing) -> TurnEvent:
            self._tally.text.append(json)
            return TextDelta(json, growing)

        value = ReceivedValue(contract, event, streaming=self._streaming)
        finish_reason: FinishReason = "stop"
        if already_written and contract.decode(already_written).ok:
            yield from value.push(already_written)
        else:
            fields = ServerDecoding(response_format=_response_format(contract))
            (number,) = yield from self._open(self._asking_server(fields))
            finish_reason = (yield from self._read(number, value)).finish_reason
        self._tally.output = yield from self._end_value(value, cut_off=finish_reason != "stop")

    def _end_value(
        self, value: ReceivedValue, *, cut_off: bool, tool: str = ""
    ) -> Generator[Step, Delta | None, Decoded]:
        turns = self._asking(value.contract, tool)
        lost = not cut_off and not value.text.strip() and self._request.options.repair_attempts > 0
        if lost:
            # Nothing came at all: all of it is asked for, not only what is required.
            (again,) = yield from self._open(self._generation(turns, self._constraint(value.contract)))
            cut_off = (yield from self._read(again, value)).finish_reason != "stop"
            self._tally.repair_requests += 1
        decoded = value.finish("length" if cut_off else "stop")
        if cut_off and decoded.ok:
            # What a server decodes of a reply that was cut off is whole JSON of a part of the value.
            error = FieldError("", "truncated", "the reply was cut off")
            decoded = replace(decoded, ok=False, truncated=True, errors=(error,))
        return (yield from self._settle_value(value, value.text, decoded, turns, asked_again=int(lost)))

    def _asking_server(self, fields: ServerDecoding) -> Request:
        """A request with OpenAI's fields; a user's stop strings apply only where words may come back."""
        generation = self._generation(self._turns, None)
        if fields.tool_choice == "auto":
            generation = replace(generation, sampling=self._request.sampling)
        return replace(generation, server_decoding=fields)


def _tool_dict(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.contract.schema}
    return {"type": "function", "function": function}


def _response_format(contract: OutputContract) -> Mapping[str, Any]:
    if contract.schema == {"type": "object"}:
        return {"type": "json_object"}
    described = {"name": contract.name or "output", "schema": contract.schema}
    return {"type": "json_schema", "json_schema": described}
