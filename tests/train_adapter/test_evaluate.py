"""Scores: what counts as exact, valid and right; and a whole round on a random model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from train_adapter.evaluate import Score, score, table
from train_adapter.items import Item
from train_adapter.prompts import Example, examples_of

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "zip": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["city"],
}


@pytest.fixture
def example() -> Example:
    value = {"city": "Oslo", "zip": "0150", "n": 3}
    (made,) = examples_of(Item("record", [{"role": "user", "content": "text"}], SCHEMA, value))
    return made


@pytest.mark.parametrize(
    ("text", "exact", "valid", "right"),
    [
        ("city=Oslo\nn=3\nzip:s=0150", 1, 1, 3),
        ("city=Oslo\nn=4\nzip:s=0150", 0, 1, 2),
        ("city=Oslo", 0, 1, 1),
        ("n=3", 0, 0, 1),
        ("city=Oslo\nn=many", 0, 0, 1),
        ("", 0, 0, 0),
    ],
)
def test_a_value_is_scored_as_a_whole_and_by_fields(
    example: Example, text: str, exact: int, valid: int, right: int
) -> None:
    found = Score()
    found.add(example, text, tokens=5)
    assert (found.exact, found.valid, found.right, found.fields) == (exact, valid, right, 3)
    assert bool(found.wrong) is not bool(exact)


@pytest.mark.parametrize(("text", "exact"), [("reply", 1), (" reply\n", 1), ("weather", 0)])
def test_a_plan_is_right_or_wrong(text: str, exact: int) -> None:
    found = Score()
    found.add(Example("plan", [], "reply", is_plan=True), text, tokens=1)
    assert (found.exact, found.valid, found.fields) == (exact, 1, 0)


def test_a_model_is_asked_every_example_once(
    tiny_model: Callable[[], Any], tokenizer: Any, example: Example
) -> None:
    plan = Example(
        "plan", [{"role": "user", "content": "a longer prompt than the other"}], "reply", is_plan=True
    )
    scores = score(tiny_model().eval(), tokenizer, [example, plan, example], batch=2, longest=8)
    assert {kind: one.answers for kind, one in scores.items()} == {"record": 2, "plan": 1}
    assert scores["record"].tokens <= 16
    shown = table(scores)
    assert "| plan | 1 | 0.0% | 100.0% |  |" in shown
