"""A place where a text or another value may stand: each text is read as what the schema admits."""

from __future__ import annotations

from typing import Any

import pytest

from raif_integrations.contract import OutputContract


@pytest.mark.parametrize(
    ("schema", "written", "value"),
    [
        ({"type": ["string", "integer"]}, "1.5", "1.5"),
        ({"type": ["string", "integer"]}, "15", 15),
        ({"type": ["string", "number"]}, "1e999", "1e999"),
        ({"anyOf": [{"enum": [1, 2]}, {"type": "string"}]}, "3", "3"),
        ({"anyOf": [{"enum": [1, 2]}, {"type": "string"}]}, "2", 2),
        ({"anyOf": [{"const": True}, {"type": "string"}]}, "false", "false"),
        ({"anyOf": [{"type": "integer", "minimum": 10}, {"type": "string"}]}, "5", "5"),
        ({"anyOf": [{"type": "integer", "maximum": 10}, {"type": "string"}]}, "5", 5),
        ({"anyOf": [{"type": "integer"}, {"enum": ["1.5", "x"]}]}, "1.5", "1.5"),
        ({"type": ["string", "null"]}, "null", None),
    ],
)
def test_a_text_is_another_value_only_where_that_is_valid(schema: Any, written: str, value: Any) -> None:
    contract = OutputContract.from_json_schema(
        {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    )
    for constrained in (False, True):
        decoded = contract.decode(f"x={written}", constrained=constrained)
        assert decoded.ok, decoded.errors
        assert decoded.value == {"x": value}
    assert contract.decode(contract.encode({"x": value})).value == {"x": value}
