"""Fixed JSON values: equality as JSON Schema sees it, and their nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from raif_integrations.contract.tree import Array, Choice, Node, Object, Property


def kind_of(value: Any) -> str:
    """The JSON Schema type of a value; an integral float is an ``integer`` too, but named ``number``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array"


def same(left: Any, right: Any) -> bool:
    """JSON equality: ``1`` equals ``1.0``, neither equals ``true``."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def identity(value: Any) -> Hashable:
    """A hashable stand-in: two values are :func:`same` exactly if theirs are equal."""
    if isinstance(value, dict):
        return "object", frozenset((key, identity(below)) for key, below in value.items())
    if isinstance(value, (list, tuple)):
        return "array", tuple(map(identity, value))
    return isinstance(value, bool), value


def fits(value: Any, kinds: frozenset[str]) -> bool:
    """Whether a value is of one of the JSON Schema types."""
    kind = kind_of(value)
    if kind in kinds:
        return True
    if kind == "integer":
        return "number" in kinds
    return kind == "number" and "integer" in kinds and float(value).is_integer()


def constant_nodes(values: Iterable[Any]) -> tuple[list[Node], bool]:
    """Nodes for a list of allowed values.

    Args:
        values: The values of an ``enum``.

    Returns:
        One :class:`Choice` for the scalars and a closed node for each array and object; and whether
        ``null`` is among them.
    """
    scalars: dict[Hashable, str | int | float | bool] = {}
    nodes: list[Node] = []
    nullable = False
    for value in values:
        if value is None:
            nullable = True
        elif isinstance(value, dict):
            nodes.append(_constant_object(value))
        elif isinstance(value, (list, tuple)):
            nodes.append(_constant_array(value))
        else:
            scalars.setdefault(identity(value), value)
    if scalars:
        nodes.insert(0, Choice(values=tuple(scalars.values())))
    return nodes, nullable


def constant_node(value: Any) -> Node:
    """The node that allows exactly one value."""
    nodes, nullable = constant_nodes([value])
    return nodes[0] if not nullable else Choice(values=(), nullable=True)


def _constant_object(value: dict[str, Any]) -> Object:
    properties = tuple(
        Property(name=name, node=constant_node(value[name]), required=True) for name in sorted(value)
    )
    return Object(properties=properties, declared_order=tuple(value))


def _constant_array(value: list[Any] | tuple[Any, ...]) -> Array:
    return Array(
        items=None,
        prefix=tuple(constant_node(element) for element in value),
        min_items=len(value),
        max_items=len(value),
    )
