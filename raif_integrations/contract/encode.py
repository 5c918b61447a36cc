"""Values to RAIF-G in the contract's layout.

Where the grammar cannot know the path (under a free key, below an untyped field) a value takes one unit:
lists are literals, described flat objects are inline, and what is deeper below an untyped field is JSON
on one line.
"""

from __future__ import annotations

import json
from typing import Any

from raif_integrations.contract import layout
from raif_integrations.contract.numerals import write_number
from raif_integrations.contract.reading import unquoted
from raif_integrations.contract.shape import ARRAY, Shape, Shapes, bit_of


class UnwritableError(ValueError):
    """The value has a key RAIF cannot write, or a type the decoder would not read back."""


class Encoder:
    """Writes values as the decoder of the same tree reads them.

    Args:
        shapes: The shapes of the tree.
        strict: Refuse a value whose type the schema does not allow (the decoder would read it as the
            allowed type). Otherwise it is written as it is.
    """

    def __init__(self, shapes: Shapes, *, strict: bool = True) -> None:
        self._shapes = shapes
        self._strict = strict

    def encode(self, value: dict[str, Any]) -> str:
        """RAIF-G for an object (a root that is not an object must be in its envelope).

        Raises:
            UnwritableError: RAIF cannot carry the value.
        """
        lines: list[str] = []
        self._object(value, "", self._shapes.root, lines)
        return "\n".join(lines)

    def _object(self, value: dict[str, Any], prefix: str, shape: Shape, lines: list[str]) -> None:
        placements = shape.placements
        for key in sorted(value, key=lambda name: (placements.get(name, 0), name)):
            if not layout.is_writable_key(key):
                raise UnwritableError(f"RAIF cannot carry the key {key!r}")
            free = key not in shape.declared
            self._leaf(value[key], layout.join(prefix, key), shape.child(key), lines, free=free)

    def _leaf(self, value: Any, path: str, shape: Shape, lines: list[str], *, free: bool = False) -> None:
        self._check(value, path, shape)
        if isinstance(value, str):
            lines.append(path + _string_leaf(value, shape))
        elif isinstance(value, dict):
            if not value:
                lines.append(f"{path}={{}}")
            elif free and shape.objects and self._is_row(value, shape):
                lines.append(f"{path}={self._row(value, path, shape)}")
            else:
                self._object(value, path, shape, lines)
        elif isinstance(value, list):
            if value and not shape.arrays and not self._are_rows(value, shape):
                lines.append(f"{path}={_json_line(value)}")
            else:
                self._array(value, path, shape, lines, free=free or not shape.arrays)
        else:
            lines.append(f"{path}={_atom(value)}")

    def _array(self, value: list[Any], path: str, shape: Shape, lines: list[str], *, free: bool) -> None:
        if not value:
            lines.append(f"{path}=[]")
            return
        columns = None if free or not shape.element(0).objects else layout.table_columns(value)
        if columns is not None:
            lines.append(f"{path}::{','.join(columns)}")
            for index, row in enumerate(value):
                below = shape.element(index)
                self._check(row, path, below)
                cells = (self._cell(row[column], path, below.child(column)) for column in columns)
                lines.append(f"{path}[{index}]={','.join(cells)}")
        elif self._are_rows(value, shape):
            lines.append(f"{path}=[")
            lines.extend(self._row(row, path, shape.element(index)) for index, row in enumerate(value))
            lines.append("]")
        else:
            for index, element in enumerate(value):
                self._leaf(element, f"{path}[{index}]", shape.element(index), lines)

    def _row(self, value: Any, path: str, shape: Shape) -> str:
        self._check(value, path, shape)
        if isinstance(value, str):
            return _wrapped(layout.row(value), shape)
        if isinstance(value, dict):
            pairs = (
                f"{layout.inline_key(key)}={self._cell(value[key], path, shape.child(key))}"
                for key in sorted(value)
            )
            return "{" + ",".join(pairs) + "}"
        return _atom(value)

    def _cell(self, value: Any, path: str, shape: Shape) -> str:
        self._check(value, path, shape)
        return _wrapped(layout.cell(value), shape) if isinstance(value, str) else _atom(value)

    def _are_rows(self, value: list[Any], shape: Shape) -> bool:
        return all(self._is_row(element, shape.element(index)) for index, element in enumerate(value))

    def _is_row(self, value: Any, shape: Shape) -> bool:
        """Whether a value fits into a row of an array literal in its place."""
        if isinstance(value, str) and ">" in value and _reads_otherwise(value, shape):
            return False
        return layout.is_literal_row(value)

    def _check(self, value: Any, path: str, shape: Shape) -> None:
        if self._strict and not bit_of(value) & shape.kinds:
            raise UnwritableError(f"{path}: the schema does not allow {json.dumps(value)[:60]}")


def _reads_otherwise(text: str, shape: Shape) -> bool:
    """Whether a bare text would be read as a JSON array, or its quotes taken for a habit of the writer."""
    is_list = bool(shape.kinds & ARRAY) and text.startswith("[") and text.endswith("]")
    return is_list or unquoted(text) is not None


def _wrapped(written: str, shape: Shape) -> str:
    """A row or a cell, wrapped where it would not be read as it is."""
    return f"{layout.OPEN}{written}{layout.CLOSE}" if _reads_otherwise(written, shape) else written


def _json_line(value: Any) -> str:
    """JSON on one line, without ``<``, which could open a text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace(
        "<", "\\u003c"
    )


def _string_leaf(text: str, shape: Shape) -> str:
    """A string behind its key; quotes around a word of a fixed set would be taken for a habit."""
    if shape.words is not None and text[:1] in ("'", '"') and layout.leaf_form(text) == "bare":
        return f":s={text}"
    if _reads_otherwise(text, shape) and layout.leaf_form(text) == "bare":
        return f":s={text}"
    return layout.string_leaf(text)


def _atom(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return write_number(value)
