"""JSON Schema to the typed tree."""

from __future__ import annotations

from typing import Any

import pytest

from raif_integrations.contract import OutputContract
from raif_integrations.contract.schema import lower
from raif_integrations.contract.tree import Anything, Array, Choice, Node, Object, Reference, Scalar, Union
from raif_integrations.errors import SchemaError


def field(schema: Any, **root: Any) -> Node:
    """The node of one property with the given schema."""
    tree = lower({"type": "object", "properties": {"x": schema}, **root})
    return tree.root.properties[0].node


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean"])
def test_scalar_types(kind: str) -> None:
    node = field({"type": kind})
    assert isinstance(node, Scalar)
    assert (node.type, node.nullable) == (kind, False)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "null"}, {"type": "string"}]},
        {"anyOf": [{"$ref": "#/$defs/s"}, {"type": "null"}]},
        {"type": ["null", "string"], "allOf": [{"minLength": 0}]},
    ],
    ids=["list", "anyOf", "oneOf", "ref", "allOf"],
)
def test_nullable_forms_are_one(schema: Any) -> None:
    node = field(schema, **{"$defs": {"s": {"type": "string"}}})
    assert isinstance(node, Scalar)
    assert (node.type, node.nullable) == ("string", True)


def test_limits_of_all_parts_are_joined() -> None:
    node = field({"type": "integer", "minimum": 1, "allOf": [{"exclusiveMinimum": 3, "maximum": 9.5}]})
    assert isinstance(node, Scalar)
    assert (node.minimum, node.maximum) == (4, 9)


def test_draft_4_exclusive_bounds() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"x": {"type": "integer", "minimum": 3, "exclusiveMinimum": True}},
    }
    node = lower(schema).root.properties[0].node
    assert isinstance(node, Scalar)
    assert node.minimum == 4


def test_enum_keeps_types_and_narrows_by_type() -> None:
    node = field({"type": ["string", "boolean", "null"], "enum": ["a", 1, True, None, "b"]})
    assert isinstance(node, Choice)
    assert node.values == ("a", True, "b")
    assert node.nullable


def test_composite_enum_values_become_closed_nodes() -> None:
    node = field({"enum": [[1, "a"], {"k": None}]})
    assert isinstance(node, Union)
    assert {type(option) for option in node.options} == {Array, Object}


def test_properties_of_all_parts_are_joined() -> None:
    schema = {
        "type": "object",
        "properties": {"b": {"type": "string"}},
        "required": ["b"],
        "allOf": [{"$ref": "#/$defs/more"}],
        "$defs": {"more": {"properties": {"a": {"type": "integer"}, "b": {"minLength": 2}}}},
    }
    root = lower(schema).root
    assert [(one.name, one.required) for one in root.properties] == [("a", False), ("b", True)]
    b = root.properties[1].node
    assert isinstance(b, Scalar)
    assert b.min_length == 2


def test_old_drafts_ignore_what_stands_beside_a_reference() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"x": {"$ref": "#/definitions/s", "maxLength": 3}},
        "definitions": {"s": {"type": "string"}},
    }
    node = lower(schema).root.properties[0].node
    assert isinstance(node, Scalar)
    assert node.max_length is None


def test_alternatives_with_shared_keys() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "anyOf": [
            {"required": ["kind"]},
            {"properties": {"size": {"type": "integer"}}, "required": ["size"]},
        ],
    }
    tree = lower(schema)
    assert tree.envelope == "value"
    node = tree.root.properties[0].node
    assert isinstance(node, Union)
    assert all(isinstance(option, Object) for option in node.options)


def test_impossible_alternatives_are_left_out() -> None:
    node = field({"type": "string", "anyOf": [{"type": "integer"}, {"maxLength": 3}, False]})
    assert isinstance(node, Scalar)
    assert node.max_length == 3


def test_arrays_tuples_and_their_ends() -> None:
    assert isinstance(field({"type": "array"}), Array)
    pair = field({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False})
    assert isinstance(pair, Array)
    assert (len(pair.prefix), pair.items, pair.max_items) == (2, None, 2)


def test_draft_7_tuples() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": [{"type": "string"}, True]}}}
    node = lower(schema).root.properties[0].node
    assert isinstance(node, Array)
    assert [type(element) for element in node.prefix] == [Scalar, Anything]
    assert isinstance(node.items, Anything)


def test_maps() -> None:
    node = field({"type": "object", "additionalProperties": {"type": "integer"}})
    assert isinstance(node, Object)
    assert isinstance(node.additional, Scalar)
    patterned = field(
        {"type": "object", "patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False}
    )
    assert isinstance(patterned, Object)
    assert (patterned.additional_pattern, patterned.rest) == ("^a", None)


def test_declared_objects_are_a_closed_world_for_generating_but_not_for_reading() -> None:
    node = field({"type": "object", "properties": {"a": {}}})
    assert isinstance(node, Object)
    assert node.additional is None
    assert isinstance(node.rest, Anything)


def test_implied_types_are_loose() -> None:
    node = field({"properties": {"a": {"type": "string"}}})
    assert isinstance(node, Object)
    assert node.loose


@pytest.mark.parametrize("schema", [{}, True, {"description": "anything"}])
def test_untyped_fields(schema: Any) -> None:
    assert isinstance(field(schema), Anything)


def test_forbidden_keys_are_not_declared() -> None:
    assert lower({"type": "object", "properties": {"x": False, "y": True}}).root.declared_order == ("y",)


def test_recursion_is_a_reference_and_a_limit() -> None:
    schema = {
        "$ref": "#/$defs/tree",
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                },
            }
        },
    }
    tree = lower(schema)
    children = tree.root.properties[0].node
    assert isinstance(children, Array)
    assert isinstance(children.items, Reference)
    assert tree.definitions[children.items.target] is tree.root
    assert [limit.path for limit in tree.limits] == ["children[]"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ({"type": "string"}, "a"),
        ({"type": ["object", "null"], "properties": {"a": {"type": "integer"}}}, None),
        ({"anyOf": [{"type": "integer"}, {"type": "object"}]}, {"a": 1}),
        (True, {"a": [None]}),
        ({"const": [1, {"a": None}]}, [1, {"a": None}]),
    ],
)
def test_roots_that_are_no_objects_travel_in_an_envelope(schema: Any, value: Any) -> None:
    contract = OutputContract.from_json_schema(schema)
    assert contract.wire == "raif"
    assert contract.tree.envelope is not None
    decoded = contract.decode(contract.encode(value))
    assert decoded.ok
    assert decoded.value == value


@pytest.mark.parametrize("schema", [False, {"type": "object", "properties": {"a": False}, "required": ["a"]}])
def test_unsatisfiable_schemas_are_json_with_the_reason(schema: Any) -> None:
    contract = OutputContract.from_json_schema(schema)
    assert contract.wire == "json"
    assert "No value" in contract.limits[0].reason


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "strin"}, "strin"),
        ({"properties": []}, "properties"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}, "#/$defs/none"),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.com/x.json"}}}, "example.com"),
        ({1: 2}, "1"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_place(schema: Any, named: str) -> None:
    with pytest.raises(SchemaError, match=named.replace("$", r"\$").replace(".", r"\.")):
        OutputContract.from_json_schema(schema)


def test_raif_on_demand_names_the_field_that_forbids_it() -> None:
    schema = {"type": "object", "properties": {"a\nb": {"type": "string"}}}
    assert OutputContract.from_json_schema(schema).wire == "json"
    with pytest.raises(SchemaError, match="line break"):
        OutputContract.from_json_schema(schema, wire="raif")


def test_alternatives_that_are_too_many_travel_as_json() -> None:
    branches = [{"properties": {f"k{index}": {"type": "integer"}}} for index in range(60)]
    contract = OutputContract.from_json_schema(
        {"type": "object", "anyOf": branches, "allOf": [{"anyOf": branches}]}
    )
    assert contract.wire == "json"
    assert contract.decode('{"k1": 5}').value == {"k1": 5}


def test_a_bound_beyond_a_double_is_a_bound() -> None:
    node = field({"type": "integer", "minimum": 10**400})
    assert isinstance(node, Scalar)
    assert node.minimum == 10**400
