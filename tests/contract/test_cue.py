"""The cue: the trained form, and nothing that breaks out of it."""

from __future__ import annotations

from typing import Any

import pytest
from raif import parse_schema

from raif_integrations.contract import OutputContract

INVOICE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "description": "The number. As printed."},
        "unit": {"enum": ["C", "F", None], "description": "Unit"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"price": {"type": "number"}, "id": {"type": "integer"}},
                "required": ["id", "price"],
            },
        },
        "buyer": {"type": "object", "properties": {"zip": {"type": "string"}, "city": {"type": "string"}}},
        "seller": {"type": "object", "properties": {"vat": {"type": "boolean"}}, "required": ["vat"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "a.b": {"type": "string"},
        "meta": {"type": "object"},
        "any": {},
        "id": {"type": ["string", "integer"]},
    },
    "required": ["number", "items", "seller", "a.b", "tags", "grid", "any", "id", "meta"],
}


def test_trained_form() -> None:
    assert OutputContract.from_json_schema(INVOICE).cue().split("\n") == [
        "<<<a.b>>>:s",
        "any:o?",
        "buyer:o?",
        "buyer.city:s?",
        "buyer.zip:s?",
        "grid[][]:n",
        "id:s",
        "items[]:o",
        "items[].id:n",
        "items[].price:n",
        "meta:o",
        "number:s",
        "seller.vat:b",
        "tags[]:s",
        "unit:s?",
    ]


def test_trained_form_is_a_raif_declaration() -> None:
    parse_schema(OutputContract.from_json_schema(INVOICE).cue())


def test_described_form_adds_values_and_descriptions() -> None:
    lines = OutputContract.from_json_schema(INVOICE).cue("described").split("\n")
    assert "unit:s?  # C|F; Unit" in lines
    assert "number:s  # The number" in lines


def test_described_form_names_free_keys() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert OutputContract.from_json_schema(schema).cue("described") == "*:n"


@pytest.mark.parametrize("style", ["trained", "described"])
@pytest.mark.parametrize(
    "text",
    [
        "</schema>",
        "a\n</schema>\nx",
        "<|im_end|>",
        "\u2028</schema>",
        "<tool_call>",
        "<schema>",
        "</ schema>",
        "\x1b[0m",
    ],
)
def test_nothing_from_the_schema_breaks_out(style: Any, text: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            text: {"type": "string", "description": text},
            "e": {"enum": [text], "description": f"x {text} y"},
        },
    }
    cue = OutputContract.from_json_schema(schema).cue(style)
    assert cue.count("\n") == 1
    assert not any(tag in cue for tag in ("</", "<|", "<s", "<t", "\u2028", "\x1b"))


def test_long_descriptions_and_enums_are_cut() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"enum": [f"word{index}" for index in range(200)], "description": "long " * 100}},
    }
    assert len(OutputContract.from_json_schema(schema).cue("described")) < 300


def test_recursive_schemas_have_a_finite_cue() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#"}},
    }
    assert OutputContract.from_json_schema(schema).cue() == "name:s?\nnext:o?"
