"""Scores: what counts as exact, valid and right; and a whole round on a random model."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from train_adapter.evaluate import Score, score, score_quickly, table
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


@pytest.mark.parametrize(("text", "exact"), [("reply\nHello!", 1), ("weather\ncity=Oslo", 0)])
def test_where_the_answer_is_open_its_beginning_counts(text: str, exact: int) -> None:
    found = Score()
    found.add(Example("one_pass", [], "reply\n", ends=False), text, tokens=1)
    assert found.exact == exact


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


class Speller:
    """A model that spells one text: after each of its letters it is sure of the next one."""

    device = "cpu"

    def __init__(self, tokenizer: Any, text: str) -> None:
        ids = tokenizer("\n" + text, add_special_tokens=False)["input_ids"]
        self._next = dict(zip(ids, [*ids[1:], tokenizer.convert_tokens_to_ids("<|im_end|>")], strict=True))
        self._size = len(tokenizer)

    def model(self, input_ids: torch.Tensor) -> Any:
        following = [[self._next.get(token, 0) for token in row] for row in input_ids.tolist()]
        states = torch.nn.functional.one_hot(torch.tensor(following), self._size).float()
        return SimpleNamespace(last_hidden_state=states)

    def lm_head(self, states: torch.Tensor) -> torch.Tensor:
        return states


@pytest.mark.parametrize(("target", "exact"), [("a=xyz", 1), ("a=xy", 0), ("a=xyb", 0), ("a=xyzb", 0)])
def test_one_pass_tells_whether_greedy_decoding_would_write_the_target(
    tokenizer: Any, target: str, exact: int
) -> None:
    model = Speller(tokenizer, "a=xyz")
    asked = [{"role": "user", "content": "one"}]
    longer = [{"role": "user", "content": "another prompt"}]
    found = score_quickly(model, tokenizer, [Example("tool", asked, target), Example("tool", longer, target)])
    assert (found["tool"].answers, found["tool"].exact) == (2, 2 * exact)
    assert f"| all | 2 | {exact:.1%} |" in table(found)
