"""The fields of a cue, read back into the order in which a model writes them.

The cue lists keys depth first, sorted at every level. The reply has the same fields in the order of
:mod:`raif_integrations.contract.layout`: in every object first scalars and nested objects, then tables, then
other lists. Only what the cue shows is known here: a reply may differ from it (an empty list,
a table of one row as a literal, undeclared keys), which costs a rejected draft and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["leaf", "table", "list"]

_LINE: Final = re.compile(
    r"(?P<path>(?:[^<:]++|<<<.*?>>>|<)++):(?P<code>[snbto])(?P<optional>\?)?(?:  # (?P<comment>.*))?"
)
_STEP: Final = re.compile(r"(?:[^.\[\]<]++|<<<.*?>>>|<)++|\[\]|\.")


@dataclass(frozen=True, slots=True)
class Cell:
    """A scalar: a leaf, a column of a table or an element of a list.

    Attributes:
        name: Its key as written; empty for the element of a list.
        code: The type code of the cue.
        words: The values it may have, where the cue lists them.
    """

    name: str
    code: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A field that is written in one piece.

    Attributes:
        path: Its path; ``[]`` stands for the index of an element.
        kind: A line, a table, or a list between brackets.
        cells: The scalar, the columns in the order of the header, or the element.
        optional: It may be left out.
    """

    path: str
    kind: Kind
    cells: tuple[Cell, ...]
    optional: bool = False

    @property
    def head(self) -> str:
        """What follows the path up to the first value, if there is one."""
        if self.kind == "table":
            return f"::{','.join(cell.name for cell in self.cells)}\n"
        return "=[\n" if self.kind == "list" else "="


@dataclass(slots=True)
class _Node:
    name: str
    code: str = "o"
    optional: bool = False
    depth: int = 0
    words: tuple[str, ...] = ()
    below: dict[str, _Node] = field(default_factory=dict)

    @property
    def is_flat(self) -> bool:
        return bool(self.below) and not any(node.below or node.depth for node in self.below.values())

    @property
    def placement(self) -> int:
        if not self.depth or self.depth > 1 or (self.below and not self.is_flat):
            return 0
        return 1 if self.below else 2


def is_field(line: str) -> bool:
    """Whether a line of a prompt is a field of a cue."""
    return _LINE.fullmatch(line) is not None


def read_fields(lines: Sequence[str]) -> tuple[Unit, ...]:
    """The units of a cue, in the order they are written.

    Args:
        lines: Lines of the cue, in the trained or the described form. What is no field is passed over.
    """
    root = _Node("")
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is not None and not found["path"].endswith("*"):
            _add(root, found)
    return tuple(_units(root, ""))


def _add(root: _Node, found: re.Match[str]) -> None:
    node, depth = root, 0
    for step in _STEP.findall(found["path"]):
        if step == "[]":
            depth += 1
            node.depth = max(node.depth, depth)
        elif step != ".":
            node, depth = node.below.setdefault(step, _Node(step)), 0
    node.code, node.optional = found["code"], found["optional"] is not None
    node.words = _words(found["comment"] or "")


def _words(comment: str) -> tuple[str, ...]:
    listed = comment.partition("; ")[0]
    return tuple(word for word in listed.split("|") if word != "…") if "|" in listed else ()


def _units(node: _Node, prefix: str) -> Iterator[Unit]:
    for below in sorted(node.below.values(), key=lambda one: (one.placement, one.name.strip("<>"))):
        path = f"{prefix}.{below.name}" if prefix else below.name
        if below.placement == 1:
            columns = sorted(below.below.values(), key=lambda one: one.name)
            cells = tuple(Cell(one.name, one.code, one.words) for one in columns)
            yield Unit(path, "table", cells, below.optional)
        elif below.placement == 2:
            yield Unit(path, "list", (Cell("", below.code, below.words),), below.optional)
        elif below.below:
            yield from _units(below, path + "[]" * below.depth)
        elif below.depth > 1:
            inner = path + "[]" * (below.depth - 1)
            yield Unit(inner, "list", (Cell("", below.code, below.words),), below.optional)
        else:
            yield Unit(path, "leaf", (Cell(below.name, below.code, below.words),), below.optional)
