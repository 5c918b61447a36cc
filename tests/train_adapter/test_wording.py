"""The small language of the templates, and the files they stand in."""

from __future__ import annotations

import random

import pytest

from train_adapter import texts
from train_adapter.roles import MULTILINE, ROLES
from train_adapter.tables import LISTS, TABLES
from train_adapter.wording import expand, fill, listed, slots, spelled

SLOTS = {*ROLES, *MULTILINE, *LISTS, *TABLES}


def test_choices_nest_and_slots_stay() -> None:
    found = {expand(random.Random(seed), "{a|b{ <x>|}|}{!|?}") for seed in range(200)}
    assert found == {f"{word}{mark}" for word in ("a", "b", "b <x>", "") for mark in "!?"}
    assert slots("<a> {<b*>|<a>}") == ["a", "b*"]
    assert fill("<a>: <b*>", {"a": "1", "b*": "<c>"}) == "1: <c>"


@pytest.mark.parametrize(
    ("style", "wanted"),
    [
        ("snake", "check_in_date"),
        ("camel", "checkInDate"),
        ("pascal", "CheckInDate"),
        ("kebab", "check-in-date"),
        ("plain", "check in date"),
        ("upper", "CHECK_IN_DATE"),
    ],
)
def test_spellings(style: str, wanted: str) -> None:
    assert spelled(random.Random(0), style, "check in date") == wanted


@pytest.mark.parametrize("parts", [[], ["a"], ["a", "b"], ["a", "b", "c"]])
def test_lists_name_every_part(parts: list[str]) -> None:
    for seed in range(20):
        text = listed(random.Random(seed), parts)
        assert all(part in text for part in parts)


@pytest.mark.parametrize(
    "template",
    [
        *texts.templates("letters.txt"),
        *texts.templates("forms.txt"),
        *texts.lines("sentences.txt"),
        *(request for block in texts.blocks("toolbox.txt") for request in block[2:]),
        *(row for block in texts.blocks("tables.txt") for row in block[3:]),
    ],
)
def test_every_template_is_well_formed(template: str) -> None:
    for seed in range(20):
        text = expand(random.Random(seed), template)
        assert not set("{}") & set(text), template
        assert text.count("(") == text.count(")"), text
        known = {slot.rstrip("*") for slot in slots(text)}
        assert known <= SLOTS | {"ingredient"}, template
