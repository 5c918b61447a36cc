"""``if``, ``then`` and ``else`` as alternatives.

A condition that asks for fixed values, types or the presence of keys has an opposite that can be said in
the same terms: some key is there and has another value, or a required key is absent. Its two sides are then
two alternatives. Other conditions are limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

NOT_AMONG = "\0not among"
"""A keyword of our own, which no schema can hold: the values that the other side of a condition has."""

_TYPES = ("null", "boolean", "object", "array", "number", "string")
_SAID = frozenset({"properties", "required", "type"})
_NOTES = frozenset({"title", "description", "$comment", "default", "examples"})


class Conditions:
    """The conditions of one schema, each turned into alternatives once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Mapping[str, Any], list[Any] | None]] = {}

    def branches(self, schema: Mapping[str, Any]) -> list[Any]:
        """The alternatives that a schema object's condition stands for.

        Args:
            schema: The schema object; it lives as long as this object.

        Returns:
            Schemas of which one applies; empty without a condition, or if the opposite cannot be said.
        """
        return self._of(schema) or []

    def limit(self, schemas: Iterable[Mapping[str, Any]]) -> str | None:
        """Why some condition cannot be carried, or ``None``."""
        if any(_is_conditional(schema) and self._of(schema) is None for schema in schemas):
            return "Its if/then/else asks for more than fixed values, types and keys that are there."
        return None

    def _of(self, schema: Mapping[str, Any]) -> list[Any] | None:
        if id(schema) not in self._known:
            self._known[id(schema)] = schema, _branches(schema)
        return self._known[id(schema)][1]


def _is_conditional(schema: Mapping[str, Any]) -> bool:
    return "if" in schema and ("then" in schema or "else" in schema)


def _branches(schema: Mapping[str, Any]) -> list[Any] | None:
    """Both sides of a condition; ``None`` if the other side cannot be said."""
    if not _is_conditional(schema):
        return []
    opposite = _opposites(schema["if"])
    if opposite is None:
        return None
    met = {"allOf": [schema["if"], schema.get("then", True)]}
    return [met, *({"allOf": [other, schema.get("else", True)]} for other in opposite)]


def _opposites(condition: Any) -> list[Any] | None:
    """Schemas of which one holds where a condition does not; ``None`` if they cannot be said."""
    if isinstance(condition, bool):
        return [not condition]
    if not isinstance(condition, Mapping) or not condition.keys() - _NOTES <= _SAID:
        return None
    others: list[Any] = [
        {"type": "object", "properties": {name: False}} for name in condition.get("required", ())
    ]
    for name, value in condition.get("properties", {}).items():
        if value is True:
            continue
        other = _other_value(value)
        if other is None:
            return None
        others.append({"type": "object", "properties": {name: other}, "required": [name]})
    if "type" in condition:
        others.append({"type": _other_types(condition["type"])})
    return others


def _other_value(schema: Any) -> Any:
    """The schema of the values that a simple schema refuses, or ``None`` if it is not simple."""
    if schema is False:
        return True
    if not isinstance(schema, Mapping):
        return None
    said = schema.keys() - _NOTES
    if said in ({"const"}, {"enum"}):
        return {NOT_AMONG: [schema["const"]] if "const" in schema else list(schema["enum"])}
    if said == {"type"}:
        return {"type": _other_types(schema["type"])}
    return None


def _other_types(declared: Any) -> list[str]:
    """The types beside those declared; a number that is not whole is left out beside ``integer``."""
    names = {declared} if isinstance(declared, str) else set(declared)
    if "integer" in names:
        names.add("number")
    return [name for name in _TYPES if name not in names]
