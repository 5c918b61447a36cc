"""What a cue does not show of a schema; most of it is enforced all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from raif_integrations.contract.cue import inert
from raif_integrations.contract.tree import Array, Choice, Node, Object, Reference, Scalar, Tree, Union

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something the bare cue leaves out.

    Attributes:
        path: The field, ``items[].price`` style.
        what: ``allowed values``, ``description``, ``pattern``, ``format``, ``range`` or ``length``.
        detail: What the schema says, shortened.
        described: The described cue shows it.
        enforced: The grammar enforces it although the cue is silent; ``None`` where there is nothing to
            enforce. Ranges, lengths, formats and patterns are enforced as far as a grammar can, and
            validated in full.
    """

    path: str
    what: str
    detail: str
    described: bool
    enforced: bool | None


def dropped(tree: Tree) -> list[Dropped]:
    """Everything the bare cue leaves out of a schema, in the order of its fields."""
    return list(_walk(tree.root, "", tree.definitions, set()))


def _walk(node: Node, path: str, definitions: Mapping[str, Node], seen: set[int]) -> Iterator[Dropped]:
    if id(node) in seen:
        return
    seen.add(id(node))
    if path:
        yield from _said(node, path)
    if isinstance(node, Object):
        for declared in node.properties:
            below = f"{path}.{declared.name}" if path else declared.name
            yield from _walk(declared.node, below, definitions, seen)
    elif isinstance(node, Array):
        for element in (*node.prefix, *([node.items] if node.items is not None else [])):
            yield from _walk(element, f"{path}[]", definitions, seen)
    elif isinstance(node, Union):
        for option in node.options:
            yield from _walk(option, path, definitions, seen)
    elif isinstance(node, Reference):
        yield from _walk(definitions[node.target], path, definitions, seen)


def _said(node: Node, path: str) -> Iterator[Dropped]:
    """What the schema says of one field beyond its type."""
    if isinstance(node, Choice) and node.values:
        words = [value if isinstance(value, str) else json.dumps(value) for value in node.values]
        yield Dropped(path, "allowed values", _short(" | ".join(words)), described=True, enforced=True)
    if node.description:
        yield Dropped(path, "description", _short(node.description), described=True, enforced=None)
    if isinstance(node, Scalar):
        if node.pattern is not None:
            yield Dropped(path, "pattern", _short(node.pattern), described=False, enforced=True)
        if node.format is not None:
            yield Dropped(path, "format", _short(node.format), described=False, enforced=True)
        bounds = _bounds(node.minimum, node.maximum)
        if bounds:
            yield Dropped(path, "range", bounds, described=False, enforced=True)
        lengths = _bounds(node.min_length or None, node.max_length)
        if lengths:
            yield Dropped(path, "length", lengths, described=False, enforced=True)


def _bounds(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "" if low is high else f"at least {low:g}" if high is None else f"at most {high:g}"
    return f"{low:g} to {high:g}"


def _short(text: str) -> str:
    line = inert(text)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
