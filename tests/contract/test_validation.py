"""The last word: the JSON Schema, by whichever validator."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from raif_integrations.contract import OutputContract
from raif_integrations.contract.dialect import draft_of
from raif_integrations.contract.formats import checker
from raif_integrations.contract.numerals import dump_json, parse_number, write_number
from raif_integrations.contract.validation import SchemaValidator

VALID = {
    "date-time": ["2024-01-01T10:00:00Z", "2024-02-29T23:59:60Z", "2024-01-01t10:00:00.5+01:00"],
    "date": ["2024-02-29"],
    "time": ["10:00:00Z", "10:00:00.123-08:00"],
    "duration": ["P1D", "PT1H", "P1Y2M3DT4H5M6S", "P4W"],
    "email": ["a@b.c", "a+b@example.com"],
    "hostname": ["example.com", "a-b.c"],
    "ipv4": ["127.0.0.1"],
    "ipv6": ["::1", "2001:db8::1"],
    "uri": ["https://example.com/a?b=c#d", "urn:isbn:1", "mailto:a@b.c"],
    "uri-reference": ["/a/b", "https://x.y"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
    "json-pointer": ["", "/a~1b"],
    "regex": ["^a+$"],
    "unknown": ["anything at all"],
}
INVALID = {
    "date-time": ["2024-01-01", "2024-01-01T10:00:00", "2024-01-01 10:00:00Z", "2024-13-01T10:00:00Z", "x"],
    "date": ["2023-02-29", "2024-1-1", "today"],
    "time": ["10:00:00", "25:00:00Z", "10:00:60Z"],
    "duration": ["P", "1D", "PT"],
    "email": ["a", "a@", "a b@c"],
    "hostname": ["-a.b", "a..b", "a_b"],
    "ipv4": ["256.0.0.1", "1.2.3"],
    "ipv6": ["1.2.3.4", "::g", "fe80::1%eth0"],
    "uri": ["example.com", "/a", "http://a b"],
    "uri-reference": ["a b"],
    "uuid": ["123e4567e89b12d3a456426614174000"],
    "json-pointer": ["a", "/~2"],
    "regex": ["("],
}


@pytest.fixture(params=["compiled", "plain"])
def validator_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With and without the compiled validator."""
    kind: str = request.param
    if kind == "compiled" and importlib.util.find_spec("jsonschema_rs") is None:
        pytest.fail("jsonschema-rs is a dependency")
    if kind == "plain":
        monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    return kind


@pytest.mark.usefixtures("validator_kind")
@pytest.mark.parametrize("name", VALID)
def test_formats(name: str) -> None:
    schema = {"type": "string", "format": name}
    validator = SchemaValidator(schema, draft_of(schema))
    assert [text for text in VALID[name] if validator.errors(text)] == []
    assert [text for text in INVALID.get(name, []) if not validator.errors(text)] == []
    assert checker().conforms(5, name)


@pytest.mark.usefixtures("validator_kind")
@pytest.mark.parametrize(
    ("schema", "value", "path", "rule"),
    [
        ({"required": ["a", "b"]}, {"a": 1}, "b", "required"),
        ({"properties": {"a": {"items": {"required": ["x"]}}}}, {"a": [{}, {"x": 1}]}, "a[0].x", "required"),
        (
            {"anyOf": [{"type": "integer"}, {"properties": {"k": {"type": "string"}}, "type": "object"}]},
            {"k": 1},
            "k",
            "type",
        ),
        (
            {
                "oneOf": [
                    {"properties": {"t": {"const": "a"}, "v": {"type": "integer"}}},
                    {"properties": {"t": {"const": "b"}}},
                ]
            },
            {"t": "a", "v": "x"},
            "v",
            "type",
        ),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "x", "", "anyOf"),
        ({"not": {"type": "string"}}, "x", "", "not"),
        ({"multipleOf": 2}, 3, "", "multipleOf"),
        ({"pattern": "^a"}, "b", "", "pattern"),
        (False, 1, "", "false"),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, "b", "required"),
    ],
)
def test_errors_name_path_and_rule(schema: Any, value: Any, path: str, rule: str) -> None:
    errors = SchemaValidator(schema, draft_of(schema)).errors(value)
    assert (path, rule) in [(error.path, error.rule) for error in errors], errors


@pytest.mark.usefixtures("validator_kind")
@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**400), 5.0, "\ud800", "\U0001f600", [1] * 5000],
    ids=lambda value: type(value).__name__,
)
def test_values_out_of_the_ordinary(value: Any) -> None:
    schema = {"type": ["integer", "string", "array"]}
    assert SchemaValidator(schema, draft_of(schema)).errors(value) == ()


def test_long_values_are_shortened_in_messages() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["x" * 900]}}}
    (error,) = OutputContract.from_json_schema(schema).validate({"a": "y" * 900})
    assert len(str(error)) < 400


@pytest.mark.parametrize("digits", [1, 3999, 4000, 4001, 4300, 4301, 9001])
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_of_any_length(digits: int, sign: str) -> None:
    text = sign + "1" + "203" * (digits // 3)
    number = parse_number(text)
    assert isinstance(number, int)
    assert write_number(number) == text
    assert dump_json({"a": [number, True, None, "x", 1.5]}) == f'{{"a": [{text}, true, null, "x", 1.5]}}'


@pytest.mark.parametrize(
    ("text", "value"), [("5.0", "5.0"), ("-0.0", "-0.0"), ("1e3", "1000.0"), ("-0", "0")]
)
def test_floats(text: str, value: str) -> None:
    assert write_number(parse_number(text)) == value


def test_numbers_beyond_doubles_are_refused() -> None:
    with pytest.raises(ValueError, match="double"):
        parse_number("1e999")


def test_patterns_are_those_of_ecma() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "pattern": r"^\p{L}+$"}},
        "required": ["age"],
    }
    contract = OutputContract.from_json_schema(schema)
    assert [error.path for error in contract.validate({"name": "Ada"})] == ["age"]
    assert {error.path for error in contract.validate({"name": "Ada1"})} == {"age", "name"}
    assert contract.validate({"name": "Åsa", "age": 1}) == ()


def test_a_pattern_of_keys_that_python_cannot_read_is_no_crash() -> None:
    schema = {"type": "object", "patternProperties": {r"^\p{L}+$": {"type": "integer"}}, "required": ["a"]}
    errors = SchemaValidator(schema, draft_of(schema)).errors({"b": "x"})
    assert errors


def test_a_pattern_that_backtracks_is_explained_at_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    validator = SchemaValidator(schema, draft_of(schema))
    (error,) = validator.errors({"a": "a" * 60 + "!"})
    assert (error.path, error.rule) == ("a", "pattern")


def test_a_value_that_is_nested_too_deeply_is_refused() -> None:
    schema = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}, "z": {}},
                "required": ["z"],
            }
        },
        "$ref": "#/$defs/node",
    }
    contract = OutputContract.from_json_schema(schema, wire="json")
    decoded = contract.decode('{"children":[' * 400, finished=False)
    assert not decoded.ok
    assert decoded.truncated
