"""Reads one generation that is calls or an answer, piece by piece.

The form is the one of :mod:`raif_integrations.conversation.one_pass`. Every character is looked at a
bounded number of times, so the cost is linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from raif_integrations.conversation.tools import Tool

if TYPE_CHECKING:
    from raif_integrations.contract import Decoded, OutputContract
    from raif_integrations.contract.stream import StreamDecoder
    from raif_integrations.conversation.one_pass import OnePass


@dataclass(frozen=True, slots=True)
class CallBegun:
    """A call begins; its arguments follow under the same ``index``."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """New arguments of a call: append-only JSON text."""

    index: int
    json: str


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """New text of the answer; with a schema, append-only JSON text."""

    text: str


ReadEvent: TypeAlias = CallBegun | ArgumentsDelta | AnswerDelta
"""What has become certain with a piece."""


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A call as it was read.

    Attributes:
        name: Name of the tool.
        json: The arguments as JSON text: all of it if ``decoded.ok``, else what was certain, without an end.
        decoded: The decoded arguments.
    """

    name: str
    json: str
    decoded: Decoded

    @property
    def is_whole(self) -> bool:
        """The arguments are complete and fit the tool's schema."""
        return self.decoded.ok and isinstance(self.decoded.value, dict)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What was read.

    Attributes:
        calls: The calls, in their order; the last may be cut off.
        text: The text of the answer; JSON text if it has a schema.
        output: The decoded answer, if it has a schema and there is one.
    """

    calls: tuple[ReadCall, ...] = ()
    text: str = ""
    output: Decoded | None = None


class CallReader:
    """Reads the arguments of one call whose tool is known beforehand.

    Args:
        tool: The tool.
        index: Number of the call.
        constrained: The text is generated under the contract's grammar.
    """

    def __init__(self, tool: Tool, *, index: int = 0, constrained: bool = True) -> None:
        self._tool = tool
        self._index = index
        self._begun = False
        self._json: list[str] = []
        self.decoder: StreamDecoder = tool.contract.decoder(constrained=constrained)

    def push(self, text: str) -> list[ReadEvent]:
        """Takes the next piece."""
        self.decoder.push(text)
        return self._told()

    def end(self, *, finished: bool = True) -> tuple[list[ReadEvent], ReadCall]:
        """Ends the arguments.

        Args:
            finished: The model ended by itself; otherwise it was cut off.
        """
        decoded = self.decoder.finish("stop" if finished else "length")
        events = self._told()
        return events, ReadCall(self._tool.name, "".join(self._json), decoded)

    def finish(self, *, finished: bool) -> tuple[list[ReadEvent], ReadResult]:
        """Ends the generation; see :meth:`end`."""
        events, call = self.end(finished=finished)
        return events, ReadResult(calls=(call,))

    def _told(self) -> list[ReadEvent]:
        events: list[ReadEvent] = []
        if not self._begun:
            self._begun = True
            events.append(CallBegun(self._index, self._tool.name))
        if json := self.decoder.take_json():
            self._json.append(json)
            events.append(ArgumentsDelta(self._index, json))
        return events


class ValueReader:
    """Reads an answer that has a schema.

    Args:
        contract: What it must look like.
        constrained: The text is generated under the contract's grammar.
    """

    def __init__(self, contract: OutputContract, *, constrained: bool = True) -> None:
        self._decoder: StreamDecoder = contract.decoder(constrained=constrained)
        self._json: list[str] = []

    def push(self, text: str) -> list[ReadEvent]:
        """Takes the next piece."""
        self._decoder.push(text)
        return self._told()

    def finish(self, *, finished: bool) -> tuple[list[ReadEvent], ReadResult]:
        """Ends the generation; ``finished`` is false if it was cut off."""
        decoded = self._decoder.finish("stop" if finished else "length")
        events = self._told()
        return events, ReadResult(text="".join(self._json), output=decoded)

    def _told(self) -> list[ReadEvent]:
        if not (json := self._decoder.take_json()):
            return []
        self._json.append(json)
        return [AnswerDelta(json)]


class TextReader:
    """Reads free text: it is handed on as it comes."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def push(self, text: str) -> list[ReadEvent]:
        """Takes the next piece."""
        if not text:
            return []
        self._parts.append(text)
        return [AnswerDelta(text)]

    def finish(self, *, finished: bool) -> tuple[list[ReadEvent], ReadResult]:
        """Ends the generation; free text is whole wherever it ends."""
        return [], ReadResult(text="".join(self._parts))


class OnePassReader:
    """Reads calls or an answer.

    Text that is neither (possible only without the grammar) is an answer as it stands: nothing a model
    wrote is lost.

    Args:
        choice: What the model could choose from.
        constrained: The text is generated under the grammar.
    """

    def __init__(self, choice: OnePass, *, constrained: bool = True) -> None:
        self._choice = choice
        self._constrained = constrained
        self._tools = {tool.name: tool for tool in choice.tools}
        self._names = frozenset(self._tools) | ({choice.reply_word} if choice.may_reply else frozenset())
        self._beginnings = frozenset(
            name[:length] for name in self._names for length in range(1, len(name) + 1)
        )
        self._calls: list[ReadCall] = []
        self._call: CallReader | None = None
        self._answer: TextReader | ValueReader | None = None
        self._line = ""
        self._at_line_start = True

    def push(self, text: str) -> list[ReadEvent]:
        """Takes the next piece and tells what has become certain."""
        events: list[ReadEvent] = []
        position = 0
        while position < len(text):
            if self._answer is not None:
                events += self._answer.push(text[position:])
                break
            end = text.find("\n", position) + 1 or len(text)
            self._take(text[position:end], events)
            position = end
        return events

    def finish(self, *, finished: bool) -> tuple[list[ReadEvent], ReadResult]:
        """Ends the generation.

        Args:
            finished: The model ended by itself; otherwise it was cut off.

        Returns:
            The last events, and everything that was read.
        """
        events: list[ReadEvent] = []
        if self._line:
            line, self._line = self._line, ""
            if line in self._names and (self._call is None or finished):
                self._begin(line, events)
            elif finished or not self._constrained:
                self._hand_on(line, events)
        if self._call is not None:
            self._end_call(events, finished=finished)
        if self._answer is None:
            return events, ReadResult(calls=tuple(self._calls))
        last, result = self._answer.finish(finished=finished)
        events += last
        return events, ReadResult(tuple(self._calls), result.text, result.output)

    def _take(self, part: str, events: list[ReadEvent]) -> None:
        """Takes a part of a line; at the start of a line it waits as long as a name may come of it."""
        if not self._at_line_start:
            self._hand_on(part, events)
            return
        self._line += part
        line = self._line.removesuffix("\n")
        if self._line.endswith("\n") and line in self._names:
            self._line = ""
            self._begin(line, events)
        elif self._line not in self._beginnings:
            line, self._line = self._line, ""
            self._hand_on(line, events)

    def _hand_on(self, text: str, events: list[ReadEvent]) -> None:
        """Text that is no name: arguments of the open call, or an answer."""
        if self._call is None:
            self._answer = TextReader()
            events += self._answer.push(text)
            return
        events += self._call.push(text)
        self._at_line_start = text.endswith("\n") and not self._call.decoder.takes_any_line

    def _begin(self, name: str, events: list[ReadEvent]) -> None:
        if self._call is not None:
            self._end_call(events, finished=True)
        self._at_line_start = True
        tool = self._tools.get(name)
        if tool is not None:
            self._call = CallReader(tool, index=len(self._calls), constrained=self._constrained)
            events += self._call.push("")
        elif self._choice.output is None:
            self._answer = TextReader()
        else:
            self._answer = ValueReader(self._choice.output, constrained=self._constrained)

    def _end_call(self, events: list[ReadEvent], *, finished: bool) -> None:
        assert self._call is not None
        last, call = self._call.end(finished=finished)
        events += last
        self._calls.append(call)
        self._call = None
