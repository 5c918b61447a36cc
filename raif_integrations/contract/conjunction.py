"""A place in a schema as the list of schema objects that all apply to it.

``$ref`` targets and ``allOf`` members are laid side by side, so that the lowering can read every
keyword of a place at once. Alternatives (``anyOf``, ``oneOf``, the two sides of ``if``) stay apart as groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raif_integrations.contract.conditions import Conditions
from raif_integrations.contract.dialect import ValidatorClass, resource_of
from raif_integrations.errors import SchemaError

if TYPE_CHECKING:
    from referencing._core import Resolver

REF_KEYWORDS = ("$ref", "$dynamicRef", "$recursiveRef")
_GROUPS = ("anyOf", "oneOf", "if")


_SILENT = frozenset(
    {*REF_KEYWORDS, "allOf", "$defs", "definitions", "$schema", "$id", "id", "$anchor", "$comment"}
    | {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
"""Keywords that say nothing of the value, or are followed when the parts of a place are gathered."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One schema object of a place.

    Attributes:
        schema: The schema object, its ``$ref`` and ``allOf`` already followed.
        resolver: Resolves the references below it.
        plain: Its alternatives (``anyOf``, ``oneOf``, ``if``) are left out: they have been expanded.
    """

    schema: Mapping[str, Any]
    resolver: Resolver[Any]
    plain: bool = False

    @property
    def key(self) -> tuple[int, bool]:
        """Identity of the part; schema objects live as long as the lowering."""
        return id(self.schema), self.plain


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """All schema objects that apply to one place.

    Attributes:
        parts: The schema objects; empty if everything is allowed.
        description: The nearest ``description``.
    """

    parts: tuple[Part, ...]
    description: str | None = None

    @property
    def key(self) -> frozenset[tuple[int, bool]]:
        """Equal for two places under the same schema objects."""
        return frozenset(part.key for part in self.parts)

    def values(self, keyword: str) -> list[Any]:
        """The keyword's values over all parts that have it."""
        return [part.schema[keyword] for part in self.parts if keyword in part.schema]

    def has(self, *keywords: str) -> bool:
        """Whether any part has any of the keywords."""
        return any(keyword in part.schema for part in self.parts for keyword in keywords)

    @property
    def has_groups(self) -> bool:
        """Whether there are alternatives that are still to be expanded."""
        return any(not part.plain and not part.schema.keys().isdisjoint(_GROUPS) for part in self.parts)

    def groups(self, conditions: Conditions) -> list[tuple[Part, list[Any]]]:
        """The alternatives that are still to be expanded, each with the part that holds them.

        Args:
            conditions: Turns ``if``, ``then`` and ``else`` into alternatives.
        """
        found: list[tuple[Part, list[Any]]] = []
        for part in self.parts:
            if part.plain:
                continue
            listed = (part.schema.get("anyOf"), part.schema.get("oneOf"), conditions.branches(part.schema))
            found.extend((part, list(branches)) for branches in listed if branches)
        return found

    def without_groups(self) -> Place:
        """The same place with its alternatives left out."""
        parts = tuple(Part(part.schema, part.resolver, plain=True) for part in self.parts)
        return Place(parts, self.description)


class Gatherer:
    """Builds places from schemas.

    Args:
        draft: The draft of the whole schema.
    """

    def __init__(self, draft: ValidatorClass) -> None:
        self._draft = draft
        # Up to draft 7, ``$ref`` switches off every keyword beside it.
        number = str(draft.META_SCHEMA.get("$schema", ""))
        self._lone_ref = any(f"draft-0{version}" in number for version in (3, 4, 6, 7))

    def gather(self, members: Iterable[tuple[Any, Resolver[Any]]], *more: Part) -> Place | None:
        """Lays the schemas of one place side by side.

        Args:
            members: Schemas that all apply, each with the resolver of where it stands.
            more: Parts that apply besides.

        Returns:
            The place, or ``None`` if one of the schemas is ``false``.

        Raises:
            SchemaError: A reference leads nowhere.
        """
        parts: list[Part] = []
        seen: set[int] = set()
        descriptions: list[str] = []
        for schema, resolver in members:
            if not self._collect(schema, resolver, parts, seen, descriptions):
                return None
        parts.extend(part for part in more if id(part.schema) not in seen)
        return Place(tuple(parts), descriptions[0] if descriptions else None)

    def _collect(
        self,
        schema: Any,
        resolver: Resolver[Any],
        parts: list[Part],
        seen: set[int],
        descriptions: list[str],
    ) -> bool:
        """Adds a schema and what it refers to; false if nothing can satisfy it."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping) or id(schema) in seen:
            return True
        seen.add(id(schema))
        description = schema.get("description")
        if isinstance(description, str) and description.strip():
            descriptions.append(description)
        if "$id" in schema or "id" in schema:
            resolver = self._inside(schema, resolver)
        for target, there in self._targets(schema, resolver):
            if not self._collect(target, there, parts, seen, descriptions):
                return False
        if "$ref" in schema and self._lone_ref:
            return True
        for member in schema.get("allOf", ()):
            if not self._collect(member, resolver, parts, seen, descriptions):
                return False
        if not schema.keys() <= _SILENT:
            parts.append(Part(schema, resolver))
        return True

    def _inside(self, schema: Mapping[str, Any], resolver: Resolver[Any]) -> Resolver[Any]:
        """The resolver below a schema that sets a base URI of its own."""
        from referencing.exceptions import Unresolvable

        try:
            return resolver.in_subresource(resource_of(schema, self._draft))
        except (Unresolvable, ValueError, AttributeError):  # an ``id`` that is not a URI changes nothing
            return resolver

    def _targets(
        self, schema: Mapping[str, Any], resolver: Resolver[Any]
    ) -> Iterator[tuple[Any, Resolver[Any]]]:
        """What the references of a schema lead to."""
        from referencing.exceptions import Unresolvable

        for keyword in REF_KEYWORDS:
            reference = schema.get(keyword)
            if not isinstance(reference, str):
                continue
            try:
                found = resolver.lookup(reference)
            except (Unresolvable, ValueError) as error:
                raise SchemaError(
                    f"The reference {keyword}: {reference!r} leads nowhere inside the schema.",
                    hint="Put the definition under $defs; nothing is fetched from the network.",
                ) from error
            yield found.contents, found.resolver
