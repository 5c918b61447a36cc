"""The units of a document: leaves, text blocks, array literals, tables."""

from __future__ import annotations

import re
from typing import Any

from raif_integrations.contract.assembly import Assembly
from raif_integrations.contract.emission import Emitter
from raif_integrations.contract.findings import Findings
from raif_integrations.contract.framing import WrittenLeaf
from raif_integrations.contract.growth import Growth
from raif_integrations.contract.layout import OPEN, WHITESPACE
from raif_integrations.contract.paths import Path, Place
from raif_integrations.contract.quotes import QUOTES_MESSAGE, Quotes
from raif_integrations.contract.reading import MisreadError, is_wrapped, read_leaf, read_text
from raif_integrations.contract.renumbering import index_order
from raif_integrations.contract.shape import ARRAY, NULL, OBJECT, STRING, Shape
from raif_integrations.contract.sinks import Block, Ending, LooseBlock
from raif_integrations.contract.tables import Table
from raif_integrations.contract.validation import path_text

_OPENER = re.compile(r"<<<([0-9a-fA-F]*)")
_LOOSE_OPENER = re.compile(r"<{1,2}([0-9a-fA-F]*)")


class Units:
    """Reads units into one value.

    Args:
        emitter: Takes what is certain, or ``None`` if nobody listens.
        findings: Takes repairs and errors.
        constrained: The text was generated under the contract's grammar.

    Attributes:
        assembly: The value so far.
        growth: The string that is emitted while it is written.
        last: Where the last leaf went.
        last_is_line: The last leaf was a text on one line: what follows may have belonged to it.
    """

    def __init__(self, emitter: Emitter | None, findings: Findings, *, constrained: bool) -> None:
        self._emitter = emitter
        self._findings = findings
        self._constrained = constrained
        self.assembly = Assembly(constrained=constrained)
        self.growth = Growth(emitter)
        self.last: Place | None = None
        self.last_is_line = False
        self._order = index_order(
            constrained=constrained,
            length=self.assembly.length,
            note=lambda path: findings.note("index_changed", str(path[-1]), path),
        )
        self._settled: Place | None = None
        self._quotes = Quotes()
        self._target: Place | None = None
        self.block: Block | LooseBlock | None = None
        self._literal: list[Any] | None = None
        self._table: Table | None = None
        self._loose_blocks = True

    def _hold(self) -> None:
        if self._emitter is not None:
            self._emitter.hold()

    # Places

    def settle(self, place: Place) -> Place:
        """The place with the indices that count; asked for once a line, or again for the same line.

        Raises:
            MisreadError: The indices contradict each other.
        """
        if self._settled is None:
            indexed = self._constrained or any(isinstance(step, int) for step in place.path)
            self._settled = self._order.settle(place) if indexed else place
        return self._settled

    # Leaves

    def leaf(self, leaf: WrittenLeaf, place: Place, *, crlf: bool) -> None:
        """Reads a leaf, or the first line of a longer unit."""
        self.last, self.last_is_line = place, False
        try:
            place = self.last = self.settle(place)
            if leaf.separator == "::":
                self._open_table(leaf, place)
            elif leaf.rest == "[" and place.shape.kinds & ARRAY and leaf.tag is None:
                self._open_literal(place)
            elif not (leaf.rest.startswith("<") and self._open_block(leaf, place, crlf=crlf)):
                self.last_is_line = True
                self._put_text(leaf, place)
        except MisreadError as error:
            self._findings.fail(place.path, error.rule, error.message, leaf.rest)
        finally:
            self._settled = None

    def opens_scope(self, leaf: WrittenLeaf, place: Place) -> bool:
        """Whether a leaf opens the braces of an object, which no grammar writes."""
        if self._constrained:
            return False
        return leaf.tag is None and leaf.rest.strip(WHITESPACE) == "{" and bool(place.shape.kinds & OBJECT)

    def _put_text(self, leaf: WrittenLeaf, place: Place) -> None:
        shape = place.shape
        try:
            value = read_leaf(leaf.rest, leaf.tag, shape, self._findings.noting(place.path))
        except MisreadError:
            if shape.kinds & ~NULL != ARRAY:
                raise
            self._collect(leaf.rest, place)
            return
        self._put(place, value, written=leaf.rest if leaf.tag is None else None)

    def _put(self, place: Place, value: Any, *, written: str | None = None) -> None:
        """Puts a value at its place, unless the same value stands there already.

        Args:
            place: The place.
            value: The value.
            written: The text of it, if it stood on one line and without a tag.
        """
        if not self.assembly.put(place, value):
            self._findings.note("repeated_field_ignored", path_text(place.path), place.path)
            return
        if written is not None and isinstance(value, str):
            self._watch_quotes(place.path, written, place.shape)
        if self._emitter is not None and not self.growth.end(value):
            self._emitter.leaf(place.path, place.shapes, value)

    def _collect(self, text: str, place: Place) -> None:
        """One element of a list where a list is expected; lists may be written with repeated keys.

        Raises:
            MisreadError: The text could be several elements, or does not fit.
        """
        if "," in text and not is_wrapped(text):
            raise MisreadError("a list is expected, one element a line between [ and ]", "syntax")
        self._hold()
        element = read_text(text, place.shape.element(0), self._findings.noting(place.path))
        self.assembly.collect(place, element)
        self._findings.note("list_collected", text, place.path)

    def _watch_quotes(self, path: Path, written: str, shape: Shape) -> None:
        """Remembers a text in quotes that may or may not belong to it."""
        if not self._constrained and shape.is_free_text and self._quotes.see(path, written):
            self._hold()

    # Tables

    def _open_table(self, leaf: WrittenLeaf, place: Place) -> None:
        if not place.shape.kinds & ARRAY:
            raise MisreadError("a table stands where no list is expected")
        note = self._findings.noting(place.path)
        self._table = Table(place, leaf.key, leaf.rest, note, constrained=self._constrained)

    def cells_of(self, line: str) -> str | None:
        """The cells of a line if it is a row of the open table.

        Under a grammar, a table ends where anything else follows: a later line whose path differs in its
        indices only belongs to another element.
        """
        table = self._table
        if table is None or (self._constrained and self.last is not table.place):
            return None
        return table.cells_of(line)

    def starts_row(self, start: str) -> bool:
        """Whether an unfinished line is a row of the open table; told under a grammar only."""
        return self._constrained and self.cells_of(start) is not None

    def row(self, cells: str) -> None:
        """Reads a row of the open table."""
        table = self._table
        assert table is not None
        place = table.place
        cells = cells.removesuffix("\r")
        index = len(table.rows) if table.rows is not None else 0
        try:
            row = table.row(cells)
            if table.rows is None:
                table.rows = self.assembly.start_list(place)
                if self._emitter is not None:
                    self._emitter.open_list(place.path, place.shapes)
            elif self.last is not place:
                raise MisreadError("a row comes back to a table that was left", "syntax")
        except MisreadError as error:
            self._findings.fail((*place.path, index), error.rule, error.message, cells)
            return
        finally:
            self.last, self.last_is_line = place, False
        table.rows.append(row)
        if table.doubtful and not self._constrained:
            self._hold()
            for column, written in table.doubtful:
                self._quotes.see((*place.path, index, column), written)
        if self._emitter is not None:
            self._emitter.leaf((*place.path, index), (*place.shapes, place.shape.element(index)), row)

    # Units of several lines

    @property
    def takes_lines(self) -> bool:
        """A block or an array literal is open: the next line belongs to it."""
        return self.block is not None or self._literal is not None

    def line(self, line: str) -> None:
        """Takes a line of the open block or array literal."""
        if self.block is not None:
            self._block_line(self.block, line)
        elif self._literal is not None:
            self._literal_line(self._literal, line.removesuffix("\r"))

    def _open_literal(self, place: Place) -> None:
        self._literal = self.assembly.start_list(place)
        self._target = place
        if self._emitter is not None:
            self._emitter.open_list(place.path, place.shapes)

    def _literal_line(self, elements: list[Any], row: str) -> None:
        place = self._target
        assert place is not None
        if row.strip(WHITESPACE) == "]":
            self._literal = self._target = None
            return
        index = len(elements)
        path, shape = (*place.path, index), place.shape.element(index)
        try:
            if not row.strip(WHITESPACE):
                if shape.is_free_text:
                    raise MisreadError("an empty line inside a list of texts", "syntax")
                return
            value = read_text(row, shape, self._findings.noting(path))
        except MisreadError as error:
            self._findings.fail(path, error.rule, error.message, row)
            return
        elements.append(value)
        if isinstance(value, str):
            self._watch_quotes(path, row, shape)
        if self._emitter is not None:
            self._emitter.leaf(path, (*place.shapes, shape), value)

    def _open_block(self, leaf: WrittenLeaf, place: Place, *, crlf: bool) -> bool:
        """Opens a text block if the leaf is the first line of one."""
        block = self._block_of(leaf, place.shape, crlf=crlf)
        if block is None:
            return False
        self.block, self._target = block, place
        if isinstance(block, LooseBlock):
            self._hold()
        elif place.shape.kinds & STRING and not self.assembly.holds(place.path):
            self.growth.start(place)
        return True

    def _block_of(self, leaf: WrittenLeaf, shape: Shape, *, crlf: bool) -> Block | LooseBlock | None:
        exact = _OPENER.fullmatch(leaf.rest)
        if exact is not None:
            return Block(exact.group(1), crlf=crlf)
        if leaf.tag is not None or is_wrapped(leaf.rest) or not shape.kinds & STRING:
            return None
        if leaf.rest.startswith(OPEN):
            return LooseBlock(leaf.rest[len(OPEN) :], leaf.rest)
        doubtful = _LOOSE_OPENER.fullmatch(leaf.rest) if self._loose_blocks else None
        return LooseBlock(None, leaf.rest, doubtful.group(1)) if doubtful is not None else None

    def _block_line(self, block: Block | LooseBlock, line: str) -> None:
        if block.feed(line):
            self._end_block(block.text if isinstance(block, Block) else "")
        elif self.growth.active and isinstance(block, Block) and block.is_certain:
            self.growth.reach(block.length, "\n" + block.lines[-1])

    def _end_block(self, text: str) -> None:
        place = self._target
        assert place is not None
        self.block = self._target = None
        try:
            if not place.shape.kinds & STRING:
                raise MisreadError("a text block stands where no text is expected")
            self._put(place, text)
        except MisreadError as error:
            self._findings.fail(place.path, error.rule, error.message, text)
        self.growth.drop()

    # The end

    def finish_block(self, *, complete: bool) -> list[str]:
        """Decides where a block without its closing line ends.

        Args:
            complete: The text ended by itself.

        Returns:
            Lines that turned out to stand behind the block.
        """
        place, block = self._target, self.block
        assert place is not None
        assert block is not None
        ending = block.finish() if complete else Ending(None)
        self._loose_blocks = False
        if ending.text is None:
            self.block = self._target = None
            self.growth.drop()
            self._findings.truncate(place.path, "the text block is not closed")
            return []
        if ending.repair is not None:
            self._findings.note(ending.repair, ">>>", place.path)
        self.last_is_line = ending.repair is None
        self._end_block(ending.text)
        return ending.replay

    def finish(self, *, complete: bool) -> None:
        """Ends the text: open units are cut off, doubts are settled.

        Args:
            complete: The text ended by itself.
        """
        if self._literal is not None and self._target is not None:
            self._findings.truncate(self._target.path, "the list is not closed")
        if complete and self._table is not None and self._table.rows is None:
            message = "the table has a header but no rows"
            self._findings.fail(self._table.place.path, "syntax", message)
        habit = self._quotes.is_habit(others=self._findings.shows_habit)
        for path, inner in self._quotes.doubtful:
            if habit:
                self.assembly.replace(path, inner)
                self._findings.note("quotes_removed", inner, path)
            else:
                self._findings.fail(path, "syntax", QUOTES_MESSAGE, inner)

    def cut_table(self) -> bool:
        """Reports the open table as cut off; false if the text does not end in one."""
        table = self._table
        if table is None or self.last is not table.place:
            return False
        self._findings.truncate(table.place.path, "the table may have more rows")
        return True
