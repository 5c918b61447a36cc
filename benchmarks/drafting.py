"""What a draft of RAIF speculation costs, for each request and step.

    python benchmarks/drafting.py --json results/drafting.json

No engine runs: the right replies to the held-out items are handed to the drafter as an engine would hand
them, the tokens of a step being those of the last draft that are right and one more. CPU time of the drafter
alone, the reading of prompts included, as a share of 50 microseconds. What a cue says is read once and kept
for the next request with the same one; the first round, in which every cue is new, is shown by itself.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from transformers import AutoTokenizer

import model_folder
from answers_items import OUTPUT_KINDS, load_items
from measuring import Ratio, parser, progress, report
from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.prompt import cue_block, with_block
from raif_integrations.engines.speculation import DRAFT_TOKENS
from raif_integrations.engines.speculation.batch import Drafter
from raif_integrations.engines.speculation.vocabulary import Vocabulary

_QUESTION = "What does a draft cost, for each request and step?"
_GOAL_US = 50.0
_BUDGET = 96
_BATCHES = (1, 16, 64)


@dataclass(slots=True)
class Request:
    """A reply that is being written.

    Attributes:
        tokens: Prompt and right reply.
        length: How many of them are there already.
        new: How many of these came in the last step.
    """

    tokens: list[int]
    length: int
    new: int = 1

    @property
    def is_over(self) -> bool:
        """The whole reply is there."""
        return self.length >= len(self.tokens)

    def accept(self, draft: Sequence[int]) -> None:
        """Takes what of a draft is right, and one token more."""
        right = self.tokens[self.length :]
        count = 0
        while count < min(len(draft), len(right) - 1) and draft[count] == right[count]:
            count += 1
        self.new = count + 1
        self.length += self.new


def main() -> int:
    """Measures, and reports."""
    options = parser(__doc__).parse_args()
    tokenizer = AutoTokenizer.from_pretrained(str(model_folder.small_model()))
    vocabulary = Vocabulary(tokenizer, [tokenizer.eos_token_id])
    asked = list(requests(tokenizer, vocabulary))
    new = measure(asked, vocabulary, 1, options)
    ratios = [measure(asked, vocabulary, size, options) for size in progress(_BATCHES, "batches")]
    report(options, _QUESTION, [replace(new, name=f"{new.name}, new cues", at_most=None), *ratios])
    return 0


def requests(tokenizer: Any, vocabulary: Vocabulary) -> Iterator[tuple[list[int], int]]:
    """The tokens of each item's prompt and right reply, and how many of them are the prompt."""
    for item in load_items(kinds=OUTPUT_KINDS):
        contract = item.contract("raif")
        assert contract is not None
        turns = with_block(as_turns(item.messages, neutralise_tags=True), cue_block(contract, trained=True))
        shown = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        prompt = tokenizer(shown, add_special_tokens=False)["input_ids"]
        reply = [*vocabulary.ids(contract.encode(item.value)), tokenizer.eos_token_id]
        yield [*prompt, *reply], len(prompt)


def measure(
    asked: Sequence[tuple[list[int], int]], vocabulary: Vocabulary, size: int, options: argparse.Namespace
) -> Ratio:
    """The cost in batches of one size; a finished request makes room for the next one."""
    drafter = Drafter(vocabulary, DRAFT_TOKENS, _BUDGET)
    waiting = [Request(tokens, prompt + 1) for tokens, prompt in (asked[:8] if options.smoke else asked)]
    longest = max(len(one.tokens) for one in waiting)
    rows = np.zeros((size, longest), dtype=np.int32)
    running: list[Request] = []
    spent, steps, drafted, right = 0.0, 0, 0, 0
    while waiting or running:
        running += [waiting.pop() for _ in range(min(size - len(running), len(waiting)))]
        for row, one in enumerate(running):
            rows[row, : one.length] = one.tokens[: one.length]
        new = [one.tokens[one.length - one.new : one.length] for one in running]
        lengths = [one.length for one in running]
        started = time.process_time()
        drafts = drafter.drafts(new, lengths, rows)
        spent += time.process_time() - started
        steps += len(running)
        for one, draft in zip(running, drafts, strict=True):
            one.accept(draft)
            drafted += len(draft)
            right += min(one.new - 1, len(draft))
        running = [one for one in running if not one.is_over]
    cost = 1e6 * spent / steps
    details = {"us": cost, "request_steps": steps, "drafted_tokens": drafted, "right_tokens": right}
    return Ratio(f"batch {size}: a request's step, of 50 µs", cost / _GOAL_US, at_most=1, details=details)


if __name__ == "__main__":
    sys.exit(main())
