"""Scores an adapter: ``python -m train_adapter.evaluate --model DIR --adapter DIR --data items.jsonl``.

Greedy decoding without a grammar, so it shows what the model itself has learnt. Any file of exercises
will do, the held-out ones of ``benchmarks`` as well.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from train_adapter.answering import answers
from train_adapter.data import load_items
from train_adapter.encoding import batches, encode
from train_adapter.prompts import Example, Format, examples_of


@dataclass(slots=True)
class Score:
    """Counts of one kind.

    Attributes:
        answers: Generations that were scored.
        exact: Right in full.
        valid: Decoded and valid; plans and texts count as valid.
        fields: Top-level fields that should have come back.
        right: Of these, the right ones.
        tokens: Tokens the model wrote.
        wrong: What was wrong, to look at: what it wrote and what it should have written.
    """

    answers: int = 0
    exact: int = 0
    valid: int = 0
    fields: int = 0
    right: int = 0
    tokens: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)

    def add(self, example: Example, text: str, tokens: int) -> None:
        """Counts one answer."""
        self.answers += 1
        self.tokens += tokens
        if example.contract is None:
            written = text.strip()
            exact = written == example.target if example.ends else written.startswith(example.target)
            self.valid += 1
        else:
            decoded = example.contract.decode(text)
            wanted = example.contract.decode(example.target).value
            exact = bool(decoded.ok and decoded.value == wanted)
            self.valid += decoded.ok
            value = decoded.value if isinstance(decoded.value, dict) else {}
            self.fields += len(wanted)
            self.right += sum(key in value and value[key] == wanted[key] for key in wanted)
        self.exact += exact
        if not exact:
            self.wrong.append((text, example.target))


def score(
    model: Any, tokenizer: Any, examples: Sequence[Example], *, batch: int = 16, longest: int = 256
) -> dict[str, Score]:
    """Lets a model answer, and counts.

    Args:
        model: A causal model.
        tokenizer: Its tokenizer.
        examples: What to ask.
        batch: Examples answered side by side.
        longest: Most tokens of an answer.

    Returns:
        Scores by kind; the plan of an exercise is a kind of its own.
    """
    from tqdm import tqdm

    scores: dict[str, Score] = defaultdict(Score)
    encoded = [encode(tokenizer, example) for example in examples]
    order = sorted(range(len(examples)), key=lambda index: encoded[index].start)
    for at in tqdm(range(0, len(order), batch), desc="answering", unit="batch"):
        group = order[at : at + batch]
        most = min(longest, max(encoded[index].learnt for index in group) * 2 + 16)
        prompts = [list(encoded[index].ids[: encoded[index].start]) for index in group]
        for index, ids in zip(group, answers(model, tokenizer, prompts, most), strict=True):
            example = examples[index]
            kind = "plan" if example.is_plan else example.kind
            scores[kind].add(example, tokenizer.decode(ids, skip_special_tokens=True), len(ids))
    return dict(scores)


def score_quickly(
    model: Any, tokenizer: Any, examples: Sequence[Example], *, tokens: int = 4096
) -> dict[str, Score]:
    """Counts exact answers in one pass each, without generating.

    Greedy decoding writes the target if and only if each of its tokens is the likeliest one after those
    before it. What is missed are other texts of the same value (``5.0`` for ``5``), so it is a lower bound.

    Args:
        model: A causal model with a ``model`` and an ``lm_head``, as ``transformers`` has them.
        tokenizer: Its tokenizer.
        examples: What to ask.
        tokens: Most tokens of a pass.
    """
    import torch

    scores: dict[str, Score] = defaultdict(Score)
    encoded = [encode(tokenizer, example) for example in examples]
    for group in batches([len(one.ids) for one in encoded], tokens, seed=0, window=len(encoded)):
        width = max(len(encoded[index].ids) for index in group)
        ids = torch.tensor([[*encoded[i].ids, *[0] * (width - len(encoded[i].ids))] for i in group])
        with torch.no_grad():
            states = model.model(input_ids=ids.to(model.device)).last_hidden_state
            for row, index in enumerate(group):
                one = encoded[index]
                likeliest = model.lm_head(states[row, one.start - 1 : len(one.ids) - 1]).argmax(-1).tolist()
                wanted = list(one.ids[one.start :])
                kind = "plan" if examples[index].is_plan else examples[index].kind
                scores[kind].answers += 1
                scores[kind].tokens += len(wanted)
                scores[kind].exact += likeliest == wanted
                if likeliest != wanted:
                    scores[kind].wrong.append((tokenizer.decode(likeliest), examples[index].target))
    return dict(scores)


def table(scores: dict[str, Score]) -> str:
    """The scores as a Markdown table."""
    lines = ["| kind | answers | exact | valid | fields | tokens |", "|---|---|---|---|---|---|"]
    for kind, one in sorted(scores.items()):
        fields = f"{one.right / one.fields:.1%}" if one.fields else ""
        valid = f"{one.valid / one.answers:.1%}" if one.valid else ""
        exact = f"{one.exact / one.answers:.1%}"
        lines.append(f"| {kind} | {one.answers} | {exact} | {valid} | {fields} | {one.tokens} |")
    asked = sum(one.answers for one in scores.values())
    right = sum(one.exact for one in scores.values())
    lines.append(f"| all | {asked} | {right / asked:.1%} | | | |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Scores from the command line."""
    parser = argparse.ArgumentParser(prog="python -m train_adapter.evaluate", description=__doc__)
    parser.add_argument("--model", required=True, help="base model: a folder, or a name on the hub")
    parser.add_argument("--adapter", type=Path, help="adapter (default: the base model as it is)")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="files of exercises")
    parser.add_argument("--format", choices=("raif", "json"), default="raif")
    parser.add_argument("--limit", type=int, help="only the first so many exercises of each file")
    parser.add_argument("--wrong", type=int, default=0, help="print so many wrong answers of each kind")
    parser.add_argument("--quick", action="store_true", help="only exact answers, in one pass each")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args(arguments)
    scores = _run(options)
    print(table(scores))
    for kind, one in sorted(scores.items()):
        for text, target in one.wrong[: options.wrong]:
            print(f"\n--- {kind}: it wrote\n{text}\n--- it should have written\n{target}")
    if options.json:
        figures = {
            kind: [one.answers, one.exact, one.valid, one.fields, one.right] for kind, one in scores.items()
        }
        options.json.write_text(json.dumps(figures), encoding="utf-8")


def _run(options: argparse.Namespace) -> dict[str, Score]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1))
    form: Format = options.format
    items = [item for path in options.data for item in load_items(path)[: options.limit]]
    examples = [example for item in items for example in examples_of(item, form)]
    print(f"{len(items)} exercises, {len(examples)} answers", file=sys.stderr)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.bfloat16)
    if options.adapter:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, options.adapter).merge_and_unload()
    model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    return (score_quickly if options.quick else score)(model, tokenizer, examples)


if __name__ == "__main__":
    main()
