"""Asking again: the small contract for what is missing or broken, and the merge."""

from __future__ import annotations

from typing import Any

import pytest

from raif_integrations.contract import OutputContract

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Full name"},
        "age": {"type": "integer", "minimum": 0},
        "note": {"type": "string"},
        "address": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
            "required": ["city", "zip"],
        },
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 1},
    },
    "required": ["name", "age", "address", "items"],
    "$defs": {
        "item": {
            "type": "object",
            "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["sku", "n"],
        }
    },
}
CONTRACT = OutputContract.from_json_schema(SCHEMA)
GOOD = "address.city=Oslo\naddress.zip=12345\nage=5\nname=Bob\nitems::n,sku\nitems[0]=1,a\nitems[1]=2,b"


def test_a_good_reply_needs_nothing() -> None:
    assert CONTRACT.missing(CONTRACT.decode(GOOD)) is None


@pytest.mark.parametrize(
    ("line", "replacement", "cue", "answer"),
    [
        ("age=5", "age=five", "age:n", "age=5"),
        ("age=5\n", "", "age:n", "age=5"),
        ("age=5", "age=-1", "age:n", "age=5"),
        ("address.zip=12345", "address.zip=1", "address.zip:s", "address.zip=12345"),
        ("address.zip=12345\n", "", "address.zip:s", "address.zip=12345"),
        ("name=Bob", "name=Bob\nname=Tom", "name:s", "name=Bob"),
        (
            "items[1]=2,b",
            "items[1]=2",
            "items[]:o\nitems[].n:n\nitems[].sku:s",
            "items::n,sku\nitems[0]=1,a\nitems[1]=2,b",
        ),
    ],
)
def test_only_what_is_wrong_is_asked_for(line: str, replacement: str, cue: str, answer: str) -> None:
    decoded = CONTRACT.decode(GOOD.replace(line, replacement))
    assert not decoded.ok
    patch = CONTRACT.missing(decoded)
    assert patch is not None
    assert patch.cue() == cue
    merged = CONTRACT.merge(decoded, patch.decode(answer))
    assert merged.ok, merged
    assert merged.value == CONTRACT.decode(GOOD).value
    assert any(repair.kind == "asked_again" for repair in merged.repairs)


def test_a_bad_answer_does_not_make_it_good() -> None:
    decoded = CONTRACT.decode(GOOD.replace("age=5", "age=five"))
    patch = CONTRACT.missing(decoded)
    assert patch is not None
    for answer in ("age=six", "", "age=-3"):
        merged = CONTRACT.merge(decoded, patch.decode(answer))
        assert not merged.ok
        assert "age" in [error.path for error in merged.errors]
    assert not CONTRACT.merge(decoded, patch.decode("age=5", finished=False)).ok


def test_after_truncation_everything_that_may_be_lacking_is_asked_for() -> None:
    decoded = CONTRACT.decode("address.city=Oslo\naddress.zip=12345\nage=5\nname=Bo", finished=False)
    patch = CONTRACT.missing(decoded)
    assert patch is not None
    assert patch.cue() == "items[]:o\nitems[].n:n\nitems[].sku:s\nname:s\nnote:s?"
    merged = CONTRACT.merge(decoded, patch.decode("name=Bob\nitems=[\n{n=1,sku=a}\n]"))
    assert merged.ok
    assert merged.value["name"] == "Bob"


@pytest.mark.parametrize("text", ["", "prose only", "name=a\nunknown line\nage=5", '{"name": '])
def test_faults_of_no_field_ask_for_everything_or_what_is_required(text: str) -> None:
    decoded = CONTRACT.decode(text)
    patch = CONTRACT.missing(decoded)
    assert patch is not None
    merged = CONTRACT.merge(decoded, patch.decode(GOOD))
    assert merged.ok
    assert merged.value == CONTRACT.decode(GOOD).value


def test_roots_that_are_no_objects_are_asked_for_as_a_whole() -> None:
    contract = OutputContract.from_json_schema({"type": "array", "items": {"type": "integer"}})
    decoded = contract.decode("value=[\n1\nx\n]")
    patch = contract.missing(decoded)
    assert patch is contract
    assert contract.merge(decoded, contract.decode("value=[\n1\n2\n]")).value == [1, 2]


def test_recursive_schemas_can_be_asked_for() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#"}, "n": {"type": "integer"}},
        "required": ["n"],
    }
    contract = OutputContract.from_json_schema(schema)
    decoded = contract.decode('{"name": "a", "next": {"n": "x"}, "n": 1}')
    patch = contract.missing(decoded)
    assert patch is not None
    answer = patch.decode('{"next": {"n": 2}}')
    assert contract.merge(decoded, answer).value == {"name": "a", "next": {"n": 2}, "n": 1}


def test_keys_with_dots_are_found() -> None:
    contract = OutputContract.from_json_schema(
        {
            "type": "object",
            "properties": {"a.b": {"type": "integer"}, "c": {"type": "integer"}},
            "required": ["a.b", "c"],
        }
    )
    decoded = contract.decode("<<<a.b>>>=x\nc=1")
    patch = contract.missing(decoded)
    assert patch is not None
    assert contract.merge(decoded, patch.decode("<<<a.b>>>=2")).value == {"a.b": 2, "c": 1}


def test_what_an_answer_holds_beyond_what_was_asked_does_no_harm() -> None:
    decoded = CONTRACT.decode(GOOD.replace("age=5\n", ""))
    patch_contract = CONTRACT.missing(decoded)
    assert patch_contract is not None
    for answer in ("age=5\nname=Alice", "age=5\nshoe_size=44"):
        merged = CONTRACT.merge(decoded, patch_contract.decode(answer))
        assert merged.ok, (answer, merged.errors)
        assert merged.value["name"] == "Bob"
        assert merged.value["age"] == 5
        assert "shoe_size" not in merged.value
