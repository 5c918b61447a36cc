"""Writes exercises: ``python -m train_adapter.generate --output data.jsonl`` in the folder ``examples``."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from train_adapter import calls
from train_adapter.items import Item
from train_adapter.own_objects import from_object, read_objects
from train_adapter.records import record
from train_adapter.smalltalk import smalltalk

SHARES = {"record": 51, "call": 18, "object": 8, "plan": 10, "one_pass": 5, "after_result": 6, "chat": 2}
"""Per cent of each family; without objects of your own, ``call`` takes their share."""


def items(
    seed: int, count: int, *, split: str = "train", objects: Sequence[dict[str, Any]] = ()
) -> Iterator[Item]:
    """Random exercises, the same ones for the same arguments.

    Args:
        seed: Seed of the random numbers.
        count: How many.
        split: ``train``, or ``validation`` for texts from templates and tools that ``train`` never uses.
        objects: Objects of your own; each is asked for in generated words.
    """
    rng = random.Random(f"{split}-{seed}")
    families, weights = list(SHARES), list(SHARES.values())
    for _ in range(count):
        family = rng.choices(families, weights)[0]
        if family == "record":
            yield record(rng, split)
        elif family == "object" and objects:
            yield from_object(rng, rng.choice(objects))
        elif family == "plan":
            yield calls.plan(rng, split)
        elif family == "one_pass":
            yield calls.one_pass(rng, split)
        elif family == "after_result":
            yield calls.after_result(rng, split)
        elif family == "chat":
            yield Item("chat", [{"role": "user", "content": smalltalk(rng)}])
        else:
            yield calls.call(rng, split)


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes a file of exercises."""
    parser = argparse.ArgumentParser(prog="python -m train_adapter.generate", description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="file to write, one exercise a line")
    parser.add_argument("--count", type=int, default=18000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed writes the same file")
    parser.add_argument("--split", choices=("train", "validation"), default="train")
    parser.add_argument("--objects", type=Path, help="JSON lines with objects of your own to ask for as well")
    parser.add_argument("--show", type=int, default=0, help="print this many as the model will see them")
    options = parser.parse_args(arguments)
    objects = read_objects(options.objects) if options.objects else []
    if objects:
        kept = options.split == "validation"
        objects = [one for index, one in enumerate(objects) if (index % 20 == 7) == kept]
    kinds: Counter[str] = Counter()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with options.output.open("w", encoding="utf-8") as file:
        for item in items(options.seed, options.count, split=options.split, objects=objects):
            kinds[item.kind] += 1
            file.write(json.dumps(item.to_dict(), ensure_ascii=False) + "\n")
            if sum(kinds.values()) <= options.show:
                _show(item)
    print(
        f"{options.output}: " + ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()), file=sys.stderr
    )


def _show(item: Item) -> None:
    from train_adapter.prompts import examples_of, in_words

    print(in_words(examples_of(item)), end="\n\n========\n\n")


if __name__ == "__main__":
    main()
