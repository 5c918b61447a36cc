"""JSON Schema to the typed tree."""

from __future__ import annotations

from dataclasses import replace

from raif_integrations.contract.ambiguity import ambiguous_texts
from raif_integrations.contract.dialect import JsonSchema, ValidatorClass, draft_of
from raif_integrations.contract.limits import limits_of, places_in
from raif_integrations.contract.lowering import Lowering, TooLargeError
from raif_integrations.contract.tree import Limit, Node, Object, Property, Reference, Tree

_MOST_PLACES = 2_000
"""Real schemas have a few hundred at most (551 is the most of 664 in MaskBench)."""

ENVELOPE = "value"
"""The key under which a root that is not an object travels."""


def lower(schema: JsonSchema, draft: ValidatorClass | None = None) -> Tree:
    """Lowers a JSON Schema to the tree that everything else is made from.

    Args:
        schema: The JSON Schema, ``$ref`` and ``$defs`` included. References are resolved inside the
            schema only.
        draft: The draft it is written in (a ``jsonschema`` validator class); found out if left out.

    Returns:
        The tree; what RAIF cannot carry is named in its ``limits``.

    Raises:
        SchemaError: It is not a JSON Schema, or a reference leads nowhere.
    """
    lowering = Lowering(schema, draft or draft_of(schema))
    try:
        node = lowering.root()
    except (TooLargeError, RecursionError):
        return _refused("The schema is too large or too deep to be carried field by field.")
    if node is None:
        return _refused("No value satisfies the schema.")
    if places_in(node) > _MOST_PLACES:
        return _refused(f"Its references unfold into more than {_MOST_PLACES} places.")
    root, envelope = _rooted(node, lowering.definitions)
    tree = Tree(root=root, definitions=lowering.definitions, envelope=envelope)
    limits = (*limits_of(root, lowering.definitions), *ambiguous_texts(tree))
    if envelope is not None:
        limits = tuple(Limit(_without(limit.path, envelope), limit.reason) for limit in limits)
    return replace(tree, limits=tuple(dict.fromkeys(limits)))


def _without(path: str, envelope: str) -> str:
    """The path of a field in the schema, which knows of no envelope."""
    return path.removeprefix(envelope).removeprefix(".")


def _refused(reason: str) -> Tree:
    return Tree(root=Object(properties=()), limits=(Limit("", reason),))


def _rooted(node: Node, definitions: dict[str, Node]) -> tuple[Object, str | None]:
    """The root object; anything else is wrapped."""
    target = definitions[node.target] if isinstance(node, Reference) else node
    if isinstance(target, Object) and not target.nullable:
        return target, None
    wrapped = Property(name=ENVELOPE, node=node, required=True)
    return Object(properties=(wrapped,), declared_order=(ENVELOPE,)), ENVELOPE
