"""A RAIF-G text, line by line, to one value.

The typed tree drives the reading: every line is resolved to a place first, and the shape of the place
decides what the text means. Lines that are no leaves are what models write around a document; they are
left out only where that cannot cost a part of a value.
"""

from __future__ import annotations

from typing import Any, Literal

from raif_integrations.contract import framing
from raif_integrations.contract.emission import Emitter
from raif_integrations.contract.findings import Findings
from raif_integrations.contract.growth import may_grow
from raif_integrations.contract.layout import WHITESPACE
from raif_integrations.contract.paths import Place
from raif_integrations.contract.reading import MisreadError, load_json, parse_json
from raif_integrations.contract.recognition import PlaceBook, Recogniser
from raif_integrations.contract.sinks import Block
from raif_integrations.contract.units import Units
from raif_integrations.contract.validation import excerpt_of, path_text

_MAY_BE_FIELD = "it may be a field or not"

Phase = Literal["before", "inside", "after", "json"]


class Document:
    """Reads the lines of one text.

    Args:
        book: Places of the contract.
        envelope: Key of the envelope, or ``None``.
        emitter: Takes what is certain, or ``None`` if nobody listens.
        constrained: The text was generated under the grammar, which leaves the digits of indices free.

    Attributes:
        findings: Repairs and errors.
    """

    def __init__(
        self, book: PlaceBook, envelope: str | None, emitter: Emitter | None, *, constrained: bool
    ) -> None:
        self._book = book
        self._envelope = envelope
        self._emitter = emitter
        self._constrained = constrained
        self.findings = Findings(emitter, envelope=envelope is not None, constrained=constrained)
        self._units = Units(emitter, self.findings, constrained=constrained)
        self._recogniser = Recogniser(book)
        self._phase: Phase = "before"
        self._reasoning: str | None = None
        self._prose: list[str] = []
        self._written: list[str] = []
        self._kept = 0
        self._tail: list[str] = []
        self._json: list[str] = []
        self._growing: Place | None = None

    @property
    def root(self) -> dict[str, Any]:
        """The value so far, in its envelope."""
        return self._units.assembly.root

    @property
    def text(self) -> str:
        """The lines that make the document."""
        return "\n".join(self._written[: self._kept])

    @property
    def takes_any_line(self) -> bool:
        """A block or an array literal is open."""
        return self._phase == "inside" and self._units.takes_lines

    # Lines

    def feed(self, line: str) -> None:
        """Takes a whole line, without its line break."""
        if self._phase == "inside":
            self._written.append(line)
            if self._units.takes_lines:
                self._units.line(line)
                self._kept = len(self._written)
                return
            cells = self._units.cells_of(line)
            if cells is not None:
                self._end_tail()
                self._units.row(cells)
                self._kept = len(self._written)
                return
        elif self._phase == "json":
            self._json.append(line)
            return
        elif self._phase == "after":
            self._after(line)
            return
        elif self._skip_reasoning(line):
            return
        self._feed_line(line)

    def _feed_line(self, line: str) -> None:
        """A line outside of any unit."""
        bare = line.removesuffix("\r")
        if not bare.strip(WHITESPACE):
            if self._phase == "inside":
                self._tail.append(bare)
            return
        found = self._recogniser.find(bare, begun=self._phase != "before" or not self._prose)
        if found is None:
            self._no_leaf(bare)
            return
        leaf, place = found
        if self._phase == "before":
            self._phase = "inside"
            self._written.append(line)
        self._end_tail()
        if bare != line:
            self.findings.note_once("line_endings_normalized", "CRLF")
        if place.literal or place.spaced:
            self.findings.note("key_recognised", leaf.key, place.path)
        if leaf.relaxed:
            self.findings.note("notation_normalized", bare, place.path)
        if self._units.opens_scope(leaf, place):
            self._open_scope(place)
        else:
            self._units.leaf(leaf, place, crlf=bare != line)
        self._kept = len(self._written)

    def _open_scope(self, place: Place) -> None:
        self.findings.note("braces_flattened", path_text(place.path), place.path)
        self._recogniser.scopes.append(place)
        if self._emitter is not None:
            self._emitter.hold()

    def _skip_reasoning(self, line: str) -> bool:
        """Skips what stands between reasoning tags before the document."""
        if self._reasoning is None:
            opening = framing.REASONING.match(line)
            if opening is None:
                return False
            self._reasoning = f"</{opening.group(1)}>"
            self.findings.note_once("reasoning_removed", opening.group(0))
        end = line.find(self._reasoning)
        if end >= 0:
            rest = line[end + len(self._reasoning) :].lstrip(WHITESPACE)
            self._reasoning = None
            if rest:
                self.feed(rest)
        return True

    # Lines that are no leaves

    def _no_leaf(self, line: str) -> None:
        trimmed = line.strip(WHITESPACE)
        if self._phase == "before":
            self._before(line, trimmed)
        elif self._recogniser.scopes and trimmed in ("}", "},"):
            self._recogniser.scopes.pop()
            self._kept = len(self._written)
        elif trimmed in framing.END_MARKERS or framing.FENCE.match(line):
            self.findings.note_once("closing_marker_removed", trimmed)
            self._written.pop()
            self._phase = "after"
        else:
            self._tail.append(line)

    def _before(self, line: str, trimmed: str) -> None:
        self._prose.append(line)
        if framing.JSON_START.match(line):
            self._phase = "json"
            self._json.append(line)
            if self._emitter is not None:
                self._emitter.hold()
        elif trimmed in framing.START_MARKERS:
            self.findings.note_once("opening_marker_removed", trimmed)
        elif framing.FENCE.match(line):
            self.findings.note_once("fence_removed", trimmed)
        else:
            self.findings.note_once("text_before_removed", trimmed)
            if self._recogniser.may_be_field(line):
                self.findings.fail((), "syntax", _MAY_BE_FIELD, line)

    def _after(self, line: str) -> None:
        trimmed = line.strip(WHITESPACE)
        if trimmed and trimmed not in framing.END_MARKERS and not framing.FENCE.match(line):
            self.findings.note_once("text_after_removed", trimmed)

    def _end_tail(self) -> None:
        """Lines that were no fields turn out to stand inside the document."""
        if not self._tail:
            return
        prose = next((line for line in self._tail if line.strip(WHITESPACE)), None)
        if prose is not None:
            self.findings.fail((), "syntax", "a line inside the document is no field", prose)
        self._tail.clear()

    # The end

    def finish(self, last: str, *, complete: bool) -> None:
        """Takes the last line, which has no line break.

        Args:
            last: The line; may be empty.
            complete: The text ended by itself; otherwise the line was cut off.
        """
        starts_json = self._phase == "before" and framing.JSON_START.match(last) is not None
        if complete or self._phase == "json" or starts_json:
            if last:
                self.feed(last)
        else:
            self._cut(last)
        while self._units.block is not None:
            replay = self._units.finish_block(complete=complete)
            del self._written[len(self._written) - len(replay) :]
            self._kept = len(self._written)
            for line in replay:
                self.feed(line)
        self._units.finish(complete=complete)
        if self._phase == "json":
            self._finish_json(complete=complete)
        elif self._phase == "before" and not self._take_scalar() and self._has_only_prose():
            self.findings.fail((), "syntax", "there is no field in the text")
        self._finish_tail()
        self.findings.truncated = self.findings.truncated or not complete

    def _cut(self, last: str) -> None:
        """Reports the field that the end of a cut-off text falls into."""
        if self._units.takes_lines or self._phase != "inside" or self._units.cut_table():
            return
        found = self._recogniser.find(last, begun=True) if last.strip(WHITESPACE) else None
        if found is not None:
            self.findings.truncate(found.place.path, "the text ends inside this field")

    def _take_scalar(self) -> bool:
        """A JSON scalar in place of a document, where the value itself may be one."""
        if self._envelope is None or len(self._prose) != 1:
            return False
        try:
            value = load_json(self._prose[0].strip(WHITESPACE))
        except ValueError:
            return False
        self.findings.repairs.clear()
        self.findings.note("json_read", self._prose[0])
        self._written, self._kept = self._prose, 1
        self.root[self._envelope] = value
        return True

    def _has_only_prose(self) -> bool:
        return self.findings.has("text_before_removed") or self._reasoning is not None

    def _finish_tail(self) -> None:
        """Text behind the last field: prose, unless it may belong to a text of one line."""
        tail = [line for line in self._tail if line.strip(WHITESPACE)]
        if not tail:
            return
        field = next((line for line in tail if self._recogniser.may_be_field(line)), None)
        if field is not None:
            self.findings.fail((), "syntax", _MAY_BE_FIELD, field)
            return
        last = self._units.last
        apart = not self._tail[0].strip(WHITESPACE)
        framed = apart and self.findings.has("text_before_removed")
        if last is not None and self._units.last_is_line and last.shape.is_free_text and not framed:
            self.findings.fail(last.path, "syntax", "the lines behind it may belong to it", tail[0])
        else:
            self.findings.note("text_after_removed", tail[0])

    def _finish_json(self, *, complete: bool) -> None:
        """Reads a text that turned out to be JSON."""
        text = "\n".join(self._json).strip(WHITESPACE)
        for end in _json_ends(text):
            found, value = parse_json(text[:end], self.findings.noting(()))
            if found:
                self.findings.note("json_read", text[:end])
                if text[end:].strip(WHITESPACE).strip("`"):
                    self.findings.note("text_after_removed", text[end:].strip(WHITESPACE))
                self._written, self._kept = [text[:end]], 1
                self._take_json(value)
                return
        self._written, self._kept = [text], 1
        if complete and text.endswith(("}", "]")):
            self.findings.fail((), "syntax", "the text is neither RAIF nor JSON", text)
        else:
            self.findings.truncate((), "the JSON text is not closed")

    def _take_json(self, value: Any) -> None:
        if self._envelope is not None and not (isinstance(value, dict) and set(value) == {self._envelope}):
            value = {self._envelope: value}
        if isinstance(value, dict):
            self.root.update(value)
        else:
            self.findings.fail((), "type", "an object is expected", excerpt_of(value))

    # Growing strings

    def may_grow(self, start: str) -> bool | None:
        """Whether the string on an unfinished line can be emitted while it grows.

        Args:
            start: The line so far.

        Returns:
            ``None`` if that cannot be told yet.
        """
        if self._emitter is None or self._emitter.holding or self._tail or self._recogniser.scopes:
            return False
        if self._phase not in ("before", "inside") or self._reasoning is not None:
            return False
        if self._units.takes_lines:
            return self._may_grow_block(start)
        key, equals, rest = start.partition("=")
        if not equals:
            return None
        if self._units.starts_row(start):
            return False
        tagged = key.endswith(":s")
        place = self._book.known(key[:-2] if tagged else key)
        if place is None:
            return False
        may = may_grow(place.shape, rest, tagged=tagged, constrained=self._constrained)
        return self._settle_growth(place) if may else may

    def _may_grow_block(self, start: str) -> bool | None:
        block = self._units.block
        if not self._units.growth.active or not isinstance(block, Block) or not block.is_certain:
            return False
        return not start.startswith(">") if start else None

    def _settle_growth(self, place: Place) -> bool:
        try:
            self._growing = self._units.settle(place)
        except MisreadError:
            return False
        return not self._units.assembly.holds(self._growing.path)

    def grow(self, start: str) -> int:
        """Starts to emit the string on an unfinished line.

        Args:
            start: The line so far, for which :meth:`may_grow` said yes.

        Returns:
            How many characters of the line stand before the string; -1 if it has to wait.
        """
        block = self._units.block
        if isinstance(block, Block):
            if block.lines:
                self._units.growth.add("\n")
            return 0
        assert self._growing is not None
        return start.index("=") + 1 if self._units.growth.start(self._growing) else -1

    def grow_by(self, piece: str) -> None:
        """Emits a further piece of the growing string."""
        self._units.growth.add(piece)


def _json_ends(text: str) -> list[int]:
    """Where a JSON text may end: at the end, or behind the last closing bracket."""
    closing = max(text.rfind("}"), text.rfind("]")) + 1
    return [len(text)] if closing in (0, len(text)) else [len(text), closing]
