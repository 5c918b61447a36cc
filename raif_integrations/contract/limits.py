"""What RAIF cannot carry, found in the tree.

A schema with a limit travels as JSON. A limit is a property of the schema alone: either a declared key
that cannot be written, or a shape whose every sentence a context-free grammar cannot keep valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raif_integrations.contract.ebnf import can_spell
from raif_integrations.contract.layout import is_writable_key
from raif_integrations.contract.tree import (
    Anything,
    Array,
    Choice,
    Limit,
    Node,
    Object,
    Reference,
    Scalar,
    Union,
)


def limits_of(root: Node, definitions: Mapping[str, Node]) -> tuple[Limit, ...]:
    """The fields of a tree that force JSON, the root's first.

    Args:
        root: The root node.
        definitions: Targets of the references.

    Returns:
        One limit per field and reason, in the order of the tree.
    """
    return tuple(dict.fromkeys(_walk(root, "", definitions, set())))


def places_in(node: Node, counted: dict[int, int] | None = None) -> int:
    """How many places a value of a node may have; one that is shared by references counts each time.

    Cue and grammar spell out each place, so a few references that double each other could keep them
    busy for years.

    Args:
        node: The node.
        counted: What is known already, by identity.
    """
    counted = {} if counted is None else counted
    if id(node) not in counted:
        counted[id(node)] = 1
        below: tuple[Node, ...] = ()
        if isinstance(node, Union):
            below = node.options
        elif isinstance(node, Array):
            below = (*node.prefix, *((node.items,) if node.items is not None else ()))
        elif isinstance(node, Object):
            below = (*(one.node for one in node.properties), *(one for _, one in node.patterns))
            below += (node.additional,) if node.additional is not None else ()
        counted[id(node)] += sum(places_in(one, counted) for one in below)
    return counted[id(node)]


def _walk(node: Node, path: str, definitions: Mapping[str, Node], seen: set[int]) -> Iterator[Limit]:
    if id(node) in seen:
        return
    seen.add(id(node))
    if node.limit is not None:
        yield Limit(path, node.limit)
    if isinstance(node, Reference):
        yield Limit(path, "The schema refers back to itself here, to any depth.")
    elif isinstance(node, Choice):
        if not all(can_spell(value) for value in node.values if isinstance(value, str)):
            yield Limit(path, "An allowed value holds NUL or half a surrogate pair; no grammar can spell it.")
    elif isinstance(node, Union):
        for option in node.options:
            yield from _walk(option, path, definitions, seen)
    elif isinstance(node, Array):
        for element in (*node.prefix, *((node.items,) if node.items else ())):
            yield from _walk(element, f"{path}[]", definitions, seen)
    elif isinstance(node, Object):
        yield from _walk_object(node, path, definitions, seen)


def _walk_object(node: Object, path: str, definitions: Mapping[str, Node], seen: set[int]) -> Iterator[Limit]:
    for declared in node.properties:
        below = f"{path}.{declared.name}" if path else declared.name
        if not is_writable_key(declared.name):
            yield Limit(below, "The key holds a line break, <<< or >>>, which RAIF keys cannot hold.")
        elif not can_spell(declared.name):
            yield Limit(below, "The key holds NUL or half of a surrogate pair; no grammar can spell it.")
        yield from _walk(declared.node, below, definitions, seen)
    if node.additional is not None:
        below = f"{path}.*" if path else "*"
        if not _fits_one_line(node.additional):
            yield Limit(
                below,
                "The values under free keys are nested: every line would repeat the key, "
                "which no grammar can enforce.",
            )
        yield from _walk(node.additional, below, definitions, seen)


def _fits_one_line(node: Node) -> bool:
    """Whether a value under a free key can be written in one unit: a scalar, a list, a flat object."""
    if isinstance(node, (Scalar, Choice, Anything)):
        return True
    if isinstance(node, Union):
        return all(_fits_one_line(option) for option in node.options)
    if isinstance(node, Array):
        return all(_is_cell(element) for element in (*node.prefix, *((node.items,) if node.items else ())))
    return isinstance(node, Object) and _is_flat(node)


def _is_cell(node: Node) -> bool:
    """Whether a value can stand in a cell or an array row."""
    if isinstance(node, Union):
        return all(_is_cell(option) for option in node.options)
    return isinstance(node, (Scalar, Choice, Anything)) or (isinstance(node, Object) and _is_flat(node))


def _is_flat(node: Object) -> bool:
    values = [declared.node for declared in node.properties]
    if node.additional is not None:
        values.append(node.additional)
    return all(isinstance(value, (Scalar, Choice, Anything)) for value in values)
