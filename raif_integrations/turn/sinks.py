"""Where the text of a generation goes: nowhere, out as text, or through a contract's decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Protocol, TypeAlias

from raif_integrations.contract import OutputContract
from raif_integrations.contract.numerals import dump_json
from raif_integrations.contract.report import Decoded
from raif_integrations.engines.base import FinishReason, ToolCallPiece
from raif_integrations.turn.tally import Tally
from raif_integrations.turn.types import Growing, TextDelta, TurnEvent

MakeEvent: TypeAlias = Callable[[str, Growing], TurnEvent]
"""Makes an event of new JSON text and of the value that grows behind it."""


class Sink(Protocol):
    """Takes a generation piece by piece.

    Attributes:
        is_data: What comes is data for this package, not words for the user.
    """

    is_data: ClassVar[bool]

    def push(self, text: str) -> Iterator[TurnEvent]:
        """Takes new text and yields what can be told of it."""
        ...


class CallPieces(Protocol):
    """Takes the tool calls that a server decoded, piece by piece."""

    def take(self, pieces: Sequence[ToolCallPiece]) -> Iterator[TurnEvent]:
        """Takes new pieces and yields what can be told of them."""
        ...


class DecodingSink(Sink, Protocol):
    """A sink that makes a value of a contract."""

    @property
    def contract(self) -> OutputContract:
        """What the value must look like."""

    @property
    def text(self) -> str:
        """The text so far."""

    @property
    def json(self) -> str:
        """JSON text that is certain so far: the value or its beginning."""

    def settle(self, decoded: Decoded) -> Decoded:
        """Takes the final outcome, after repairs; gives what came of it."""
        ...

    def rest(self) -> Iterator[TurnEvent]:
        """Yields the JSON text that was held back."""
        ...


class PlainSink:
    """Keeps quiet: for generations that are no part of the reply."""

    is_data: ClassVar[bool] = True

    def push(self, text: str) -> Iterator[TurnEvent]:
        """Takes new text."""
        return iter(())


class TextSink:
    """Hands free text on as it comes."""

    is_data: ClassVar[bool] = False

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def push(self, text: str) -> Iterator[TurnEvent]:
        """Takes new text and yields it."""
        self._tally.text.append(text)
        yield TextDelta(text)


class ValueSink:
    """Decodes a value while it is written.

    Args:
        contract: What the value must look like.
        event: Makes the events.
        streaming: Hand out JSON text as soon as it is certain. Otherwise it is handed out at the end.
        constrained: The text is generated under the contract's grammar.
    """

    is_data: ClassVar[bool] = True

    def __init__(
        self, contract: OutputContract, event: MakeEvent, *, streaming: bool, constrained: bool
    ) -> None:
        self._contract = contract
        self._event = event
        self._streaming = streaming
        self._constrained = constrained
        self._decoder = contract.decoder(constrained=constrained, events=streaming)
        self._written: list[str] = []
        self._finish_reason: FinishReason | None = None
        self._settled: Decoded | None = None

    @property
    def contract(self) -> OutputContract:
        """What the value must look like."""
        return self._contract

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._written)

    @property
    def json(self) -> str:
        """JSON text that is certain so far: the value or its beginning."""
        if self._streaming:
            return self._decoder.json
        if self._settled is not None and self._settled.ok:
            return dump_json(self._settled.value)
        decoder = self._contract.decoder(constrained=self._constrained)
        decoder.push(self.text)
        if self._finish_reason is not None:
            decoder.finish(self._finish_reason)
        return decoder.json

    def push(self, text: str) -> Iterator[TurnEvent]:
        """Takes new text and yields the JSON that became certain."""
        self._written.append(text)
        self._decoder.push(text)
        if self._streaming:
            yield from self._send(self._decoder.take_json())

    def finish(self, finish_reason: FinishReason) -> Decoded:
        """Ends the text and decodes the whole."""
        self._finish_reason = finish_reason
        return self._decoder.finish(finish_reason)

    def settle(self, decoded: Decoded) -> Decoded:
        """Takes the final outcome, after repairs.

        Returns:
            The same; refused where a repair contradicts what was already streamed.
        """
        self._settled = self._decoder.amend(decoded) if self._streaming else decoded
        return self._settled

    def rest(self) -> Iterator[TurnEvent]:
        """Yields the JSON that was held back: all of it together is the value, or its sure beginning."""
        yield from self._send(self._decoder.take_json() if self._streaming else self.json)

    def _send(self, text: str) -> Iterator[TurnEvent]:
        if text:
            yield self._event(text, self._decoder)
