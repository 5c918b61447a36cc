"""An untrained model under the grammar: whatever it samples decodes and validates."""

from __future__ import annotations

from typing import Any

import pytest

from raif_integrations.contract import OutputContract
from raif_integrations.engines.base import GrammarConstraint, Request, Sampling
from raif_integrations.engines.embedded import EmbeddedEngine

pytestmark = pytest.mark.real

SAMPLES = 50

SHORT = {"type": "string", "maxLength": 12}


def record(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


# Bounded, so that a random walk ends; unbounded lists and strings are walked without a model elsewhere.
SCHEMAS: dict[str, dict[str, Any]] = {
    "scalars": record({"name": SHORT, "age": {"type": "integer"}, "score": {"type": "number"}}),
    "booleans": record({"a": {"type": "boolean"}, "b": {"type": ["boolean", "null"]}}),
    "enum": record({"unit": {"enum": ["C", "F", 1, True, "null", "a b"]}, "kind": {"const": "x=y"}}),
    "optional": record({"a": SHORT, "b": {"type": "integer"}, "c": {"type": "boolean"}}, required=["b"]),
    "all optional": record({"a": SHORT, "b": {"type": "integer"}}, required=[]),
    "nested": record(
        {"user": record({"name": SHORT, "home": record({"zip": SHORT})}), "ok": {"type": "boolean"}}
    ),
    "list": record({"tags": {"type": "array", "items": SHORT, "minItems": 1, "maxItems": 3}}),
    "table": record(
        {
            "total": {"type": "number"},
            "lines": {
                "type": "array",
                "items": record({"item": SHORT, "price": {"type": "number"}, "count": {"type": "integer"}}),
                "maxItems": 3,
            },
        }
    ),
    "union": record({"value": {"anyOf": [SHORT, {"type": "integer"}, {"type": "null"}]}}),
    "bounds": record(
        {
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
            "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            "key.with[dots]": {"type": "string", "minLength": 2, "maxLength": 5},
        }
    ),
}


@pytest.fixture(scope="module")
def replies(embedded_engine: EmbeddedEngine) -> dict[str, list[str]]:
    """Samples of the base model at temperature 1.5 for every schema, all in one batch."""
    requests = [
        Request(
            messages=[{"role": "user", "content": f"Make up a record. Number {number}."}],
            sampling=Sampling(temperature=1.5, top_p=1.0, top_k=-1, max_tokens=400, seed=number),
            constraint=GrammarConstraint(OutputContract.from_json_schema(schema).grammar()),
        )
        for schema in SCHEMAS.values()
        for number in range(SAMPLES)
    ]
    texts = [completion.text for completion in embedded_engine.generate_many(requests)]
    return {name: texts[i * SAMPLES : (i + 1) * SAMPLES] for i, name in enumerate(SCHEMAS)}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_sample_is_a_valid_object(name: str, replies: dict[str, list[str]]) -> None:
    contract = OutputContract.from_json_schema(SCHEMAS[name], wire="raif")
    decoded = [contract.decode(text, constrained=True) for text in replies[name]]
    assert [(one.raif, one.errors) for one in decoded if not one.ok] == []
    assert [(one.raif, one.repairs) for one in decoded if one.repairs] == []
    assert len({one.raif for one in decoded}) > (1 if name == "booleans" else 3)
