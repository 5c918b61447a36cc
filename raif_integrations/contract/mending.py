"""Which fields of a reply are to be asked for again, and how the answer is put into it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from raif_integrations.contract.paths import Path, resolve
from raif_integrations.contract.projection import object_of
from raif_integrations.contract.report import Decoded, FieldError
from raif_integrations.contract.shape import Shape
from raif_integrations.contract.tree import Object, Tree

Wanted = dict[Path, bool]
"""Paths of keys to ask for, each with whether the answer must hold it."""


def wanted_fields(tree: Tree, root: Shape, decoded: Decoded) -> Wanted | None:
    """The fields that are missing or broken.

    A field inside a list stands for the whole list. A text that was cut off may have lacked any field
    that is not there, so all of those are wanted too, as far as the schema requires them.

    Args:
        tree: The tree of the contract.
        root: Its root shape.
        decoded: The reply.

    Returns:
        The fields, none inside another; ``None`` if the fault lies in no single field.
    """
    found: Wanted = {}
    for error in decoded.errors:
        path = _field_of(tree, root, error)
        if path is None:
            return None
        found[path] = True
    if decoded.truncated:
        for path, required in _absent(tree, tree.root, (), decoded.value):
            found.setdefault(path, required)
    return _outermost(found) if found else None


def put_fields(value: Any, fields: Iterable[Path], answer: Any) -> tuple[Any, list[Path]]:
    """A copy of a value with fields taken over from an answer.

    Args:
        value: The value so far.
        fields: Paths that were asked for.
        answer: The value of the answer.

    Returns:
        The new value, and the paths that were taken over.
    """
    merged = copy.deepcopy(value) if isinstance(value, dict) else {}
    taken = []
    for path in fields:
        found, below = _at(answer, path)
        if not found:
            continue
        container = merged
        for step in path[:-1]:
            inner = container.get(step)
            if not isinstance(inner, dict):
                inner = container[step] = {}
            container = inner
        container[path[-1]] = copy.deepcopy(below)
        taken.append(path)
    return merged, taken


def _at(value: Any, path: Path) -> tuple[bool, Any]:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return False, None
        value = value[step]
    return True, value


def _field_of(tree: Tree, root: Shape, error: FieldError) -> Path | None:
    """The declared field an error is about: the way to it leads through single objects only."""
    place = resolve(error.path, root) if error.path else None
    if place is None:
        return None
    path: list[str] = []
    node: Object | None = tree.root
    for step in place.path:
        declared = (
            next((one for one in node.properties if one.name == step), None) if node is not None else None
        )
        if declared is None:
            break
        path.append(declared.name)
        node = object_of(tree, declared.node)
    return tuple(path) or None


def _absent(tree: Tree, node: Object, here: Path, value: Any) -> Iterable[tuple[Path, bool]]:
    """Declared fields that a value lacks, at any depth."""
    for declared in node.properties:
        path = (*here, declared.name)
        if not isinstance(value, dict) or declared.name not in value:
            yield path, declared.required
            continue
        below = object_of(tree, declared.node)
        if below is not None:
            yield from _absent(tree, below, path, value[declared.name])


def _outermost(found: Wanted) -> Wanted:
    """Leaves out fields inside other wanted fields."""
    return {
        path: required
        for path, required in sorted(found.items())
        if not any(path[:length] in found for length in range(1, len(path)))
    }
