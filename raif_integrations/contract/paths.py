"""Written keys (``items[0].name``) to paths through the tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from raif_integrations.contract.layout import CLOSE, OPEN
from raif_integrations.contract.shape import ARRAY, OBJECT, Shape

Step: TypeAlias = str | int
Recognised: TypeAlias = Literal["exact", "literal", "spaced"]
Path: TypeAlias = tuple[Step, ...]

_INDEX = re.compile(r"\[(0|[1-9][0-9]{0,8})\]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a leaf goes.

    Attributes:
        path: Keys and indices from the root.
        shapes: The shape of each container on the way, then of the leaf itself; one more than ``path``.
        declared: Every key of the path is declared, and every index stands under an array.
        literal: A key was written unquoted that should be quoted, and recognised by the schema.
        spaced: A key was written with spaces around it, or without its own, and recognised by the schema.
    """

    path: Path
    shapes: tuple[Shape, ...]
    declared: bool
    literal: bool = False
    spaced: bool = False

    @property
    def is_exact(self) -> bool:
        """The path is written as it should be, with declared keys only."""
        return self.declared and not self.literal and not self.spaced

    @property
    def shape(self) -> Shape:
        """The shape of the leaf."""
        return self.shapes[-1]


def resolve(text: str, root: Shape) -> Place | None:
    """Reads a written key.

    A declared key that needs quoting but was written without is recognised where it is the only
    reading.

    Args:
        text: The key as written.
        root: The shape it starts from.

    Returns:
        The place, or ``None`` if the text is not a path.
    """
    path: list[Step] = []
    shapes = [root]
    declared = True
    literal = spaced = False
    position = 0
    while position < len(text):
        step, end, recognised = _step(text, position, shapes[-1], first=not path)
        if step is None or end < 0:
            return None
        shape = shapes[-1]
        if isinstance(step, int):
            declared = declared and bool(shape.kinds & ARRAY)
            shapes.append(shape.element(step))
        else:
            declared = declared and bool(shape.kinds & OBJECT) and step in shape.declared
            shapes.append(shape.child(step))
        literal = literal or recognised == "literal"
        spaced = spaced or recognised == "spaced"
        path.append(step)
        position = end
    return Place(tuple(path), tuple(shapes), declared, literal, spaced) if path else None


def _step(text: str, position: int, shape: Shape, *, first: bool) -> tuple[Step | None, int, Recognised]:
    """One key or index: the step, where it ends, and how a key was recognised."""
    if text[position] == "[" and not first:
        index = _INDEX.match(text, position)
        if index is None:
            return None, position, "exact"
        return int(index.group(1)), _boundary(text, index.end()), "exact"
    if text.startswith(OPEN, position):
        end = text.find(CLOSE, position + len(OPEN))
        after = _boundary(text, end + len(CLOSE)) if end >= 0 else -1
        if after < 0:
            return None, position, "exact"
        return text[position + len(OPEN) : end], after, "exact"
    end = position
    while end < len(text) and text[end] not in ".[":
        end += 1
    key = text[position:end]
    after = _boundary(text, end)
    if key in shape.declared and after >= 0:
        return key, after, "exact"
    written = _declared_prefix(text, position, shape)
    if written is not None:
        return written, _boundary(text, position + len(written)), "literal"
    spaced = shape.spaced_key(key)
    if spaced is not None and after >= 0:
        return spaced, after, "spaced"
    return (key, after, "exact") if key and after >= 0 else (None, position, "exact")


def _declared_prefix(text: str, position: int, shape: Shape) -> str | None:
    """The longest declared key that stands unquoted at a position."""
    best: str | None = None
    for key in shape.declared:
        if key and text.startswith(key, position) and (best is None or len(key) > len(best)):
            end = position + len(key)
            if end == len(text) or text[end] in ".[":
                best = key
    return best


def _boundary(text: str, position: int) -> int:
    """Where the next step begins after one that ends at ``position``; -1 if the path is malformed."""
    if position >= len(text) or text[position] == "[":
        return position
    if text[position] == "." and position + 1 < len(text):
        return position + 1
    return -1
