"""The held-out items are what they claim to be: valid, distinct, and answered by their own text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from answers_items import HELD_OUT, KINDS, OUTPUT_KINDS, TOOL_KINDS, Item, load_items, parse_item

ITEMS = load_items()
LEAST = {
    "record": 60,
    "nested": 35,
    "list": 30,
    "table": 40,
    "optional": 30,
    "enum": 25,
    "digits": 20,
    "multiline": 15,
    "tool": 40,
    "plan": 30,
    "after_result": 10,
    "chat": 10,
}
OTHER_CASE = {"tool-028": "close", "tool-034": "buy"}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for below in value.values():
            yield from texts(below)
    elif isinstance(value, list):
        for below in value:
            yield from texts(below)


def conversation(item: Item) -> str:
    return "\n".join(str(message.get("content") or "") for message in item.messages)


def test_there_are_enough_of_each_kind() -> None:
    counts = Counter(item.kind for item in ITEMS)
    assert {kind: counts[kind] >= least for kind, least in LEAST.items()} == dict.fromkeys(KINDS, True)


def test_the_page_counts_the_items() -> None:
    page = (HELD_OUT / "README.md").read_text(encoding="utf-8")
    for path in HELD_OUT.glob("*.jsonl"):
        kinds = Counter(json.loads(line)["kind"] for line in path.read_text(encoding="utf-8").splitlines())
        row = re.search(rf"\| `{path.name}` \| ([^|]*) \| ([^|]*) \|", page)
        assert row is not None, path.name
        counted = dict(zip(row[1].split(", "), map(int, row[2].split(", ")), strict=True))
        assert counted == dict(kinds)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_an_item_is_whole_and_right(item: Item) -> None:
    assert item.messages
    assert item.messages[-1]["role"] in ("user", "tool")
    assert (item.schema is not None) == (item.kind in OUTPUT_KINDS)
    assert bool(item.tools) == (item.kind in TOOL_KINDS)
    if item.schema is not None:
        assert item.schema["type"] == "object"
        assert item.schema["title"]
    if item.kind == "tool":
        assert item.calls
        assert item.turn_choice() != "auto"
        assert all(call.arguments is not None for call in item.calls)
    for contract, value in item.expected_objects("raif"):
        assert contract.validate(value) == ()
        decoded = contract.decode(contract.encode(value))
        assert (decoded.ok, decoded.value, decoded.repairs) == (True, value, ())
    assert {call.name for call in item.calls} <= {tool.name for tool in item.turn_tools("raif")}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_every_text_value_stands_in_the_conversation(item: Item) -> None:
    said = conversation(item)
    absent = {text for _, value in item.expected_objects("raif") for text in texts(value) if text not in said}
    assert absent == ({OTHER_CASE[item.id]} if item.id in OTHER_CASE else set())
    assert all(text.lower() in said.lower() for text in absent)
    assert all(fact.lower() in said.lower() for fact in item.facts)


def test_no_two_items_are_alike() -> None:
    said = Counter(json.dumps([item.messages, item.schema, list(item.tools)]) for item in ITEMS)
    assert said.most_common(1)[0][1] == 1
    answers = Counter(json.dumps([item.schema, item.value]) for item in ITEMS if item.schema is not None)
    assert answers.most_common(1)[0][1] == 1


def test_texts_are_of_many_lengths_and_fit_the_small_model() -> None:
    words = sorted(len(conversation(item).split()) for item in ITEMS)
    assert words[0] <= 5
    assert sum(count >= 50 for count in words) >= 20
    assert words[-1] <= 200
    # A token is at least one character of the tokenizers in question, and about four on average.
    longest = max(
        len(conversation(item)) + len(json.dumps([item.schema, list(item.tools)])) for item in ITEMS
    )
    assert longest < 900 * 4


def test_a_limit_keeps_all_kinds_and_the_order() -> None:
    some = load_items(limit=60)
    assert 55 <= len(some) <= 75
    assert {item.kind for item in some} == set(KINDS)
    assert [item.id for item in some] == [item.id for item in ITEMS if item in some]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="riddle"):
        parse_item({"id": "x", "kind": "riddle", "messages": []})
