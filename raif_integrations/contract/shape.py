"""What a reader must know of a place: which JSON types may stand there, and what is below.

A shape lays all alternatives of a place side by side. Encoder and decoder ask it the same questions,
so that what one writes the other reads back.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from raif_integrations.contract.constants import fits, kind_of, same
from raif_integrations.contract.keywords import matches
from raif_integrations.contract.layout import WHITESPACE, is_single_line, placement
from raif_integrations.contract.tree import (
    Anything,
    Array,
    Choice,
    Node,
    Object,
    Reference,
    Scalar,
    Tree,
    Union,
)

NULL, BOOLEAN, NUMBER, STRING, OBJECT, ARRAY = 1, 2, 4, 8, 16, 32
EVERY_KIND = 63

KIND_BITS = {
    "null": NULL,
    "boolean": BOOLEAN,
    "integer": NUMBER,
    "number": NUMBER,
    "string": STRING,
    "object": OBJECT,
    "array": ARRAY,
}


def bit_of(value: Any) -> int:
    """The kind of a value as a bit."""
    return KIND_BITS[kind_of(value)]


class Shape:
    """One place as a reader sees it.

    Attributes:
        kinds: Bits of the JSON types that may stand here.
        objects: The objects among the alternatives.
        arrays: The arrays among the alternatives.
        choices: The fixed choices among the alternatives.
        scalars: The scalars among the alternatives.
    """

    def __init__(self, nodes: Iterable[Node], book: Shapes) -> None:
        self._book = book
        self._children: dict[str, Shape] = {}
        self._elements: dict[int, Shape] = {}
        self.kinds = 0
        flat = book.flatten(nodes)
        self.objects = tuple(node for node in flat if isinstance(node, Object))
        self.arrays = tuple(node for node in flat if isinstance(node, Array))
        self.choices = tuple(node for node in flat if isinstance(node, Choice))
        self.scalars = tuple(node for node in flat if isinstance(node, Scalar))
        for node in flat:
            self.kinds |= kinds_of_node(node)

    @cached_property
    def declared(self) -> dict[str, bool]:
        """Declared keys; true where every alternative requires the key."""
        names: dict[str, bool] = {}
        for node in self.objects:
            for declared in node.properties:
                names[declared.name] = names.get(declared.name, True) and declared.required
        return names

    def spaced_key(self, key: str) -> str | None:
        """The declared key that differs from a written one in the spaces around it only.

        A key written without spaces may be an undeclared key of its own where these are allowed.
        """
        trimmed = key.strip(WHITESPACE)
        return self._trimmed.get(trimmed) if trimmed != key or not self.is_open else None

    @cached_property
    def _trimmed(self) -> dict[str, str]:
        found: dict[str, str] = {}
        doubtful: set[str] = set()
        for name in self.declared:
            trimmed = name.strip(WHITESPACE)
            if trimmed in found:
                doubtful.add(trimmed)
            found[trimmed] = name
        return {trimmed: name for trimmed, name in found.items() if trimmed and trimmed not in doubtful}

    @cached_property
    def is_open(self) -> bool:
        """Undeclared keys are allowed."""
        return not self.objects or any(node.rest is not None or node.patterns for node in self.objects)

    @cached_property
    def words(self) -> frozenset[str] | None:
        """The only strings allowed here, or ``None`` if strings are free."""
        if any(node.type == "string" or node.loose for node in self.scalars) or self.kinds == EVERY_KIND:
            return None
        return frozenset(value for node in self.choices for value in node.values if isinstance(value, str))

    @cached_property
    def is_free_text(self) -> bool:
        """A string without a fixed set of values may stand here."""
        return bool(self.kinds & STRING) and self.words is None

    def admits(self, value: Any) -> bool:
        """Whether a number, a boolean or null is allowed: types, fixed values and bounds are looked at."""
        bit = bit_of(value)
        if bit == NULL or self.kinds == EVERY_KIND or any(node.loose for node in self.scalars):
            return bool(self.kinds & bit)
        if any(same(value, fixed) for node in self.choices for fixed in node.values):
            return True
        return any(
            fits(value, frozenset({node.type})) and (bit != NUMBER or _is_between(value, node))
            for node in self.scalars
        )

    def child(self, key: str) -> Shape:
        """The shape under a key; undeclared and forbidden keys may hold anything.

        What an alternative does not describe says nothing of a key that another one describes.
        """
        shape = self._children.get(key)
        if shape is not None:
            return shape
        nodes = [below for node in self.objects for below in _under(node, key)]
        nodes = [below for below in nodes if not isinstance(below, Anything)] or nodes
        shape = self._book.shape(nodes) if nodes else self._book.anything
        if key in self.declared:
            self._children[key] = shape
        return shape

    def element(self, index: int) -> Shape:
        """The shape of an array element."""
        longest = self._longest_prefix
        position = min(index, longest)
        shape = self._elements.get(position)
        if shape is None:
            nodes: list[Node] = []
            for node in self.arrays:
                if position < len(node.prefix):
                    nodes.append(node.prefix[position])
                elif node.items is not None:
                    nodes.append(node.items)
            shape = self._book.shape(nodes) if nodes else self._book.anything
            self._elements[position] = shape
        return shape

    @cached_property
    def _longest_prefix(self) -> int:
        return max((len(node.prefix) for node in self.arrays), default=0)

    @cached_property
    def elements_by_order(self) -> bool:
        """The order of keys tells the elements of the array here apart (see ``layout``).

        It does where some key stands on one line of every element: a later element comes back to it, or
        to a key before it. Elements on one line of their own need no telling apart.
        """
        element = self.element(0)
        if self._longest_prefix or element.arrays or not element.objects or element.kinds == EVERY_KIND:
            return False
        if any(node.additional is not None for node in element.objects):
            return False
        single = [
            {one.name for one in node.properties if one.required and is_single_line(one.node)}
            for node in element.objects
        ]
        return bool(frozenset.intersection(*map(frozenset, single)))

    @cached_property
    def placements(self) -> dict[str, int]:
        """The class of each declared key's unit (see ``layout``)."""
        found: dict[str, int] = {}
        for node in self.objects:
            for declared in node.properties:
                found.setdefault(declared.name, placement(declared.node, self._book.tree.definitions))
        return found


class Shapes:
    """The shapes of one tree, each built once.

    Args:
        tree: The tree.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._shapes: dict[tuple[int, ...], Shape] = {}
        self.anything = Shape([Anything(nullable=True)], self)
        self.root = self.shape([tree.root])

    def shape(self, nodes: list[Node]) -> Shape:
        """The shape of a place where one of the nodes may stand."""
        key = tuple(dict.fromkeys(map(id, nodes)))
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes.setdefault(key, Shape(nodes, self))
        return shape

    def flatten(self, nodes: Iterable[Node]) -> list[Node]:
        """Resolves unions and references."""
        flat: list[Node] = []
        stack = list(nodes)
        seen: set[int] = set()
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, Reference):
                stack.append(self.tree.definitions[node.target])
                if node.nullable:
                    flat.append(Choice(values=(), nullable=True))
            elif isinstance(node, Union):
                stack.extend(node.options)
                if node.nullable:
                    flat.append(Choice(values=(), nullable=True))
            else:
                flat.append(node)
        return flat


def _is_between(value: float, node: Scalar) -> bool:
    return not (
        (node.minimum is not None and value < node.minimum)
        or (node.maximum is not None and value > node.maximum)
    )


def kinds_of_node(node: Node) -> int:
    """The JSON types one node allows."""
    if node.loose or isinstance(node, Anything):
        return EVERY_KIND
    kinds = NULL if node.nullable else 0
    if isinstance(node, Scalar):
        return kinds | KIND_BITS[node.type]
    if isinstance(node, Object):
        return kinds | OBJECT
    if isinstance(node, Array):
        return kinds | ARRAY
    if isinstance(node, Choice):
        for value in node.values:
            kinds |= bit_of(value)
    return kinds


def _under(node: Object, key: str) -> list[Node]:
    """What one object says of a key; nothing if it forbids it."""
    for declared in node.properties:
        if declared.name == key:
            return [declared.node]
    matching = [below for pattern, below in node.patterns if matches(pattern, key)]
    if matching:
        return matching
    return [node.rest] if node.rest is not None else []
