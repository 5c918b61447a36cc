"""The typed tree back to JSON Schema: the small schemas for asking again are cut out of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from raif_integrations.contract.paths import Path
from raif_integrations.contract.tree import (
    Array,
    Choice,
    Node,
    Object,
    Property,
    Reference,
    Scalar,
    Tree,
    Union,
)

_SCALAR_KEYWORDS = (
    ("max_length", "maxLength"),
    ("pattern", "pattern"),
    ("format", "format"),
    ("minimum", "minimum"),
    ("maximum", "maximum"),
)


def schema_of(tree: Tree, wanted: Mapping[Path, bool]) -> dict[str, Any]:
    """The schema of an object that holds nothing but the wanted fields.

    Args:
        tree: The tree.
        wanted: Paths of keys, each with whether it is required; no path leads through an array.

    Returns:
        A JSON Schema; definitions it refers to are included.
    """
    schema = _selection(tree, tree.root, (), wanted)
    definitions = {name: node_schema(node) for name, node in tree.definitions.items()}
    if definitions:
        schema["$defs"] = definitions
    return schema


def _selection(tree: Tree, node: Object, here: Path, wanted: Mapping[Path, bool]) -> dict[str, Any]:
    """The part of an object that leads to wanted fields."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for declared in node.properties:
        path = (*here, declared.name)
        if path in wanted:
            properties[declared.name] = node_schema(declared.node)
            if wanted[path]:
                required.append(declared.name)
            continue
        below = {other: need for other, need in wanted.items() if other[: len(path)] == path}
        target = object_of(tree, declared.node)
        if below and target is not None:
            properties[declared.name] = _selection(tree, target, path, below)
            if any(below.values()):
                required.append(declared.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return schema


def object_of(tree: Tree, node: Node) -> Object | None:
    """The object a node stands for, if it stands for one only."""
    if isinstance(node, Reference):
        node = tree.definitions[node.target]
    return node if isinstance(node, Object) else None


def node_schema(node: Node) -> dict[str, Any]:
    """A JSON Schema that says what a node says."""
    schema = _plain_schema(node)
    if node.nullable and schema:
        schema = _with_null(schema)
    if node.description:
        schema["description"] = node.description
    return schema


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {"anyOf": [schema, {"type": "null"}]}


def _plain_schema(node: Node) -> dict[str, Any]:
    if isinstance(node, Scalar):
        schema: dict[str, Any] = {"type": node.type}
        if node.min_length:
            schema["minLength"] = node.min_length
        for attribute, keyword in _SCALAR_KEYWORDS:
            if (value := getattr(node, attribute)) is not None:
                schema[keyword] = value
        return schema
    if isinstance(node, Choice):
        return {"enum": list(node.values)}
    if isinstance(node, Object):
        return _object_schema(node)
    if isinstance(node, Array):
        return _array_schema(node)
    if isinstance(node, Union):
        return {"anyOf": [node_schema(option) for option in node.options]}
    if isinstance(node, Reference):
        return {"$ref": f"#/$defs/{node.target}"}
    return {}


def _object_schema(node: Object) -> dict[str, Any]:
    by_name = {declared.name: declared for declared in node.properties}
    names = [name for name in node.declared_order if name in by_name] or list(by_name)
    declared = [by_name[name] for name in names]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: node_schema(one.node) for one in declared},
    }
    required = _required(declared)
    if required:
        schema["required"] = required
    if node.patterns:
        schema["patternProperties"] = {pattern: node_schema(below) for pattern, below in node.patterns}
    schema["additionalProperties"] = node_schema(node.rest) if node.rest is not None else False
    if node.min_properties:
        schema["minProperties"] = node.min_properties
    if node.max_properties is not None:
        schema["maxProperties"] = node.max_properties
    return schema


def _required(declared: Iterable[Property]) -> list[str]:
    return [one.name for one in declared if one.required]


def _array_schema(node: Array) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "array"}
    if node.prefix:
        schema["prefixItems"] = [node_schema(element) for element in node.prefix]
    schema["items"] = node_schema(node.items) if node.items is not None else False
    if node.min_items:
        schema["minItems"] = node.min_items
    if node.max_items is not None:
        schema["maxItems"] = node.max_items
    if node.unique:
        schema["uniqueItems"] = True
    return schema
