"""Rows of a table to objects."""

from __future__ import annotations

import re
from typing import Any

from raif_integrations.contract.layout import CLOSE, OPEN, is_writable_key, path_key
from raif_integrations.contract.paths import Place
from raif_integrations.contract.reading import MisreadError, Note, is_wrapped, read_text, split_top, unquoted
from raif_integrations.contract.shape import NUMBER as NUMBERS
from raif_integrations.contract.shape import STRING, Shape

_ROW_INDEX = r"\[[0-9]+\]="
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")


class Table:
    """A table that is being read.

    Rows count by their order: a grammar leaves the digits between the brackets free, because it cannot
    count. In a text that nobody constrained, other digits than expected are noted.

    Args:
        place: Where the list goes.
        key: The key as written in front of ``::``.
        header: The text behind ``::``.
        note: Takes repairs.
        constrained: The text was generated under the contract's grammar.

    Attributes:
        columns: The keys of the rows.
        rows: The list the rows go into, or ``None`` before the first row.
        doubtful: Columns of the last row, with their text, that stands in quotes which may or may not
            belong to it.
    """

    def __init__(self, place: Place, key: str, header: str, note: Note, *, constrained: bool) -> None:
        self._row = re.compile(_any_row(place)) if constrained else None
        self.place = place
        self.key = key
        self.rows: list[Any] | None = None
        self.doubtful: list[tuple[str, str]] = []
        self._note = note
        self._element = place.shape.element(0)
        self.columns = tuple(self._column(name) for name in split_top(header))
        self._width = len(self.columns)
        self._shapes = self._column_shapes(self._element)
        if len(set(self.columns)) != self._width or "" in self.columns:
            raise MisreadError("the header of the table is not a list of different keys", "syntax")

    def cells_of(self, line: str) -> str | None:
        """The cells of a line if it is a row of this table."""
        if self._row is not None:
            found = self._row.match(line)
            return line[found.end() :] if found else None
        start = len(self.key)
        if not line.startswith(self.key) or line[start : start + 1] != "[":
            return None
        end = line.find("]", start)
        index = line[start + 1 : end]
        if line[end + 1 : end + 2] not in ("=", ":") or not index.isdecimal():
            return None
        if index != str(len(self.rows or ())):
            self._note("index_changed", index)
        return line[end + 2 :]

    def row(self, text: str) -> dict[str, Any]:
        """Reads the cells of a row.

        Raises:
            MisreadError: There are too many or too few cells, or one does not fit its column.
        """
        index = len(self.rows) if self.rows is not None else 0
        element = self.place.shape.element(index)
        if element is not self._element:
            self._element = element
            self._shapes = self._column_shapes(element)
        self.doubtful = []
        cells = split_top(text)
        if len(cells) != self._width:
            cells = self._rejoined(cells)
        if "'" in text or '"' in text:
            self.doubtful = [
                (column, cell)
                for column, cell, shape in zip(self.columns, cells, self._shapes, strict=True)
                if unquoted(cell) is not None and shape.is_free_text
            ]
        return {
            column: _read_cell(cell, shape, self._note)
            for column, cell, shape in zip(self.columns, cells, self._shapes, strict=True)
        }

    def _column(self, name: str) -> str:
        if is_wrapped(name):
            return name[len(OPEN) : -len(CLOSE)]
        return name if name in self._element.declared else self._element.spaced_key(name) or name

    def _column_shapes(self, element: Shape) -> list[Shape]:
        return [element.child(column) for column in self.columns]

    def _rejoined(self, cells: list[str]) -> list[str]:
        """Cells of a row with unprotected commas, where only one column can hold them."""
        extra = len(cells) - self._width
        free = [index for index, shape in enumerate(self._shapes) if shape.is_free_text]
        if extra < 0 or len(free) != 1:
            raise MisreadError(f"{self._width} cells are expected, {len(cells)} are there", "syntax")
        at = free[0]
        self._note("comma_in_cell", ",".join(cells[at : at + extra + 1]))
        return [*cells[:at], ",".join(cells[at : at + extra + 1]), *cells[at + extra + 1 :]]


def _read_cell(cell: str, shape: Shape, note: Note) -> Any:
    """Reads one cell; the two frequent kinds first."""
    if shape.kinds == STRING and shape.words is None and not cell.startswith(OPEN):
        return cell
    if shape.kinds == NUMBERS and len(cell) < 16 and _INTEGER.fullmatch(cell):
        return int(cell)
    return read_text(cell, shape, note)


def _any_row(place: Place) -> str:
    """A pattern for the start of the rows of a table that was generated under a grammar.

    The digits of its indices are free; where even and odd ones take turns, they stay even or odd.
    """
    prefix = ""
    for step, shape in zip(place.path, place.shapes, strict=False):
        if isinstance(step, str):
            key = path_key(step) if is_writable_key(step) else step
            prefix += re.escape(f".{key}" if prefix else key)
        elif shape.elements_by_order:
            prefix += r"\[[0-9]+\]"
        else:
            prefix += rf"\[[0-9]*[{'13579' if step % 2 else '02468'}]\]"
    return prefix + _ROW_INDEX
