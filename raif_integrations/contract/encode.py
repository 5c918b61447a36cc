"""Values to RAIF-G in the contract's layout."""

from __future__ import annotations

import json
from typing import Any

from raif_integrations.contract import layout
from raif_integrations.contract.numerals import write_number
from raif_integrations.contract.shape import Shape, Shapes, bit_of


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
            self._leaf(value[key], layout.join(prefix, key), shape.child(key), lines)

    def _leaf(self, value: Any, path: str, shape: Shape, lines: list[str]) -> None:
        self._check(value, path, shape)
        if isinstance(value, str):
            lines.append(path + _string_leaf(value, shape))
        elif isinstance(value, dict):
            if value:
                self._object(value, path, shape, lines)
            else:
                lines.append(f"{path}={{}}")
        elif isinstance(value, list):
            self._array(value, path, shape, lines)
        else:
            lines.append(f"{path}={_atom(value)}")

    def _array(self, value: list[Any], path: str, shape: Shape, lines: list[str]) -> None:
        if not value:
            lines.append(f"{path}=[]")
            return
        columns = layout.table_columns(value)
        if columns is not None:
            lines.append(f"{path}::{','.join(columns)}")
            for index, row in enumerate(value):
                below = shape.element(index)
                self._check(row, path, below)
                cells = (self._cell(row[column], path, below.child(column)) for column in columns)
                lines.append(f"{path}[{index}]={','.join(cells)}")
        elif all(map(layout.is_literal_row, value)):
            lines.append(f"{path}=[")
            lines.extend(self._row(row, path, shape.element(index)) for index, row in enumerate(value))
            lines.append("]")
        else:
            for index, element in enumerate(value):
                self._leaf(element, f"{path}[{index}]", shape.element(index), lines)

    def _row(self, value: Any, path: str, shape: Shape) -> str:
        self._check(value, path, shape)
        if isinstance(value, str):
            return layout.row(value)
        if isinstance(value, dict):
            pairs = (
                f"{layout.inline_key(key)}={self._cell(value[key], path, shape.child(key))}"
                for key in sorted(value)
            )
            return "{" + ",".join(pairs) + "}"
        return _atom(value)

    def _cell(self, value: Any, path: str, shape: Shape) -> str:
        self._check(value, path, shape)
        return layout.cell(value) if isinstance(value, str) else _atom(value)

    def _check(self, value: Any, path: str, shape: Shape) -> None:
        if self._strict and not bit_of(value) & shape.kinds:
            raise UnwritableError(f"{path}: the schema does not allow {json.dumps(value)[:60]}")


def _string_leaf(text: str, shape: Shape) -> str:
    """A string behind its key; quotes around a word of a fixed set would be taken for a habit."""
    if shape.words is not None and text[:1] in ("'", '"') and layout.leaf_form(text) == "bare":
        return f":s={text}"
    return layout.string_leaf(text)


def _atom(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return write_number(value)
