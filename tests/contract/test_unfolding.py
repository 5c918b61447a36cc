"""Schemas whose references multiply: small to write, endless to spell out."""

from __future__ import annotations

from typing import Any

import pytest

from raif_integrations.contract import OutputContract
from raif_integrations.conversation.tools import Tool


def doubling(levels: int) -> dict[str, Any]:
    """Each level refers to the next one twice."""
    definitions: dict[str, Any] = {
        f"level{index}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/level{index + 1}"} for side in ("left", "right")},
        }
        for index in range(levels)
    }
    definitions[f"level{levels}"] = {"type": "object", "properties": {"leaf": {"type": "string"}}}
    return {"$defs": definitions, "$ref": "#/$defs/level0"}


@pytest.mark.parametrize("levels", [12, 60])
def test_what_unfolds_without_end_travels_as_json(levels: int) -> None:
    contract = OutputContract.from_json_schema(doubling(levels))
    assert contract.wire == "json"
    assert "unfold" in contract.limits[0].reason
    assert contract.decode('{"left": {"right": {}}}').ok
    assert not contract.decode('{"left": 1}').ok


def test_a_tool_that_unfolds_without_end_has_parameters() -> None:
    schema = {**doubling(12), "type": "object", "properties": {"tree": {"$ref": "#/$defs/level0"}}}
    del schema["$ref"]
    contract = OutputContract.from_json_schema(schema)
    assert contract.wire == "json"
    assert Tool("grow", "", contract).has_parameters


def test_what_unfolds_a_little_is_carried() -> None:
    contract = OutputContract.from_json_schema(doubling(5))
    assert contract.wire == "raif"
    value = {"left": {"right": {"left": {"right": {"left": {"leaf": "x"}}}}}}
    assert contract.decode(contract.encode(value)).value == value
