"""The keywords of a place without alternatives: types, allowed values, scalars and their limits."""

from __future__ import annotations

import math
import re
from typing import Any

from raif_integrations.contract.conditions import NOT_AMONG
from raif_integrations.contract.conjunction import Place
from raif_integrations.contract.constants import identity
from raif_integrations.contract.tree import Scalar

ALL_KINDS = frozenset({"null", "boolean", "object", "array", "number", "string"})
"""The JSON types; ``integer`` is counted beside ``number``."""

IMPLIED_BY = {
    "object": (
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
    ),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""Keywords that imply a type where ``type`` is missing."""


def matches(pattern: str, text: str) -> bool:
    """Whether an ECMA-262 pattern is found in a text; a pattern Python cannot read matches nothing."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def kinds_of(place: Place) -> tuple[frozenset[str], bool]:
    """The JSON types a place allows, and whether the schema says so itself."""
    kinds = set(ALL_KINDS)
    explicit = False
    for declared in place.values("type"):
        names = (
            {declared} if isinstance(declared, str) else {name for name in declared if isinstance(name, str)}
        )
        if "any" in names:  # draft 3
            continue
        explicit = True
        if "number" in names:
            names.discard("integer")
        narrowed = kinds & names
        if "integer" in names and "number" in kinds:
            narrowed.add("integer")
        if "number" in names and "integer" in kinds:
            narrowed.add("integer")
        kinds = narrowed
    return frozenset(kinds), explicit


def allowed_values(place: Place) -> list[Any]:
    """The values that every ``enum`` and ``const`` of a place allows, and no condition rules out.

    Without ``enum`` and ``const`` those are the truth values and null.
    """
    lists = [list(values) for values in place.values("enum")]
    lists += [[value] for value in place.values("const")]
    first, *others = lists or [[False, True, None]]
    wanted = [set(map(identity, values)) for values in others]
    ruled_out = {identity(value) for values in place.values(NOT_AMONG) for value in values}
    return [
        value
        for value in first
        if all(identity(value) in values for values in wanted) and identity(value) not in ruled_out
    ]


def scalar_node(kind: str, place: Place, *, loose: bool) -> Scalar | None:
    """A string, integer, number or boolean with its limits; ``None`` if they contradict each other."""
    if kind == "string":
        least = largest(place.values("minLength")) or 0
        most = smallest(place.values("maxLength"))
        if most is not None and least > most:
            return None
        return Scalar(
            type="string",
            min_length=least,
            max_length=most,
            pattern=next(iter(place.values("pattern")), None),
            format=next(iter(place.values("format")), None),
            description=place.description,
            loose=loose,
        )
    if kind == "boolean":
        return Scalar(type="boolean", description=place.description, loose=loose)
    lower, upper = _bounds(place, integer=kind == "integer")
    if lower is not None and upper is not None and lower > upper:
        return None
    return Scalar(
        type="integer" if kind == "integer" else "number",
        minimum=lower,
        maximum=upper,
        description=place.description,
        loose=loose,
    )


def _bounds(place: Place, *, integer: bool) -> tuple[int | float | None, int | float | None]:
    """Inclusive bounds over all parts."""
    lowers: list[int | float] = []
    uppers: list[int | float] = []
    for part in place.parts:
        schema = part.schema
        for bounds, keyword, exclusive, step in (
            (lowers, "minimum", "exclusiveMinimum", 1),
            (uppers, "maximum", "exclusiveMaximum", -1),
        ):
            bound, beyond = schema.get(keyword), schema.get(exclusive)
            if isinstance(bound, (int, float)) and _is_number(bound):
                strict = beyond is True
                bounds.append(_inclusive(bound, step, strict=strict, integer=integer))
            if isinstance(beyond, (int, float)) and _is_number(beyond):
                bounds.append(_inclusive(beyond, step, strict=True, integer=integer))
    return max(lowers, default=None), min(uppers, default=None)


def _inclusive(bound: float, step: int, *, strict: bool, integer: bool) -> int | float:
    """A bound as an inclusive one; exact for integers, at most one point too wide for numbers."""
    if not integer:
        return bound
    whole = math.ceil(bound) if step > 0 else math.floor(bound)
    return whole + step if strict and whole == bound else whole


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def largest(values: list[Any]) -> int | None:
    """The largest of a keyword's numbers, as a whole number."""
    return max((int(value) for value in values if _is_number(value)), default=None)


def smallest(values: list[Any]) -> int | None:
    """The smallest of a keyword's numbers, as a whole number."""
    return min((int(value) for value in values if _is_number(value)), default=None)
