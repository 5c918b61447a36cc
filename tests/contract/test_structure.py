"""Every sentence keeps the structure of its schema; where no grammar can promise that, the wire is JSON."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.ebnf_walk import Walker
from raif_integrations.contract import Decoded, OutputContract

testing = pytest.importorskip("xgrammar.testing")

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def obj(required: list[str], **properties: Any) -> dict[str, Any]:
    """An object without other keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def within(schema: dict[str, Any]) -> dict[str, Any]:
    """An object with one required list of such elements, and a key behind it."""
    return obj(["rows"], rows={"type": "array", "items": schema}, z=WHOLE)


NESTED = obj([], x=WHOLE, y=TEXT)
BY_TYPE = {
    "properties": {"type": {"enum": ["RECORD", "TEXT"]}, "fields": {"type": "array", "items": TEXT}},
    "type": "object",
    "required": ["type"],
    "if": {"properties": {"type": {"const": "RECORD"}}},
    "then": {"required": ["fields"]},
    "else": {"properties": {"fields": False}},
}
IF_PRESENT = {
    **obj([], card=TEXT, address=TEXT, note=TEXT),
    "if": {"required": ["card"]},
    "then": {"required": ["address"]},
}
IF_FLAG = {
    **obj(["express"], express={"type": "boolean"}, day=TEXT),
    "if": {"properties": {"express": {"const": True}}},
    "then": {"required": ["day"]},
    "else": {"properties": {"day": False}},
}
IF_KIND = {
    "type": "object",
    "properties": {"value": {"type": ["integer", "array"], "items": WHOLE}, "unit": TEXT},
    "required": ["value"],
    "if": {"properties": {"value": {"type": "integer"}}},
    "then": {"required": ["unit"]},
}
KEYED = {
    "type": "object",
    "properties": {"name": TEXT, "nature": WHOLE},
    "additionalProperties": {"type": "boolean"},
}
PATTERNED = {
    "type": "object",
    "patternProperties": {"^x-[a-z]+$": WHOLE, "^[A-Z]+$": TEXT},
    "additionalProperties": False,
}

KEPT: dict[str, tuple[dict[str, Any], list[Any], list[str]]] = {
    "elements without a required key": (
        within(obj([], a=NESTED, b=TEXT, c=NESTED)),
        [
            {"rows": [{"a": {"x": 1}}, {"b": "m\nn"}, {"c": {"y": "q"}}, {"a": {"x": 1}, "c": {"x": 2}}]},
            {"rows": [{"b": "\n"}, {"b": "\n"}], "z": 3},
        ],
        ["rows[0].a.x=1\nrows[0].a.x=1"],
    ),
    "elements whose required key takes several lines": (
        within(obj(["a"], a=obj(["x"], x=WHOLE, y=TEXT), b={"type": "array", "items": NESTED})),
        [{"rows": [{"a": {"x": 1}}, {"a": {"x": 2, "y": "\n"}, "b": [{"x": 1}, {"y": "\n"}]}]}],
        ["rows[1].a.x=1", "rows[0].b=[]"],
    ),
    "elements of several shapes": (
        within({"anyOf": [obj(["a"], a=TEXT, c=NESTED), obj(["b"], b=WHOLE), WHOLE]}),
        [{"rows": [{"a": "\n"}, {"b": 1}, 7, {"a": "x", "c": {"x": 1}}]}],
        ["rows[0].a=x\nrows[0].b=1"],
    ),
    "lists in lists": (
        within({"type": "array", "items": {"type": "array", "items": NESTED}, "minItems": 1}),
        [{"rows": [[[{"x": 1}, {"y": "\n"}], []], [[{"x": 2}]]]}],
        [],
    ),
    "counted elements": (
        obj(["rows"], rows={"type": "array", "items": NESTED, "minItems": 2, "maxItems": 5}),
        [{"rows": [{"y": f"\n{index}"} for index in range(count)]} for count in (2, 3, 4, 5)],
        ["rows=[]", "rows[0].x=1", "\n".join(f"rows[{index}].x=1" for index in range(6))],
    ),
    "a tuple": (
        obj(
            ["rows"],
            rows={"type": "array", "prefixItems": [obj([], a=NESTED), obj([], b=NESTED)], "items": NESTED},
        ),
        [{"rows": [{"a": {"x": 1}}, {"b": {"x": 1}}, {"x": 1}, {"y": "\n"}]}],
        [],
    ),
    "a condition on a value": (
        BY_TYPE,
        [{"type": "RECORD", "fields": ["a"]}, {"type": "TEXT"}],
        ["value.type=RECORD", "value.fields=[]\nvalue.type=TEXT"],
    ),
    "a condition on a key": (
        IF_PRESENT,
        [{}, {"note": "n"}, {"address": "a"}, {"card": "c", "address": "a"}],
        ["value.card=c", "value.card=c\nvalue.note=n"],
    ),
    "a condition on a truth value": (
        IF_FLAG,
        [{"express": True, "day": "d"}, {"express": False}],
        ["value.express=true", "value.day=d\nvalue.express=false"],
    ),
    "a condition on a type": (
        IF_KIND,
        [{"value": 5, "unit": "m"}, {"value": [5]}, {"value": [], "unit": "m"}],
        ["value.value=5"],
    ),
    "free keys beside declared ones": (
        KEYED,
        [{"name": "n", "nature": 5, "nat": True}, {"names": False, "na": True}],
        ["name=true\nnature=true", "nature=false"],
    ),
    "patterns": (PATTERNED, [{"x-a": 1, "ABC": "t"}], ["x-a=t", "abc=1", "x-A=1"]),
    "patterns in a row": (
        within(PATTERNED),
        [{"rows": [{"x-a": 1, "ABC": "t"}, {"A": "b"}]}],
        ["rows=[\n{abc=1}\n]", "rows=[\n{x-a=t}\n]"],
    ),
}


def _claims_twice(decoded: Decoded) -> bool:
    """Two free keys are equal, which no context-free grammar can rule out."""
    return any(repair.kind == "repeated_field_ignored" for repair in decoded.repairs) or any(
        error.rule == "syntax" and "written twice" in error.message for error in decoded.errors
    )


@pytest.mark.parametrize("name", KEPT)
def test_sentences_are_valid_and_encodings_are_sentences(name: str) -> None:
    schema, values, refused = KEPT[name]
    contract = OutputContract.from_json_schema(schema, wire="raif")
    grammar = contract.grammar()
    for value in values:
        assert contract.validate(value) == ()
        written = contract.encode(value)
        assert testing._is_grammar_accept_string(grammar, written), written
        for constrained in (False, True):
            assert contract.decode(written, constrained=constrained).value == value
    for text in refused:
        assert not testing._is_grammar_accept_string(grammar, text), text
    walker = Walker(grammar, seed=3)
    for number in range(120):
        sentence = walker.sentence(10 + 2 * number)
        decoded = contract.decode(sentence, constrained=True)
        claimed_twice = any(
            error.rule == "syntax" and "written twice" in error.message for error in decoded.errors
        )
        if claimed_twice or any(repair.kind == "repeated_field_ignored" for repair in decoded.repairs):
            continue  # two free keys are equal, which no context-free grammar can rule out
        assert (decoded.errors, decoded.repairs) == ((), ()), sentence


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("rows[4].a.x=1\nrows[7].a.x=2", [{"a": {"x": 1}}, {"a": {"x": 2}}]),
        ("rows[4].a.x=1\nrows[6].b=q", [{"a": {"x": 1}, "b": "q"}]),
        ("rows[0].a.x=1\nrows[1].b=q\nrows[2].c.x=1", [{"a": {"x": 1}}, {"b": "q"}, {"c": {"x": 1}}]),
    ],
)
def test_parity_tells_elements_apart_where_keys_do_not(text: str, rows: list[Any]) -> None:
    contract = OutputContract.from_json_schema(KEPT["elements without a required key"][0])
    assert testing._is_grammar_accept_string(contract.grammar(), text)
    assert contract.decode(text, constrained=True).value == {"rows": rows}


def test_digits_are_free_where_keys_tell_elements_apart() -> None:
    contract = OutputContract.from_json_schema(within(obj(["id"], id=WHOLE, more=NESTED)))
    text = "rows[3].id=1\nrows[9].more.x=1\nrows[9].id=2"
    assert testing._is_grammar_accept_string(contract.grammar(), text)
    rows = [{"id": 1, "more": {"x": 1}}, {"id": 2}]
    assert contract.decode(text, constrained=True).value == {"rows": rows}


def test_a_table_ends_with_its_element() -> None:
    row = obj([], x=WHOLE, y=TEXT)
    schema = within(obj(["id", "lines"], id=WHOLE, lines={"type": "array", "items": row}))
    contract = OutputContract.from_json_schema(schema)
    first = "rows[0].id=1\nrows[0].lines::x\nrows[0].lines[0]=5\nrows[0].lines[1]=6"
    text = f"{first}\nrows[1].id=2\nrows[1].lines[0]={{}}"
    assert testing._is_grammar_accept_string(contract.grammar(), text)
    rows = [{"id": 1, "lines": [{"x": 5}, {"x": 6}]}, {"id": 2, "lines": [{}]}]
    assert contract.decode(text, constrained=True).value == {"rows": rows}


MANY = [{"properties": {f"k{index}": WHOLE}} for index in range(17)]
KEYS = {str(7919**6 * number): TEXT for number in range(2, 14)}


@pytest.mark.parametrize(
    ("schema", "path", "reason"),
    [
        ({"type": "object", "anyOf": MANY}, "", "combinations of alternatives"),
        ({"type": "object", "allOf": [{"anyOf": MANY[:5]}, {"oneOf": MANY[5:10]}]}, "", "combinations"),
        (obj([], a={**BY_TYPE, "if": {"properties": {"type": {"pattern": "^R"}}}}), "a", "if/then/else"),
        (obj([], a={**BY_TYPE, "if": {"not": {"required": ["type"]}}}), "a", "if/then/else"),
        (
            {
                **obj(["type"], type=TEXT, fields=TEXT),
                "if": {"properties": {"type": {"const": "R"}}},
                "then": {"required": ["fields"]},
            },
            "type",
            "among endlessly many",
        ),
        ({"type": "object", "patternProperties": {"^(?!x)": TEXT}}, "", "not regular"),
        ({"type": "object", "patternProperties": {"^.{1,255}$": TEXT}}, "", "too large"),
        ({"type": "object", "patternProperties": {"a": TEXT, "b": WHOLE}}, "", "Two patterns"),
        ({"type": "object", "patternProperties": {"a": TEXT, "^ab": False}}, "", "Two patterns"),
        (
            {"type": "object", "properties": {"a": False}, "additionalProperties": TEXT},
            "",
            "'a' is forbidden",
        ),
        ({"type": "object", "properties": KEYS, "additionalProperties": WHOLE}, "", "too many to keep out"),
        (
            {"type": "object", "additionalProperties": TEXT, "propertyNames": {"maxLength": 3}},
            "",
            "several rules",
        ),
        (
            {
                "type": "object",
                "patternProperties": {"^a": WHOLE},
                "allOf": [{"additionalProperties": {"minimum": 3}}],
            },
            "",
            "several rules",
        ),
        (
            within({"anyOf": [obj(["k"], k={"const": "a"}, v=TEXT), obj(["k"], k={"const": "b"}, v=WHOLE)]}),
            "rows[].v",
            "a text in one alternative",
        ),
        (
            obj([], a={"anyOf": [{"type": "array", "items": TEXT}, {"type": "array", "items": WHOLE}]}),
            "a[]",
            "a text in one alternative",
        ),
    ],
)
def test_what_no_grammar_can_keep_travels_as_json(schema: dict[str, Any], path: str, reason: str) -> None:
    contract = OutputContract.from_json_schema(schema)
    assert contract.wire == "json"
    assert [limit.path for limit in contract.limits if reason in limit.reason] == [path]


def test_an_alternative_that_does_not_describe_a_key_says_nothing_of_its_type() -> None:
    cat = {"type": "object", "properties": {"kind": {"const": "cat"}, "chip": TEXT}, "required": ["kind"]}
    dog = {"type": "object", "properties": {"kind": {"const": "dog"}}, "required": ["kind"]}
    contract = OutputContract.from_json_schema(obj(["pet"], pet={"anyOf": [cat, dog]}), wire="raif")
    assert contract.decode("pet.chip=02134\npet.kind=cat").value == {"pet": {"chip": "02134", "kind": "cat"}}
    undescribed = {"pet": {"kind": "dog", "chip": 5}}
    assert contract.decode(contract.encode(undescribed)).value == undescribed


def test_a_brace_before_foreign_white_space_is_a_text_under_a_grammar() -> None:
    contract = OutputContract.from_json_schema(obj(["a", "b"], a={}, b=TEXT))
    text = "a={\u00a0\nb=x"
    assert testing._is_grammar_accept_string(contract.grammar(), text)
    assert contract.decode(text, constrained=True).value == {"a": "{\u00a0", "b": "x"}
