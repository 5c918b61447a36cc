"""From a written line to the field it is about."""

from __future__ import annotations

import re
from typing import NamedTuple

from raif_integrations.contract.framing import WrittenLeaf, relaxed, split_after, split_leaf
from raif_integrations.contract.layout import OPEN, WHITESPACE, has_edge_space
from raif_integrations.contract.paths import Place, resolve
from raif_integrations.contract.shape import Shape, Shapes

_MOST_PLACES = 2048
_FOREIGN_FIELD = re.compile(r"[ \t]*[\"']?[A-Za-z_$][\w$.\-]*[\"']?[ \t]*:[ \t]+\S")


class PlaceBook:
    """Written keys that were resolved before; shared by the decoders of a contract.

    Args:
        shapes: The shapes of the contract.
    """

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self._places: dict[str, Place] = {}

    def known(self, key: str) -> Place | None:
        """The place of a key that is written as it should be and declared, from memory where possible."""
        place = self._places.get(key)
        if place is None:
            place = resolve(key, self.shapes.root)
            if place is None or not place.is_exact:
                return None
            if "[" not in key and len(self._places) < _MOST_PLACES:
                self._places[key] = place
        return place


class FoundLeaf(NamedTuple):
    """A leaf and where it goes."""

    leaf: WrittenLeaf
    place: Place


class Recogniser:
    """Recognises the leaves of one text.

    Attributes:
        scopes: Objects whose braces are open; keys are relative to the innermost.
    """

    def __init__(self, book: PlaceBook) -> None:
        self._book = book
        self._root = book.shapes.root
        self.scopes: list[Place] = []

    def find(self, line: str, *, begun: bool) -> FoundLeaf | None:
        """The leaf on a line, or ``None`` if there is none.

        Args:
            line: The line.
            begun: The document has begun, or the line is the first one: an unknown key is no prose.
        """
        if not self.scopes:
            key, equals, rest = line.partition("=")
            place = self._book.known(key) if equals else None
            if place is not None:
                return FoundLeaf(WrittenLeaf(key, "=", None, rest), place)
        else:
            line = line.strip(WHITESPACE)
        shape = self.scopes[-1].shape if self.scopes else self._root
        return self._declared(line, shape) or self._undeclared(line, shape, begun=begun)

    def may_be_field(self, line: str) -> bool:
        """Whether a line of prose may as well be an undeclared field in another notation."""
        if not self._root.is_open:
            return False
        written = split_leaf(line)
        if written is not None and written.separator != ":":
            return resolve(written.key, self._root) is not None
        return _FOREIGN_FIELD.match(line) is not None

    def _declared(self, line: str, shape: Shape) -> FoundLeaf | None:
        """A leaf with a declared key; keys that are written exactly come first."""
        splits = [(leaf, self._resolve(leaf.key, shape)) for leaf in _splits(line, shape)]
        for spaced in (False, True):
            for leaf, place in splits:
                if place is not None and place.declared and place.spaced is spaced:
                    return FoundLeaf(leaf, place)
        return None

    def _undeclared(self, line: str, shape: Shape, *, begun: bool) -> FoundLeaf | None:
        """A leaf with an unknown key."""
        written = split_leaf(line)
        if written is None:
            return None
        foreign = written.separator == ":" or (has_edge_space(written.key) and written.rest[:1] == " ")
        leaf = relaxed(written) if foreign else written
        place = self._resolve(leaf.key, shape)
        if place is None:
            return None
        first = place.path[0]
        if isinstance(first, str) and first in shape.declared:
            return FoundLeaf(leaf, place)
        if written.separator == ":":
            return None
        quoted = leaf.key.startswith(OPEN)
        if begun or (shape.is_open and (quoted or re.search(r"\s", leaf.key) is None)):
            return FoundLeaf(leaf, place)
        return None

    def _resolve(self, key: str, shape: Shape) -> Place | None:
        place = resolve(key, shape)
        if place is None or not self.scopes:
            return place
        outer = self.scopes[-1]
        return Place(
            outer.path + place.path,
            outer.shapes + place.shapes[1:],
            outer.declared and place.declared,
            place.literal,
            place.spaced,
        )


def _splits(line: str, shape: Shape) -> list[WrittenLeaf]:
    """The ways to take a line apart, the likeliest first."""
    found: list[WrittenLeaf] = []
    written = split_leaf(line)
    if written is not None:
        habit = relaxed(written)
        exact = written.separator != ":" or habit == written
        found = [written, habit] if exact else [habit._replace(key=written.key), habit]
    for key in shape.declared:
        if ("=" in key or ":" in key) and line.startswith(key):
            special = split_after(line, key)
            if special is not None:
                found.append(special)
    return found
