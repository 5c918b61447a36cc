"""Objects of one's own: what is read, what is left out, and how they are asked for."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from train_adapter.own_objects import from_object, read_objects, schema_of
from train_adapter.prompts import examples_of


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('{"messages": [{"role": "assistant", "content": "a=1\\nb=x"}]}', [{"a": 1, "b": "x"}]),
        ('{"a": null}', []),
        ('{"a": []}', []),
        ('{"a": [1, "x"]}', []),
        ('{"a": [{"b": 1}, {"c": 2}]}', []),
        ("{}", []),
        (json.dumps({"a": "x" * 500}), []),
    ],
)
def test_what_is_read(tmp_path: Path, line: str, wanted: list[Any]) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    assert read_objects(path) == wanted


@pytest.mark.parametrize("line", ["nothing", "[1]"])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"a": 1}\n' + line, encoding="utf-8")
    with pytest.raises(ValueError, match="line 2 is no"):
        read_objects(path)


def test_the_schema_is_the_objects() -> None:
    assert schema_of({"a": [{"b": 1.5}], "c": True}) == {
        "type": "object",
        "properties": {
            "a": {
                "type": "array",
                "items": {"type": "object", "properties": {"b": {"type": "number"}}, "required": ["b"]},
            },
            "c": {"type": "boolean"},
        },
        "required": ["a", "c"],
    }


@pytest.mark.parametrize("seed", range(20))
def test_the_call_takes_the_object_and_the_request_says_it(seed: int) -> None:
    value = {"title": "Team Meeting", "price range": {"max": 1500}, "tags": ["a b", "c"], "open": True}
    item = from_object(random.Random(seed), value)
    (example,) = examples_of(item)
    assert example.contract is not None
    assert example.contract.decode(example.target).value == value
    assert all(text in item.messages[0]["content"] for text in ("Team Meeting", "1500", "a b"))
