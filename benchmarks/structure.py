"""The structural part of a JSON Schema: what every sentence of the contract's grammar must keep.

Types, ``required``, ``enum``, ``const``, nullability, declared and free keys, tuples, ``minItems``,
``maxItems`` and conditions stay. Left out are the keywords that no context-free grammar can say (``not``,
the exclusiveness of ``oneOf``, ``uniqueItems``, ``contains``, ``multipleOf``) and those that the contract's
grammar says only as far as they are regular and cheap (lengths, patterns, formats, bounds, numbers of keys).
"""

from __future__ import annotations

from typing import Any

_LEFT_OUT = frozenset(
    {"not", "multipleOf", "divisibleBy", "disallow", "extends", "uniqueItems", "format", "pattern"}
    | {"contains", "minContains", "maxContains", "propertyNames", "minProperties", "maxProperties"}
    | {"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"dependencies", "dependentRequired", "dependentSchemas"}
)
_OF_ONE = frozenset(
    {"additionalProperties", "additionalItems", "then", "else", "unevaluatedItems", "unevaluatedProperties"}
)
_OF_MANY = frozenset({"allOf", "anyOf", "prefixItems"})
_DATA = frozenset({"if", "const", "default", "enum", "examples"})
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions"})


def structural(schema: Any) -> Any:
    """A copy of a schema without the keywords that are not structural.

    Every value that is valid for the schema is valid for the copy. What stands under ``if`` is copied
    as it is: a weaker condition would ask for more.

    Args:
        schema: The JSON Schema.

    Returns:
        The weaker schema, of the same draft and with the same references.
    """
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _LEFT_OUT:
            continue
        if keyword in _OF_ONE or (keyword == "items" and isinstance(value, dict)):
            kept[keyword] = structural(value)
        elif (keyword in _OF_MANY or keyword == "items") and isinstance(value, list):
            kept[keyword] = [structural(below) for below in value]
        elif keyword in _BY_NAME and isinstance(value, dict):
            kept[keyword] = {name: structural(below) for name, below in value.items()}
        elif isinstance(value, dict) and keyword not in _DATA:
            kept[keyword] = structural(value)  # definitions may stand anywhere
        else:
            kept[keyword] = value
    exclusive = kept.pop("oneOf", None)
    if isinstance(exclusive, list):
        members = [{"anyOf": [structural(below) for below in exclusive]}]
        kept["allOf"] = [*kept.get("allOf", []), *members]
    return kept
