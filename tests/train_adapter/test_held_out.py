"""The templates know nothing of the held-out texts: no eight words in a row are the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from train_adapter import texts
from train_adapter.generate import items
from train_adapter.items import Item

HELD_OUT = Path(__file__).resolve().parents[2] / "benchmarks" / "held_out"


def runs(text: str, length: int = 8) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def said(item: Item) -> Iterator[str]:
    for message in item.messages:
        yield str(message.get("content") or "")


def test_no_eight_words_in_a_row_are_shared() -> None:
    files = sorted(HELD_OUT.glob("*.jsonl"))
    assert files
    held_out = {
        run
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        for text in said(Item.from_dict(json.loads(line)))
        for run in runs(text)
    }
    assert len(held_out) > 1000
    generated = {run for item in items(11, 1500) for text in said(item) for run in runs(text)}
    folder = Path(texts.__file__).parent
    generated |= {run for file in folder.glob("*.txt") for run in runs(file.read_text(encoding="utf-8"))}
    assert not held_out & generated
