"""A RAIF-G text, line by line, to one value.

The typed tree drives the reading: every line is resolved to a place first, and the shape of the place
decides what the text means. Lines that are no leaves are what models write around a document; they are
left out only where that cannot cost a part of a value.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Literal

from raif_integrations.contract import framing
from raif_integrations.contract.assembly import Assembly
from raif_integrations.contract.emission import Emitter
from raif_integrations.contract.framing import WrittenLeaf
from raif_integrations.contract.layout import CLOSE, OPEN, WHITESPACE
from raif_integrations.contract.paths import Path, Place, resolve
from raif_integrations.contract.reading import MisreadError, is_wrapped, parse_json, read_leaf, read_text
from raif_integrations.contract.renumbering import index_order
from raif_integrations.contract.report import FieldError, Repair
from raif_integrations.contract.shape import ARRAY, NULL, OBJECT, STRING, Shape, Shapes
from raif_integrations.contract.sinks import Block, Ending, LooseBlock
from raif_integrations.contract.tables import Table
from raif_integrations.contract.validation import excerpt_of, path_text

_OPENER = re.compile(r"<<<([0-9a-fA-F]*)")
_LOOSE_OPENER = re.compile(r"<{1,2}([0-9a-fA-F]*)")
_MOST_PLACES = 2048
_MOST_REPAIRS = 200

Phase = Literal["before", "inside", "after", "json"]


class PlaceBook:
    """Written keys that were resolved before; shared by the decoders of a contract."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self._places: dict[str, Place] = {}

    def known(self, key: str) -> Place | None:
        """The place of a declared key, from memory where possible."""
        place = self._places.get(key)
        if place is None:
            place = resolve(key, self.shapes.root)
            if place is None or not place.declared or place.literal:
                return None
            if "[" not in key and len(self._places) < _MOST_PLACES:
                self._places[key] = place
        return place


class Document:
    """Reads the lines of one text.

    Args:
        book: Places of the contract.
        envelope: Key of the envelope, or ``None``.
        emitter: Takes what is certain, or ``None`` if nobody listens.
        constrained: The text was generated under the grammar, which leaves the digits of indices free.

    Attributes:
        assembly: The value so far.
        errors: What could not be read.
        repairs: What was put right.
        truncated: The text ends before a unit does.
    """

    def __init__(
        self,
        book: PlaceBook,
        envelope: str | None,
        emitter: Emitter | None,
        *,
        constrained: bool,
    ) -> None:
        self._book = book
        self._root = book.shapes.root
        self._envelope = envelope
        self._emitter = emitter
        self._constrained = constrained
        self.assembly = Assembly()
        self._order = index_order(constrained=constrained, length=self.assembly.length, note=self._note_index)
        self._settled: Place | None = None
        self.errors: list[FieldError] = []
        self.repairs: list[Repair] = []
        self.truncated = False
        self._phase: Phase = "before"
        self._reasoning: str | None = None
        self._block: Block | LooseBlock | None = None
        self._target: Place | None = None
        self._literal: list[Any] | None = None
        self._table: Table | None = None
        self._scopes: list[Place] = []
        self._written: list[str] = []
        self._kept = 0
        self._tail: list[str] = []
        self._last: Place | None = None
        self._last_is_line = False
        self._json: list[str] = []
        self._growing: Place | None = None
        self._grown = 0
        self._loose = True
        self._is_first = True

    # Reports

    def _note(self, kind: str, detail: str, path: Path = ()) -> None:
        if len(self.repairs) < _MOST_REPAIRS:
            self.repairs.append(Repair(kind, self._path_text(path), excerpt_of(detail)))

    def _note_at(self, place: Place) -> Any:
        return partial(self._note_for, place.path)

    def _note_for(self, path: Path, kind: str, detail: str) -> None:
        self._note(kind, detail, path)

    def _note_index(self, path: Path) -> None:
        self._note("index_changed", str(path[-1]), path)

    def _settle(self, place: Place) -> Place:
        """The place with the indices that count; asked for once a line."""
        if self._settled is not None:
            place, self._settled = self._settled, None
            return place
        return self._order.settle(place) if self._has_index(place) else place

    def _has_index(self, place: Place) -> bool:
        return self._constrained or any(isinstance(step, int) for step in place.path)

    def _fail(self, path: Path, rule: str, message: str, excerpt: str = "") -> None:
        self.errors.append(FieldError(self._path_text(path), rule, message, excerpt_of(excerpt)))
        if self._emitter is not None:
            self._emitter.hold()

    def _path_text(self, path: Path) -> str:
        return path_text(path[1:] if self._envelope is not None else path)

    # Lines

    def feed(self, line: str) -> None:
        """Takes a whole line, without its line break."""
        if self._phase == "inside":
            self._written.append(line)
            if self._block is not None:
                self._feed_block(self._block, line)
                return
            if self._literal is not None:
                self._feed_literal(self._literal, line)
                return
            table = self._table
            if table is not None:
                cells = table.cells_of(line)
                if cells is not None:
                    self._feed_row(table, cells)
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
        crlf = line.endswith("\r")
        if crlf:
            line = line[:-1]
        if not line.strip(WHITESPACE):
            if self._tail:
                self._tail.append(line)
            return
        found = self._leaf_of(line)
        if found is None:
            self._no_leaf(line)
            return
        leaf, place = found
        if self._phase == "before":
            self._begin(line)
        if self._tail:
            self._fail((), "syntax", "a line inside the document is no field", self._tail[0])
            self._tail.clear()
        if crlf:
            self._note_once("line_endings_normalized", "CRLF")
        if place.literal:
            self._note("key_recognised", leaf.key, place.path)
        self._feed_leaf(leaf, self._settle(place), crlf=crlf)
        self._kept = len(self._written)

    def _begin(self, line: str) -> None:
        self._phase = "inside"
        self._written.append(line)

    def _note_once(self, kind: str, detail: str) -> None:
        if not any(repair.kind == kind for repair in self.repairs):
            self._note(kind, detail)

    def _skip_reasoning(self, line: str) -> bool:
        """Skips what stands between reasoning tags before the document."""
        if self._reasoning is None:
            opening = framing.REASONING.match(line)
            if opening is None:
                return False
            self._reasoning = f"</{opening.group(1)}>"
            self._note_once("reasoning_removed", opening.group(0))
        end = line.find(self._reasoning)
        if end >= 0:
            rest = line[end + len(self._reasoning) :].lstrip(WHITESPACE)
            self._reasoning = None
            if rest:
                self.feed(rest)
        return True

    # From a line to a place

    def _leaf_of(self, line: str) -> tuple[WrittenLeaf, Place] | None:
        """The leaf on a line, or ``None`` if there is none."""
        if not self._scopes:
            key, equals, rest = line.partition("=")
            place = self._book.known(key) if equals else None
            if place is not None:
                return WrittenLeaf(key, "=", None, rest), place
        else:
            line = line.strip(WHITESPACE)
        shape = self._scopes[-1].shape if self._scopes else self._root
        for leaf in self._splits(line, shape):
            place = self._resolve(leaf.key, shape)
            if place is not None and place.declared:
                return leaf, place
        written = framing.split_leaf(line)
        place = self._resolve(written.key, shape) if written is not None else None
        if written is None or place is None or not self._is_undeclared_leaf(written, place, shape):
            return None
        return written, place

    def _splits(self, line: str, shape: Shape) -> list[WrittenLeaf]:
        """The ways to take a line apart, the written one first."""
        found: list[WrittenLeaf] = []
        written = framing.split_leaf(line)
        if written is not None:
            found.append(written)
            habit = framing.relaxed(written)
            if habit != written:
                found[0:0] = [habit] if written.separator == ":" else []
                found.append(habit)
        for key in shape.declared:
            if ("=" in key or ":" in key) and line.startswith(key):
                special = framing.split_after(line, key)
                if special is not None:
                    found.append(WrittenLeaf(OPEN + key + CLOSE, *special[1:]))
        return found

    def _resolve(self, key: str, shape: Shape) -> Place | None:
        place = resolve(key, shape)
        if place is None or not self._scopes:
            return place
        outer = self._scopes[-1]
        return Place(
            outer.path + place.path,
            outer.shapes + place.shapes[1:],
            outer.declared and place.declared,
            place.literal,
        )

    def _is_undeclared_leaf(self, leaf: WrittenLeaf, place: Place, shape: Shape) -> bool:
        """Whether a line with an unknown key is a leaf rather than prose."""
        if leaf.separator == ":":
            return False
        if self._phase != "before" or self._is_first:
            return True
        first = place.path[0]
        if isinstance(first, str) and first in shape.declared:
            return True
        return shape.is_open and (leaf.key.startswith(OPEN) or not re.search(r"\s", leaf.key))

    # Lines that are no leaves

    def _no_leaf(self, line: str) -> None:
        trimmed = line.strip(WHITESPACE)
        if self._phase == "before":
            self._before(line, trimmed)
        elif self._scopes and trimmed in ("}", "},"):
            self._scopes.pop()
            self._kept = len(self._written)
        elif trimmed in framing.END_MARKERS or framing.FENCE.match(line):
            self._note_once("closing_marker_removed", trimmed)
            self._written.pop()
            self._phase = "after"
        else:
            self._tail.append(line)

    def _before(self, line: str, trimmed: str) -> None:
        self._is_first = False
        if framing.JSON_START.match(line):
            self._phase = "json"
            self._json.append(line)
            if self._emitter is not None:
                self._emitter.hold()
        elif trimmed in framing.START_MARKERS:
            self._note_once("opening_marker_removed", trimmed)
        elif framing.FENCE.match(line):
            self._note_once("fence_removed", trimmed)
        else:
            self._note_once("text_before_removed", trimmed)

    def _after(self, line: str) -> None:
        trimmed = line.strip(WHITESPACE)
        if trimmed and trimmed not in framing.END_MARKERS and not framing.FENCE.match(line):
            self._note_once("text_after_removed", trimmed)

    # Leaves

    def _feed_leaf(self, leaf: WrittenLeaf, place: Place, *, crlf: bool) -> None:
        self._last, self._last_is_line = place, False
        try:
            if leaf.separator == "::":
                self._open_table(leaf, place)
            elif leaf.rest == "[" and place.shape.kinds & ARRAY and leaf.tag is None:
                self._open_literal(place)
            elif leaf.rest.strip(WHITESPACE) == "{" and place.shape.kinds & OBJECT and leaf.tag is None:
                self._open_scope(place)
            elif not (leaf.rest.startswith("<") and self._open_block(leaf, place, crlf=crlf)):
                self._last_is_line = True
                self._put_text(leaf, place)
        except MisreadError as error:
            self._fail(place.path, error.rule, error.message, leaf.rest)

    def _put_text(self, leaf: WrittenLeaf, place: Place) -> None:
        shape = place.shape
        try:
            value = read_leaf(leaf.rest, leaf.tag, shape, self._note_at(place))
        except MisreadError:
            if shape.kinds & ~NULL != ARRAY:
                raise
            self._collect(leaf.rest, place)
            return
        self._put(place, value)

    def _put(self, place: Place, value: Any) -> None:
        if not self.assembly.put(place, value):
            self._note("repeated_field_ignored", path_text(place.path), place.path)
            return
        if self._emitter is None:
            return
        if self._growing is not None:
            self._emitter.end_text(value[self._grown :])
            self._growing = None
        else:
            self._emitter.leaf(place.path, place.shapes, value)

    def _collect(self, text: str, place: Place) -> None:
        """One element of a list where a list is expected; lists may be written with repeated keys.

        Raises:
            MisreadError: The text could be several elements, or does not fit.
        """
        element = place.shape.element(0)
        if "," in text and not is_wrapped(text):
            raise MisreadError("a list is expected, one element a line between [ and ]", "syntax")
        if self._emitter is not None:
            self._emitter.hold()
        self._note("list_collected", text, place.path)
        self.assembly.collect(place, read_text(text, element, self._note_at(place)))

    # Units of several lines

    def _open_table(self, leaf: WrittenLeaf, place: Place) -> None:
        if not place.shape.kinds & ARRAY:
            raise MisreadError("a table stands where no list is expected")
        self._table = Table(place, leaf.key, leaf.rest, self._note_at(place), constrained=self._constrained)

    def _feed_row(self, table: Table, cells: str) -> None:
        if cells.endswith("\r"):
            cells = cells[:-1]
        place = table.place
        if self._tail:
            self._fail((), "syntax", "a line inside the document is no field", self._tail[0])
            self._tail.clear()
        self._kept = len(self._written)
        try:
            row = table.row(cells)
            if table.rows is None:
                table.rows = self.assembly.start_list(place)
                if self._emitter is not None:
                    self._emitter.open_list(place.path, place.shapes)
            elif self._last is not place:
                raise MisreadError("a row comes back to a table that was left", "syntax")
        except MisreadError as error:
            index = len(table.rows) if table.rows is not None else 0
            self._fail((*place.path, index), error.rule, error.message, cells)
            return
        finally:
            self._last, self._last_is_line = place, False
        table.rows.append(row)
        if self._emitter is not None:
            index = len(table.rows) - 1
            self._emitter.leaf((*place.path, index), (*place.shapes, place.shape.element(index)), row)

    def _open_literal(self, place: Place) -> None:
        self._literal = self.assembly.start_list(place)
        self._target = place
        if self._emitter is not None:
            self._emitter.open_list(place.path, place.shapes)

    def _feed_literal(self, elements: list[Any], line: str) -> None:
        place = self._target
        assert place is not None
        row = line[:-1] if line.endswith("\r") else line
        self._kept = len(self._written)
        index = len(elements)
        if row.strip(WHITESPACE) == "]":
            self._literal = self._target = None
            return
        shape = place.shape.element(index)
        try:
            if not row.strip(WHITESPACE):
                if shape.is_free_text:
                    raise MisreadError("an empty line inside a list of texts", "syntax")
                return
            value = read_text(row, shape, self._note_at(place))
        except MisreadError as error:
            self._fail((*place.path, index), error.rule, error.message, row)
            return
        elements.append(value)
        if self._emitter is not None:
            self._emitter.leaf((*place.path, index), (*place.shapes, shape), value)

    def _open_scope(self, place: Place) -> None:
        self._note("braces_flattened", path_text(place.path), place.path)
        self._scopes.append(place)
        if self._emitter is not None:
            self._emitter.hold()

    def _open_block(self, leaf: WrittenLeaf, place: Place, *, crlf: bool) -> bool:
        """Opens a text block if the leaf is the first line of one."""
        rest = leaf.rest
        exact = _OPENER.fullmatch(rest)
        if exact is None and (leaf.tag is not None or is_wrapped(rest)):
            return False
        if exact is not None:
            self._block = Block(exact.group(1), crlf=crlf)
        elif rest.startswith(OPEN) and place.shape.kinds & STRING:
            self._block = LooseBlock(rest[len(OPEN) :], rest)
        else:
            doubtful = _LOOSE_OPENER.fullmatch(rest)
            if doubtful is None or not self._loose or not place.shape.kinds & STRING:
                return False
            self._block = LooseBlock(None, rest, doubtful.group(1))
        self._target = place
        if self._emitter is not None:
            if isinstance(self._block, LooseBlock):
                self._emitter.hold()
            elif place.shape.kinds & STRING and not self.assembly.holds(place.path):
                self._growing = place if self._emitter.begin_text(place.path, place.shapes) else None
                self._grown = 0
        return True

    def _feed_block(self, block: Block | LooseBlock, line: str) -> None:
        if block.feed(line):
            self._kept = len(self._written)
            self._end_block(block.text if isinstance(block, Block) else "")
        elif self._growing is not None and isinstance(block, Block) and block.is_certain:
            missing = block.length - self._grown
            if missing > 0:
                self.grow_by(("\n" + block.lines[-1])[-missing:])

    def _end_block(self, text: str) -> None:
        place = self._target
        assert place is not None
        self._block = self._target = None
        try:
            if not place.shape.kinds & STRING:
                raise MisreadError("a text block stands where no text is expected")
            self._put(place, text)
        except MisreadError as error:
            self._fail(place.path, error.rule, error.message, text)
        self._growing = None

    # The end

    def finish(self, last: str, *, complete: bool) -> None:
        """Takes the last line, which has no line break.

        Args:
            last: The line; may be empty.
            complete: The text ended by itself; otherwise the line was cut off.
        """
        if complete or self._phase == "json":
            if last:
                self.feed(last)
        else:
            self._cut(last)
        while self._block is not None:
            self._finish_block(self._block, complete=complete)
        if self._literal is not None and self._target is not None:
            self._truncate(self._target.path, "the list is not closed")
        if self._phase == "json":
            self._finish_json(complete=complete)
        elif self._table is not None and self._table.rows is None and complete:
            self._fail(self._table.place.path, "syntax", "the table has a header but no rows")
        if self._phase == "before" and self._has_only_prose():
            self._fail((), "syntax", "there is no field in the text")
        self._finish_tail()
        if not complete:
            self.truncated = True

    def _has_only_prose(self) -> bool:
        return any(repair.kind == "text_before_removed" for repair in self.repairs) or (
            self._reasoning is not None
        )

    def _truncate(self, path: Path, message: str) -> None:
        self.truncated = True
        self._fail(path, "truncated", message)

    def _cut(self, last: str) -> None:
        """Reports the field that the end of a cut-off text falls into."""
        if self._block is not None or self._literal is not None or self._phase != "inside":
            return
        table = self._table
        if table is not None and self._last is table.place:
            self._truncate(table.place.path, "the table may have more rows")
            return
        found = self._leaf_of(last) if last.strip(WHITESPACE) else None
        if found is not None:
            self._truncate(found[1].path, "the text ends inside this field")

    def _finish_block(self, block: Block | LooseBlock, *, complete: bool) -> None:
        place = self._target
        assert place is not None
        ending = block.finish() if complete else Ending(None)
        if self._emitter is not None:
            self._emitter.hold()
        self._loose = False
        if ending.text is None:
            self._block = self._target = None
            self._growing = None
            self._truncate(place.path, "the text block is not closed")
            return
        if ending.repair is not None:
            self._note(ending.repair, ">>>", place.path)
        self._growing = None
        self._last_is_line = ending.repair is None
        del self._written[len(self._written) - len(ending.replay) :]
        self._kept = len(self._written)
        self._end_block(ending.text)
        for line in ending.replay:
            self.feed(line)

    def _finish_tail(self) -> None:
        """Text behind the last field: prose, unless it may belong to a text of one line."""
        tail = [line for line in self._tail if line.strip(WHITESPACE)]
        if not tail:
            return
        last = self._last
        if last is not None and self._last_is_line and last.shape.is_free_text:
            self._fail(last.path, "syntax", "the lines behind it may belong to it", tail[0])
        else:
            self._note("text_after_removed", tail[0])

    def _finish_json(self, *, complete: bool) -> None:
        """Reads a text that turned out to be JSON."""
        text = "\n".join(self._json).strip(WHITESPACE)
        for end in _json_ends(text):
            found, value = parse_json(text[:end], self._note_at(Place((), (), True)))
            if found:
                self._note("json_read", text[:end])
                if text[end:].strip(WHITESPACE).strip("`"):
                    self._note("text_after_removed", text[end:].strip(WHITESPACE))
                self._written, self._kept = [text[:end]], 1
                self._take_json(value)
                return
        self._written, self._kept = [text], 1
        if complete and text.endswith(("}", "]")):
            self._fail((), "syntax", "the text is neither RAIF nor JSON", text)
        else:
            self._truncate((), "the JSON text is not closed")

    def _take_json(self, value: Any) -> None:
        if self._envelope is not None and not (isinstance(value, dict) and set(value) == {self._envelope}):
            value = {self._envelope: value}
        if isinstance(value, dict):
            self.assembly.root.update(value)
        else:
            self._fail((), "type", "an object is expected", excerpt_of(value))

    @property
    def text(self) -> str:
        """The lines that make the document."""
        return "\n".join(self._written[: self._kept])

    # Growing strings

    def may_grow(self, start: str) -> bool | None:
        """Whether the string on an unfinished line can be emitted while it grows.

        Args:
            start: The line so far.

        Returns:
            ``None`` if that cannot be told yet.
        """
        emitter = self._emitter
        if emitter is None or emitter.holding or self._tail or self._scopes or self._reasoning is not None:
            return False
        if self._phase not in ("before", "inside") or self._literal is not None:
            return False
        if self._block is not None:
            return self._may_grow_block(start)
        if self._growing is not None or self._settled is not None:
            return False
        key, equals, rest = start.partition("=")
        if not equals:
            return None
        tagged = key.endswith(":s")
        place = self._book.known(key[:-2] if tagged else key)
        if place is None:
            return False
        may = self._may_grow_leaf(place, rest, tagged=tagged)
        if may:
            self._settled = self._settle(place)
            return not self.assembly.holds(self._settled.path)
        return may

    def _may_grow_block(self, start: str) -> bool | None:
        if self._growing is None or not isinstance(self._block, Block) or not self._block.is_certain:
            return False
        if not start:
            return None
        return not start.startswith(">")

    def _may_grow_leaf(self, place: Place, rest: str, *, tagged: bool) -> bool | None:
        shape = place.shape
        if shape.kinds & ~NULL != STRING or shape.words is not None:
            return False
        if not rest:
            return None
        if rest.startswith("<"):
            return False
        if not tagged and shape.kinds & NULL and "null".startswith(rest):
            return None
        return True

    def grow(self, start: str) -> int:
        """Starts to emit the string on an unfinished line.

        Args:
            start: The line so far, for which :meth:`may_grow` said yes.

        Returns:
            How many characters of the line stand before the string; -1 if it has to wait.
        """
        assert self._emitter is not None
        if isinstance(self._block, Block):
            if self._block.lines:
                self._emitter.text("\n")
                self._grown += 1
            return 0
        place = self._settled
        assert place is not None
        if not self._emitter.begin_text(place.path, place.shapes):
            return -1
        self._growing, self._grown = place, 0
        return start.index("=") + 1

    def grow_by(self, piece: str) -> None:
        """Emits a further piece of the growing string."""
        if self._emitter is not None and piece:
            self._emitter.text(piece)
            self._grown += len(piece)


def _json_ends(text: str) -> list[int]:
    """Where a JSON text may end: at the end, or behind the last closing bracket."""
    closing = max(text.rfind("}"), text.rfind("]")) + 1
    return [len(text)] if closing in (0, len(text)) else [len(text), closing]
