"""The generated exercises: right, grounded in their text, the same for a seed, and of every kind."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from train_adapter.documents import templates
from train_adapter.generate import items
from train_adapter.items import Item
from train_adapter.prompts import Example, Format, examples_of
from train_adapter.texts import pool

KINDS = {
    "record",
    "nested",
    "list",
    "table",
    "optional",
    "enum",
    "digits",
    "multiline",
    "tool",
    "plan",
    "one_pass",
    "after_result",
    "chat",
}
OBJECTS = [
    {"title": "Team Meeting", "attendees": ["Ann Lee", "Bo Chan"], "start_time": "10:00"},
    {"price_range": {"min": 1000, "max": 1500.5}, "in_stock": True},
    {"items": [{"name": "apple", "price": 0.5}, {"name": "pear", "price": 2}]},
]


@pytest.fixture(scope="module")
def exercises() -> list[Item]:
    return [*items(1, 500, objects=OBJECTS), *items(1, 150, split="validation", objects=OBJECTS)]


def examples(exercises: list[Item], form: Format) -> Iterator[tuple[Item, Example]]:
    for item in exercises:
        for example in examples_of(item, form):
            yield item, example


@pytest.mark.parametrize("form", ["raif", "json"])
def test_every_target_decodes_to_a_valid_value(exercises: list[Item], form: Format) -> None:
    seen = 0
    for item, example in examples(exercises, form):
        if example.contract is None:
            continue
        seen += 1
        assert example.contract.wire == form
        decoded = example.contract.decode(example.target)
        assert decoded.ok, (item, decoded.errors)
        assert not decoded.repairs, (item, decoded.repairs)
        values = [item.value] if item.schema is not None else [call["arguments"] for call in item.calls]
        assert decoded.value in values
    assert seen > 300


def test_every_kind_is_there(exercises: list[Item]) -> None:
    counts = Counter(item.kind for item in exercises)
    assert set(counts) == KINDS


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for below in value.values():
            yield from leaves(below)
    elif isinstance(value, list):
        for below in value:
            yield from leaves(below)
    else:
        yield value


def is_in(number: float, text: str) -> bool:
    """Whether a number stands in a text, with or without separators or as a word."""
    if (
        isinstance(number, int)
        and 0 <= number <= 12
        and re.search(rf"(?i)\b{pool('numerals')[number]}\b", text)
    ):
        return True
    written = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
    found = re.findall(written, text) + re.findall(r"-?\d+(?:,\d{3})+(?:\.\d+)?", text)
    return any(float(one.replace(",", "")) in (number, abs(number)) for one in found)


def test_every_value_is_taken_from_the_text(exercises: list[Item]) -> None:
    for item in exercises:
        text = item.messages[-1]["content"]
        values = [item.value] if item.schema is not None else [call.get("arguments") for call in item.calls]
        for leaf in leaves(values):
            if isinstance(leaf, str):
                shown = json.dumps(leaf, ensure_ascii=False)[1:-1]
                assert leaf.lower() in text.lower() or shown in text, (leaf, text)
            elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
                assert is_in(leaf, text), (leaf, text)


def test_a_seed_decides_everything() -> None:
    first, again, other = (
        [item.to_dict() for item in items(seed, 60, objects=OBJECTS)] for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_the_splits_share_no_template() -> None:
    assert templates("train")
    assert templates("validation")
    assert not set(templates("train")) & set(templates("validation"))


def test_items_survive_their_file_form(exercises: list[Item]) -> None:
    for item in exercises[:100]:
        assert Item.from_dict(json.loads(json.dumps(item.to_dict()))) == item


def test_absent_fields_are_left_out_or_null(exercises: list[Item]) -> None:
    absent = [item for item in exercises if item.kind == "optional"]
    left_out = [item for item in absent if len(item.value) < len(item.schema["properties"])]
    null = [item for item in absent if None in item.value.values()]
    assert left_out
    assert null


def test_tables_have_one_row_too(exercises: list[Item]) -> None:
    lengths = Counter(
        len(value)
        for item in exercises
        if item.kind == "table"
        for value in item.value.values()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    )
    assert lengths[1] > 5
    assert max(lengths) > 3
