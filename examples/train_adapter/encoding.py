"""Examples as token ids: what is given, and what must be learnt."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from train_adapter.prompts import Example


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of one example; the loss is taken from ``start`` on."""

    ids: tuple[int, ...]
    start: int

    @property
    def learnt(self) -> int:
        """Tokens the loss is taken on."""
        return len(self.ids) - self.start


def encode(tokenizer: Any, example: Example, *, ends: bool = True) -> Encoded:
    """Encodes an example with the chat template of the base model.

    The prompt is encoded by itself, as an engine does it, so that the first token of the answer stands on
    the same token as it will in use.

    Args:
        tokenizer: A ``transformers`` tokenizer with a chat template.
        example: What is sent and what must come back.
        ends: The end of the turn is learnt as well; not so for a text that was cut off.
    """
    prompt = tokenizer.apply_chat_template(example.messages, tokenize=False, add_generation_prompt=True)
    given = _ids(tokenizer, prompt)
    answer = _ids(tokenizer, example.target)
    if ends and example.ends:
        answer = [*answer, _end_of_turn(tokenizer)]
    return Encoded((*given, *answer), len(given))


def _ids(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def _end_of_turn(tokenizer: Any) -> int:
    """The token with which the template ends an assistant's turn; else the tokenizer's end token."""
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "bcd"}]
    shown: str = tokenizer.apply_chat_template(said, tokenize=False)
    specials = set(tokenizer.all_special_ids)
    after = [token for token in _ids(tokenizer, shown.rpartition("bcd")[2]) if token in specials]
    end: int = after[0] if after else tokenizer.eos_token_id
    return end


def batches(lengths: Sequence[int], tokens: int, seed: int, *, window: int = 512) -> list[list[int]]:
    """Groups examples of like length, in a random order that depends on the seed only.

    Args:
        lengths: Tokens of each example.
        tokens: Most tokens of a batch, padding counted.
        seed: Seed of the order.
        window: How many neighbours of a random order are sorted by length.

    Returns:
        Indices of the examples of each batch; each example is in one batch.
    """
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    made: list[list[int]] = []
    for at in range(0, len(order), window):
        made += _packed(sorted(order[at : at + window], key=lambda i: lengths[i]), lengths, tokens)
    rng.shuffle(made)
    return made


def _packed(order: list[int], lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for index in order:
        if batch and lengths[index] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
