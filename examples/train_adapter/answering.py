"""Greedy answers of a model in this process, without an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def answers(model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], most: int) -> list[list[int]]:
    """Lets a model answer prompts side by side.

    Args:
        model: A causal model of ``transformers``.
        tokenizer: Its tokenizer.
        prompts: Token ids.
        most: Most tokens of an answer.

    Returns:
        The token ids of each answer; its end token is the last one, unless it was cut off.
    """
    import torch

    ends = model.generation_config.eos_token_id
    stops = set(ends if isinstance(ends, list) else [ends])
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(one)) + list(one) for one in prompts], device=model.device)
    seen = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in prompts], device=model.device)
    with torch.no_grad():
        made = model.generate(
            input_ids=ids, attention_mask=seen, max_new_tokens=most, do_sample=False, pad_token_id=pad
        )
    return [_until_end(answer, stops) for answer in made[:, width:].tolist()]


def _until_end(ids: list[int], stops: set[int]) -> list[int]:
    return next((ids[: at + 1] for at, token in enumerate(ids) if token in stops), ids)
