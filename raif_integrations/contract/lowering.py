"""Places of a schema to nodes of the tree."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from raif_integrations.contract.conditions import NOT_AMONG, Conditions
from raif_integrations.contract.conjunction import Gatherer, Part, Place
from raif_integrations.contract.constants import constant_nodes, fits, identity
from raif_integrations.contract.dialect import JsonSchema, ValidatorClass, resolver_of
from raif_integrations.contract.keywords import (
    IMPLIED_BY,
    allowed_values,
    kinds_of,
    largest,
    matches,
    scalar_node,
    smallest,
)
from raif_integrations.contract.tree import (
    Anything,
    Array,
    Choice,
    Node,
    Object,
    Property,
    Reference,
    ScalarType,
    Union,
)

_SCALARS: tuple[ScalarType, ...] = ("string", "integer", "number", "boolean")

_MOST_OPTIONS = 16
"""More alternatives than this are not told apart: the common part is read, validation does the rest."""
_MOST_NODES = 50_000
_DEEPEST = 100


class TooLargeError(Exception):
    """The schema unfolds into more nodes, or deeper ones, than are worth carrying."""


class Lowering:
    """Lowers one schema.

    A place that is met again while it is being lowered becomes a :class:`Reference`; a place that is
    met again later shares its node.

    Args:
        schema: The whole JSON Schema.
        draft: The draft it is written in.
    """

    def __init__(self, schema: JsonSchema, draft: ValidatorClass) -> None:
        self._schema = schema
        self._gatherer = Gatherer(draft)
        self._conditions = Conditions()
        self._resolver = resolver_of(schema, draft)
        self._tuples_in_items = "prefixItems" not in draft.VALIDATORS
        self._done: dict[tuple[frozenset[tuple[int, bool]], str | None], Node | None] = {}
        self._open: dict[frozenset[tuple[int, bool]], str] = {}
        self._named: set[str] = set()
        self._count = 0
        self.definitions: dict[str, Node] = {}

    def root(self) -> Node | None:
        """The node of the whole schema, or ``None`` if no value can satisfy it.

        Raises:
            SchemaError: A reference leads nowhere.
            TooLargeError: The schema unfolds beyond all measure.
        """
        return self._lower(self._gatherer.gather([(self._schema, self._resolver)]))

    def _lower(self, place: Place | None) -> Node | None:
        """The node of a place; ``None`` if nothing can satisfy it."""
        if place is None:
            return None
        if not place.parts:
            return Anything(nullable=True, description=place.description)
        key = place.key
        if key in self._open:
            target = self._open[key]
            self._named.add(target)
            return Reference(target=target, description=place.description)
        memo = (key, place.description)
        if memo in self._done:
            return self._done[memo]
        self._count += 1
        if self._count > _MOST_NODES or len(self._open) > _DEEPEST:
            raise TooLargeError
        name = f"definition_{self._count}"
        self._open[key] = name
        try:
            node = self._expand(place) if place.has_groups else self._build(place)
        finally:
            del self._open[key]
        if node is not None and name in self._named:
            self.definitions[name] = node
        self._done[memo] = node
        return node

    # Alternatives

    def _expand(self, place: Place) -> Node | None:
        """Lowers each combination of alternatives; the node has a limit if they are too many."""
        groups = place.groups(self._conditions)
        limit = self._conditions.limit(part.schema for part in place.parts if not part.plain)
        if math.prod(len(branches) for _, branches in groups) > _MOST_OPTIONS:
            limit = f"It has more than {_MOST_OPTIONS} combinations of alternatives."
            groups = [group for group in groups if len(group[1]) <= _MOST_OPTIONS][:1]
        base = place.without_groups()
        options: list[Node] = []
        for combination in itertools.product(*(branches for _, branches in groups)):
            members = [(branch, part.resolver) for (part, _), branch in zip(groups, combination, strict=True)]
            option = self._lower(self._gatherer.gather(members, *base.parts) if groups else base)
            if option is not None:
                options.append(option)
        node = self._unite(options, place.description)
        return node if node is None or limit is None else replace(node, limit=limit)

    def _unite(self, options: list[Node], description: str | None = None) -> Node | None:
        """One node for several alternatives: flat, without doubles, null kept apart."""
        flat: list[Node] = []
        nullable = False
        for option in options:
            nullable = nullable or option.nullable
            if isinstance(option, Anything):
                return replace(option, description=description or option.description)
            if isinstance(option, Union):
                flat.extend(option.options)
            elif not (isinstance(option, Choice) and not option.values):
                flat.append(option)
        flat = _distinct(flat)
        if not flat:
            return Choice(values=(), nullable=True, description=description) if nullable else None
        if len(flat) == 1:
            only = flat[0]
            return replace(
                only, nullable=nullable or only.nullable, description=description or only.description
            )
        members = tuple(replace(option, nullable=False) if option.nullable else option for option in flat)
        return Union(options=members, nullable=nullable, description=description)

    # One place

    def _build(self, place: Place) -> Node | None:
        """The node of a place without alternatives."""
        kinds, explicit = kinds_of(place)
        if place.has("enum", "const") or (place.has(NOT_AMONG) and kinds <= {"boolean", "null"}):
            nodes, nullable = constant_nodes(value for value in allowed_values(place) if fits(value, kinds))
            if nullable:
                nodes.append(Choice(values=(), nullable=True))
            return self._unite(nodes, place.description)
        node = self._of_kinds(place, kinds, explicit=explicit)
        if node is not None and place.has(NOT_AMONG):
            return replace(node, limit="A condition rules out single values among endlessly many.")
        return node

    def _of_kinds(self, place: Place, kinds: frozenset[str], *, explicit: bool) -> Node | None:
        """The node of a place that lists no values."""
        if not explicit:
            implied = [kind for kind, keywords in IMPLIED_BY.items() if place.has(*keywords)]
            if not implied:
                return Anything(nullable=True, description=place.description)
            loose = [self._of_kind(kind, place, loose=True) for kind in implied]
            return self._unite([node for node in loose if node is not None], place.description)
        nodes = []
        for kind in ("object", "array", *_SCALARS):
            node = self._of_kind(kind, place, loose=False) if kind in kinds else None
            if node is not None:
                nodes.append(node)
        if "null" in kinds:
            nodes.append(Choice(values=(), nullable=True))
        return self._unite(nodes, place.description)

    def _of_kind(self, kind: str, place: Place, *, loose: bool) -> Node | None:
        if kind == "object":
            return self._object(place, loose=loose)
        if kind == "array":
            return self._array(place, loose=loose)
        return scalar_node(kind, place, loose=loose)

    # Objects

    def _object(self, place: Place, *, loose: bool) -> Object | None:
        required = {name for names in place.values("required") if isinstance(names, list) for name in names}
        names = list(dict.fromkeys(name for declared in place.values("properties") for name in declared))
        names += sorted(name for name in required if name not in names)
        properties: list[Property] = []
        for name in names:
            node = self._lower(self._member(place, name))
            if node is not None:
                properties.append(Property(name=name, node=node, required=name in required))
            elif name in required:
                return None
        rest = self._lower(self._unnamed(place))
        patterns = self._patterns(place)
        sayable = tuple((pattern, node) for pattern, node in patterns if node is not None)
        additional, pattern = self._free_keys(place, sayable, rest, bool(properties))
        most = smallest(place.values("maxProperties"))
        return Object(
            properties=tuple(sorted(properties, key=lambda declared: declared.name)),
            additional=additional,
            additional_pattern=pattern,
            min_properties=largest(place.values("minProperties")) or 0,
            max_properties=most,
            declared_order=tuple(declared.name for declared in properties),
            patterns=sayable,
            rest=rest,
            description=place.description,
            loose=loose,
            limit=None
            if additional is None
            else _limit_of_keys(place, patterns or ((pattern, additional),), names, properties),
        )

    def _member(self, place: Place, name: str) -> Place | None:
        """Everything that applies to the value under a key."""
        members: list[tuple[Any, Any]] = []
        for part in place.parts:
            covered = False
            properties = part.schema.get("properties", {})
            if name in properties:
                members.append((properties[name], part.resolver))
                covered = True
            for pattern, schema in part.schema.get("patternProperties", {}).items():
                if matches(pattern, name):
                    members.append((schema, part.resolver))
                    covered = True
            if not covered and "additionalProperties" in part.schema:
                members.append((part.schema["additionalProperties"], part.resolver))
        return self._gatherer.gather(members)

    def _unnamed(self, place: Place) -> Place | None:
        """Everything that applies to a key that is neither declared nor matched by a pattern."""
        members = [
            (part.schema[keyword], part.resolver)
            for part in place.parts
            for keyword in ("additionalProperties", "unevaluatedProperties")
            if keyword in part.schema
        ]
        return self._gatherer.gather(members)

    def _patterns(self, place: Place) -> tuple[tuple[str, Node | None], ...]:
        """What stands under the keys of each pattern; ``None`` forbids them."""
        found: dict[str, list[tuple[Any, Any]]] = {}
        for part in place.parts:
            for pattern, schema in part.schema.get("patternProperties", {}).items():
                found.setdefault(pattern, []).append((schema, part.resolver))
        return tuple(
            (pattern, self._lower(self._gatherer.gather(members))) for pattern, members in found.items()
        )

    def _free_keys(
        self, place: Place, patterns: tuple[tuple[str, Node], ...], rest: Node | None, declares: bool
    ) -> tuple[Node | None, str | None]:
        """What may be generated under free keys, and the pattern they must match."""
        if patterns:
            united = self._unite([node for _, node in patterns])
            if len(patterns) == 1:
                return united, patterns[0][0]
            return united, "|".join(f"(?:{pattern})" for pattern, _ in patterns)
        described = any(isinstance(schema, Mapping) for schema in place.values("additionalProperties"))
        if rest is None or (declares and not described):
            return None, None
        for names in place.values("propertyNames"):
            if isinstance(names, Mapping) and isinstance(names.get("pattern"), str):
                return rest, names["pattern"]
            if isinstance(names, Mapping) and isinstance(names.get("enum"), list):
                words = "|".join(re.escape(word) for word in names["enum"] if isinstance(word, str))
                return rest, f"^(?:{words})$"
        return rest, None

    # Arrays

    def _array(self, place: Place, *, loose: bool) -> Array | None:
        listed = [self._listed(part) for part in place.parts]
        length = max((len(prefix) for prefix, _ in listed), default=0)
        least = largest(place.values("minItems")) or 0
        most = smallest(place.values("maxItems"))
        prefix: list[Node] = []
        items: Node | None = None
        for index in range(length):
            node = self._lower(self._gatherer.gather(_elements(listed, index)))
            if node is None:
                most = index if most is None else min(most, index)
                break
            prefix.append(node)
        else:
            items = self._lower(self._gatherer.gather(_elements(listed, None)))
        if items is None:
            most = len(prefix) if most is None else min(most, len(prefix))
        if most is not None and least > most:
            return None
        return Array(
            items=items,
            prefix=tuple(prefix),
            min_items=least,
            max_items=most,
            unique=any(unique is True for unique in place.values("uniqueItems")),
            description=place.description,
            loose=loose,
        )

    def _listed(self, part: Part) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
        """The schemas of a part's first elements, and the schema of the others (none: anything)."""
        items = part.schema.get("items", True)
        if self._tuples_in_items:
            if isinstance(items, list):
                others = part.schema.get("additionalItems", True)
                return [(schema, part.resolver) for schema in items], [(others, part.resolver)]
            return [], [(items, part.resolver)]
        first = part.schema.get("prefixItems", [])
        others = [(items, part.resolver)]
        if "unevaluatedItems" in part.schema and "items" not in part.schema:
            others = [(part.schema["unevaluatedItems"], part.resolver)]
        return [(schema, part.resolver) for schema in first], others


def _limit_of_keys(
    place: Place,
    described: Sequence[tuple[str | None, Node | None]],
    names: Sequence[str],
    properties: Sequence[Property],
) -> str | None:
    """Why a grammar cannot keep what a place says of its free keys, or ``None``."""
    naming = place.values("propertyNames")
    sayable = all(
        names is True or (len(names) == 1 and {"pattern", "enum"} & names.keys()) for names in naming
    )
    if not sayable or len(naming) + len(place.values("patternProperties")) > 1 or _is_closed_elsewhere(place):
        return "Its free keys must satisfy several rules at once."
    kept = [declared.name for declared in properties]
    for name in names:
        if name not in kept and any(pattern is None or matches(pattern, name) for pattern, _ in described):
            return f"The key {name!r} is forbidden among its free keys."
    from raif_integrations.contract.free_keys import unsayable_keys  # the automata are rarely needed

    return unsayable_keys(described, tuple(kept))


def _is_closed_elsewhere(place: Place) -> bool:
    """Whether keys that one schema of a place matches by patterns are free keys for another."""
    if not place.has("patternProperties"):
        return False
    return any(
        "patternProperties" not in part.schema and part.schema.get("additionalProperties", True) is not True
        for part in place.parts
    )


def _elements(
    listed: list[tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]], index: int | None
) -> list[tuple[Any, Any]]:
    """The schemas of the element at an index, or of those after every prefix (``None``)."""
    members: list[tuple[Any, Any]] = []
    for prefix, others in listed:
        if index is not None and index < len(prefix):
            members.append(prefix[index])
        else:
            members.extend(others)
    return members


def _distinct(nodes: list[Node]) -> list[Node]:
    """Leaves out nodes that say the same; scalar choices are joined."""
    kept: list[Node] = []
    for node in nodes:
        if isinstance(node, Choice) and not node.loose:
            first = next((other for other in kept if isinstance(other, Choice)), None)
            if first is not None:
                known = set(map(identity, first.values))
                extra = tuple(value for value in node.values if identity(value) not in known)
                kept[kept.index(first)] = replace(first, values=first.values + extra)
                continue
        if not any(equal_nodes(node, other) for other in kept):
            kept.append(node)
    return kept


def equal_nodes(left: Node, right: Node) -> bool:
    """Whether two nodes say the same, descriptions aside (nested nodes are compared by identity)."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    return all(
        getattr(left, name) == getattr(right, name)
        for name in left.__dataclass_fields__
        if name != "description"
    )
