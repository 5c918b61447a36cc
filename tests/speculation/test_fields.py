"""The fields read from a cue are the lines a reply has, in the same order."""

from __future__ import annotations

from typing import Any

import pytest

from answers_items import OUTPUT_KINDS, Item, load_items
from raif_integrations.contract import OutputContract
from raif_integrations.engines.speculation.course import Course, Position, read_line
from raif_integrations.engines.speculation.fields import Cell, Unit, read_fields


def test_units() -> None:
    cue = [
        "<<<a.b>>>:s",
        "list[]:n?",
        "map.*:s",
        "nested:o?",
        "nested.deep.x:b",
        "nested.deep.y:s  # up|down|sideways; Where it goes.",
        "rows[]:o  # One a line",
        "rows[].n:n",
        "rows[].<<<s p>>>:s",
        "teams[]:o",
        "teams[].members[]:s",
        "teams[].name:s",
        "this is no field",
        "*:s",
    ]
    assert read_fields(cue) == (
        Unit("<<<a.b>>>", "leaf", (Cell("<<<a.b>>>", "s"),)),
        Unit("nested.deep.x", "leaf", (Cell("x", "b"),)),
        Unit("nested.deep.y", "leaf", (Cell("y", "s", ("up", "down", "sideways")),)),
        Unit("teams[].name", "leaf", (Cell("name", "s"),)),
        Unit("teams[].members", "list", (Cell("", "s"),)),
        Unit("rows", "table", (Cell("<<<s p>>>", "s"), Cell("n", "n"))),
        Unit("list", "list", (Cell("", "n"),), optional=True),
    )


@pytest.mark.parametrize("style", ["trained", "described"])
def test_every_line_of_a_right_reply_is_expected(style: Any) -> None:
    unexpected = {
        item.id: wrong for item in load_items(kinds=OUTPUT_KINDS) if (wrong := surprise(item, style))
    }
    assert unexpected == {}


def surprise(item: Item, style: Any) -> str | None:
    """What in the right reply to an item does not follow from its cue."""
    contract = item.contract("raif")
    assert contract is not None
    course = Course(read_fields(contract.cue(style).split("\n")))
    numbers = []
    position = Position()
    for line in contract.encode(item.value).split("\n"):
        written = read_line(line)
        if not position.opened and written is not None:
            number = course.number_of(written.key)
            if number is None:
                return line
            numbers.append(number)
        position = course.after(position, line, read_line(line))
    repeats = any("[]" in unit.path for unit in course.units)
    return None if repeats or numbers == sorted(numbers) else str(numbers)


def test_a_long_cue_is_read_in_linear_time() -> None:
    """Keys that look like the start of a quote do not make the reader go back and forth."""
    lines = [f"{'<' * 3000}{number}:s" for number in range(50)]
    assert read_fields(lines) is not None


def test_the_order_is_that_of_the_contract() -> None:
    schema = {
        "type": "object",
        "properties": {
            "b": {"type": "array", "items": {"type": "string"}},
            "a": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "string"}}}},
            "d": {
                "type": "object",
                "properties": {"z": {"type": "string"}, "l": {"type": "array", "items": {}}},
            },
            "c": {"type": "string"},
        },
    }
    cue = OutputContract.from_json_schema(schema).cue()
    assert [unit.path for unit in read_fields(cue.split("\n"))] == ["c", "d.z", "d.l", "a", "b"]
