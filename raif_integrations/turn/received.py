"""What a server decoded, or left as the model wrote it, on its way to a contract's decoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from raif_integrations.contract import OutputContract
from raif_integrations.contract.report import Decoded
from raif_integrations.conversation.tools import Tool
from raif_integrations.engines.base import FinishReason, ToolCallPiece
from raif_integrations.turn.generations import new_call_id
from raif_integrations.turn.sinks import MakeEvent, ValueSink
from raif_integrations.turn.types import ToolCallDelta, ToolCallStart, TurnEvent


class ReceivedValue:
    """Decodes a value that comes as JSON, as RAIF, or in pieces of either.

    Which of them it is shows in its first character. A server gives JSON where its plugin decoded, and
    the model's own RAIF where it did not get to it: raif-vllm neither decodes a streamed
    ``response_format`` nor the arguments of a tool that was named.

    Args:
        contract: What the value must look like.
        event: Makes the events.
        streaming: Hand out JSON text as soon as it is certain.
    """

    is_data: ClassVar[bool] = True

    def __init__(self, contract: OutputContract, event: MakeEvent, *, streaming: bool) -> None:
        self._contract = contract
        self._event = event
        self._streaming = streaming
        self._blank = ""
        self._sink: ValueSink | None = None

    @property
    def contract(self) -> OutputContract:
        """What the value must look like; lost fields are asked for in its own form."""
        return self._contract

    @property
    def text(self) -> str:
        """The text so far."""
        return self._blank if self._sink is None else self._sink.text

    @property
    def json(self) -> str:
        """JSON text that is certain so far: the value or its beginning."""
        return "" if self._sink is None else self._sink.json

    def push(self, text: str) -> Iterator[TurnEvent]:
        """Takes new text and yields the JSON that became certain."""
        if self._sink is None:
            text, self._blank = self._blank + text, ""
            if not text.strip():
                self._blank = text
                return
        yield from self._chosen(text).push(text)

    def finish(self, finish_reason: FinishReason) -> Decoded:
        """Ends the text and decodes the whole."""
        return self._chosen("").finish(finish_reason)

    def settle(self, decoded: Decoded) -> Decoded:
        """Takes the final outcome, after repairs; see :meth:`ValueSink.settle`."""
        return self._chosen("").settle(decoded)

    def rest(self) -> Iterator[TurnEvent]:
        """Yields the JSON text that was held back."""
        yield from self._chosen("").rest()

    def _chosen(self, text: str) -> ValueSink:
        if self._sink is None:
            contract = _json_form(self._contract) if self._is_json(text.lstrip()) else self._contract
            self._sink = ValueSink(contract, self._event, streaming=self._streaming, constrained=False)
        return self._sink

    def _is_json(self, text: str) -> bool:
        envelope = self._contract.envelope
        # A value that is no object travels as RAIF under a key, and as JSON by itself.
        return bool(text) and (text[0] in '{["' or (envelope is not None and text[0] != envelope[0]))


def _json_form(contract: OutputContract) -> OutputContract:
    """The contract of the same schema for JSON text."""
    if contract.wire == "json":
        return contract
    return OutputContract.from_json_schema(
        contract.schema, name=contract.name, description=contract.description, wire="json"
    )


class ReceivedCall:
    """A tool call that comes in pieces.

    Args:
        index: Number of the call in the reply.
        call_id: Its id.
        name: Name of the tool, as the server gives it.
        tool: The tool of that name, if there is one.
        streaming: Hand out JSON text as soon as it is certain.

    Attributes:
        value: Takes the arguments; ``None`` if there is no such tool, or it has no parameters.
    """

    def __init__(self, index: int, call_id: str, name: str, tool: Tool | None, *, streaming: bool) -> None:
        self.index = index
        self.id = call_id
        self.name = name
        self.tool = tool
        self.value: ReceivedValue | None = None
        self._text: list[str] = []
        if tool is not None and tool.has_parameters:
            self.value = ReceivedValue(
                tool.contract, lambda json, value: ToolCallDelta(index, json, value), streaming=streaming
            )

    @property
    def text(self) -> str:
        """The arguments as they came."""
        return "".join(self._text)

    def push(self, arguments: str) -> Iterator[TurnEvent]:
        """Takes new text of the arguments and yields the JSON that became certain."""
        self._text.append(arguments)
        if self.value is not None and arguments:
            yield from self.value.push(arguments)


class ReceivedCalls:
    """The tool calls of one reply.

    A server's numbers and ids are not relied on: calls are numbered in the order they begin, and an id
    that is missing or comes twice is replaced.

    Args:
        tools: The tools that may be called, by name.
        parallel: More than one call is allowed; otherwise later ones are passed over.
        streaming: Hand out JSON text as soon as it is certain.
    """

    def __init__(self, tools: Mapping[str, Tool], *, parallel: bool, streaming: bool) -> None:
        self._tools = tools
        self._parallel = parallel
        self._streaming = streaming
        self._by_number: dict[int, ReceivedCall | None] = {}
        self.calls: list[ReceivedCall] = []

    def take(self, pieces: Sequence[ToolCallPiece]) -> Iterator[TurnEvent]:
        """Takes new pieces; a call begins with the piece that names its tool."""
        for piece in pieces:
            if piece.index not in self._by_number:
                if piece.name is None:
                    continue
                call = self._begin(piece.id, piece.name)
                self._by_number[piece.index] = call
                if call is not None:
                    yield ToolCallStart(call.index, call.id, call.name)
            begun = self._by_number[piece.index]
            if begun is not None:
                yield from begun.push(piece.arguments)

    def _begin(self, call_id: str | None, name: str) -> ReceivedCall | None:
        if self.calls and not self._parallel:
            return None
        if call_id is None or any(call.id == call_id for call in self.calls):
            call_id = new_call_id()
        call = ReceivedCall(len(self.calls), call_id, name, self._tools.get(name), streaming=self._streaming)
        self.calls.append(call)
        return call
