"""Texts that a reader cannot tell from other values, because alternatives meet in one place.

A text without quotes is told from a number by its type. Where two alternatives give the same key different
types (``{"a": string}`` or ``{"a": integer}``), the line ``a=5`` may be either, and the alternative is not
known until the last line. Alternatives of one value are no such place: a text is read as something else only
where that is valid.
"""

from __future__ import annotations

from collections.abc import Iterator

from raif_integrations.contract.layout import looks_typed
from raif_integrations.contract.shape import STRING, Shape, Shapes, kinds_of_node
from raif_integrations.contract.tree import Choice, Limit, Node, Tree

_REASON = (
    "It is a text in one alternative and something else in another; without quotes they cannot be told apart."
)
_UNNAMED = "\0"
"""No declared key."""


def ambiguous_texts(tree: Tree) -> Iterator[Limit]:
    """The fields whose texts may be taken for other values.

    Args:
        tree: The tree; its limits play no part.

    Yields:
        A limit for each field.
    """
    book = Shapes(tree)
    yield from _walk(book, book.root, "", set())


def _walk(book: Shapes, shape: Shape, path: str, seen: set[int]) -> Iterator[Limit]:
    if id(shape) in seen:
        return
    seen.add(id(shape))
    for node in shape.objects:
        for declared in node.properties:
            below = f"{path}.{declared.name}" if path else declared.name
            child = shape.child(declared.name)
            if _is_ambiguous(book, declared.node, child):
                yield Limit(below, _REASON)
            yield from _walk(book, child, below, seen)
        if node.additional is not None and len(shape.objects) > 1:
            child = shape.child(_UNNAMED)
            if _is_ambiguous(book, node.additional, child):
                yield Limit(f"{path}.*" if path else "*", _REASON)
            yield from _walk(book, child, f"{path}.*" if path else "*", seen)
    for array in shape.arrays:
        elements = (*array.prefix, *((array.items,) if array.items is not None else ()))
        for index, element in enumerate(elements):
            child = shape.element(index)
            if _is_ambiguous(book, element, child):
                yield Limit(f"{path}[]", _REASON)
            yield from _walk(book, child, f"{path}[]", seen)


def _is_ambiguous(book: Shapes, node: Node, shape: Shape) -> bool:
    """Whether a text of a node may be read as a value that only its neighbours allow."""
    kinds = 0
    texts = False
    for one in book.flatten([node]):
        own = kinds_of_node(one)
        kinds |= own
        if isinstance(one, Choice):
            texts = texts or any(isinstance(value, str) and looks_typed(value) for value in one.values)
        else:
            texts = texts or bool(own & STRING)
    return texts and bool(shape.kinds & ~kinds)
