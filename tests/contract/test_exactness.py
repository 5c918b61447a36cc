"""What is encoded comes back exactly, and what is invalid is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
import raif
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raif_integrations.contract import OutputContract
from tests.contract.strategies import KEYS, NASTY, documents, identical, json_values, objects


def roundtrip(contract: OutputContract, value: Any) -> None:
    """Encodes, decodes in both modes, and compares."""
    text = contract.encode(value)
    for constrained in (False, True):
        decoded = contract.decode(text, constrained=constrained)
        assert decoded.ok, (text, decoded)
        assert identical(decoded.value, value), (text, decoded)


STRINGS = OutputContract.from_json_schema(
    {"type": "object", "properties": {"a": {"type": "string"}, "x": {"type": "string"}}}
)
PLACES: dict[str, tuple[dict[str, Any], Any]] = {
    "leaf": ({"type": "string"}, lambda text: text),
    "nullable": ({"type": ["string", "null"]}, lambda text: text),
    "untyped": ({}, lambda text: text),
    "union": ({"type": ["string", "number", "boolean", "null", "array", "object"]}, lambda text: text),
    "list": ({"type": "array", "items": {"type": "string"}}, lambda text: [text, "b", text]),
    "single": ({"type": "array", "items": {"type": "string"}}, lambda text: [text]),
    "untyped list": ({"type": "array"}, lambda text: [text, 1, None]),
    "row": (
        {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
        },
        lambda text: [{"a": text, "b": 1}],
    ),
    "table": (
        {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
        },
        lambda text: [{"a": text, "b": 1}, {"a": "x", "b": 2}],
    ),
    "nullable table": (
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}},
        lambda text: [{"a": text}, {"a": None}],
    ),
    "map": ({"type": "object", "additionalProperties": {"type": "string"}}, lambda text: {"k": text}),
    "enum": ({"enum": [*NASTY, None, 1, True]}, lambda text: text),
}


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("place", PLACES)
def test_troublesome_strings(place: str, text: str) -> None:
    schema, build = PLACES[place]
    contract = OutputContract.from_json_schema(
        {"type": "object", "properties": {"x": schema, "z": {"type": "string"}}}
    )
    roundtrip(contract, {"x": build(text), "z": "end"})
    roundtrip(contract, {"x": build(text)})


@pytest.mark.parametrize("key", [*KEYS, "a\nb", "a\rb", "<<<", ">>>", "a<<<b>>>c", "\u2028", "k\r"])
def test_troublesome_keys(key: str) -> None:
    declared = {
        "type": "object",
        "properties": {key: {"type": "string"}, "n": {"type": "object", "properties": {key: {}}}},
    }
    roundtrip(OutputContract.from_json_schema(declared), {key: "v", "n": {key: 1}})
    free = OutputContract.from_json_schema({"type": "object"})
    roundtrip(free, {key: "v", "n": {key: [{key: 1, "b": None}, {key: 2, "b": "x"}]}})


@pytest.mark.parametrize(
    "number",
    [
        0,
        -1,
        5,
        5.0,
        -0.0,
        0.1,
        1e22,
        1e-7,
        2**53 + 1,
        -(2**64),
        10**400,
        10**5000 + 1,
        1.7976931348623157e308,
        5e-324,
    ],
    ids=lambda number: repr(number) if isinstance(number, float) else f"{number.bit_length()} bits",
)
@pytest.mark.parametrize("wire", ["raif", "json"])
def test_numbers_keep_every_digit_and_their_type(number: Any, wire: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"type": "number"}, "t": {"type": "array", "items": {"type": "number"}}},
    }
    roundtrip(OutputContract.from_json_schema(schema, wire=wire), {"x": number, "t": [number, 1]})


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": {}},
        {"a": []},
        {"a": [[]]},
        {"a": [{}]},
        {"a": [{}, {}]},
        {"a": [None]},
        {"a": [None, None]},
        {"a": [[1, 2], [], [3]]},
        {"a": [{"b": 1}, {"c": 2}]},
        {"a": [{"b": 1}, {"b": None}]},
        {"a": [1, "1", True, None, 1.0]},
        {"a": [{"b": [1]}, {"b": []}]},
        {"a": {"b": {"c": {"d": [{"e": "f\ng"}]}}}},
        {"a": [{"b": {"c": 1}}, {"b": {}}]},
        {"a": [[{"b": 1}, {"b": 2}], [{"b": 3}]]},
        {"a": None},
        {"a": ["x\ny", "z"]},
        {"a": [{"b": "x\ny"}]},
    ],
    ids=json.dumps,
)
def test_containers(value: Any) -> None:
    roundtrip(OutputContract.from_json_schema({"type": "object"}), value)
    roundtrip(OutputContract.from_json_schema({"type": "object", "properties": {"a": {}}}), value)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(objects(), documents()), st.sampled_from(["auto", "json"]))
def test_any_value_of_any_schema(document: tuple[Any, Any], wire: Any) -> None:
    schema, value = document
    roundtrip(OutputContract.from_json_schema(schema, wire=wire), value)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(objects(), json_values())
def test_values_of_other_schemas_are_refused_or_exact(document: tuple[Any, Any], value: Any) -> None:
    contract = OutputContract.from_json_schema(document[0])
    decoded = contract.decode(contract.encode(value) if isinstance(value, dict) else json.dumps({"x": value}))
    if decoded.ok and isinstance(value, dict):
        assert identical(decoded.value, value)
    assert decoded.ok or all(error.rule for error in decoded.errors)


@pytest.mark.parametrize(
    ("value", "path", "rule"),
    [
        ({"n": "5"}, "n", "type"),
        ({"n": 5.5}, "n", "type"),
        ({"n": True}, "n", "type"),
        ({"n": None}, "n", "type"),
        ({"s": 5}, "s", "type"),
        ({"s": None}, "s", "type"),
        ({"s": True}, "s", "type"),
        ({"b": "true"}, "b", "type"),
        ({"e": "D"}, "e", "enum"),
        ({"e": "'C'"}, "e", "enum"),
        ({"l": ["a", 1]}, "l[1]", "type"),
        ({"l": "a"}, "l", "type"),
        ({"t": [{"a": 1}, {"a": "1"}]}, "t[1].a", "type"),
        ({"t": [{"a": 1}, {"b": 1}]}, "t[1].a", "required"),
        ({"extra": 1}, "", "additionalProperties"),
        ({"extra key": 1}, "", "additionalProperties"),
        ({"d": "2024-02-30"}, "d", "format"),
        ({"d": "2024-01-01 "}, "d", "format"),
    ],
)
@pytest.mark.parametrize("wire", ["auto", "json"])
def test_invalid_values_are_refused_with_path_and_rule(value: Any, path: str, rule: str, wire: Any) -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "s": {"type": "string"},
            "b": {"type": "boolean"},
            "e": {"enum": ["C", "F"]},
            "l": {"type": "array", "items": {"type": "string"}},
            "t": {
                "type": "array",
                "items": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            },
            "d": {"type": "string", "format": "date"},
        },
        "additionalProperties": False,
    }
    contract = OutputContract.from_json_schema(schema, wire=wire)
    decoded = contract.decode(contract.encode(value))
    assert not decoded.ok
    assert (path, rule) in [(error.path, error.rule) for error in decoded.errors]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(objects())
def test_the_codec_of_the_format_reads_the_same_text(document: tuple[Any, Any]) -> None:
    """Text of typed scalars is RAIF: the reference decoder agrees wherever it does not guess types."""
    names = {"type": "object", "properties": {key: {"type": "string"} for key in ("a", "b.c", "d")}}
    value = {key: str(below) for key, below in zip(("a", "b.c", "d"), document[1].values(), strict=False)}
    text = OutputContract.from_json_schema(names).encode(value)
    decoded = raif.decode(text)
    if all(">>>" not in below and "\r" not in below for below in value.values()):
        assert decoded["ok"], text
        assert decoded["value"] == value


@pytest.mark.parametrize(
    "value", [{"n": "x"}, {"unknown": [1, {"a": None}]}, {"n": {"deep\nkey": 1}}, {"n": None}, {}]
)
def test_histories_of_any_shape_can_be_written(value: Any) -> None:
    contract = OutputContract.from_json_schema({"type": "object", "properties": {"n": {"type": "integer"}}})
    assert isinstance(contract.encode_history(value), str)


def test_histories_are_written_as_raif_even_if_they_do_not_fit() -> None:
    contract = OutputContract.from_json_schema({"type": "object", "properties": {"n": {"type": "integer"}}})
    assert contract.encode_history({"n": "many"}) == "n=many"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": float("-inf")}])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"nan|inf|JSON"):
        OutputContract.from_json_schema({}).encode(value)
