"""VLLM's verification of drafts, checked before it is relied on.

Drafts are only as good as their verification. For requests that are not greedy, it spreads the temperature,
``top_k`` and ``top_p`` of each request over its drafted tokens. On the CPU, vLLM 0.32 leaves the result
uninitialised (its kernel fills a copy), so that replies are drawn at a random temperature and ``top_k``
ends the engine. What is found broken is replaced, by the registry vLLM has for that.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from vllm.platforms import current_platform
from vllm.v1.sample import rejection_sampler

_KERNEL: Final = "vllm.v1.sample.rejection_sampler.expand_kernel"


def is_sound() -> bool:
    """Whether drafts are verified at the temperature of their request, after a repair if need be."""
    if _spreads():
        return True
    try:
        from vllm.triton_utils.dispatcher import register_kernels
    except ImportError:
        return False
    register_kernels({_KERNEL: _expand})
    return _spreads()


def _spreads() -> bool:
    """Whether the values of requests reach their tokens; tried on the CPU only."""
    spread = getattr(rejection_sampler, "expand_batch_to_tokens", None)
    if spread is None or not current_platform.is_cpu():
        return True
    ends = torch.tensor([2, 2, 3], dtype=torch.int32)
    try:
        warm = spread(torch.tensor([0.25, 0.5, 0.0]), ends, 3, replace_from=0, replace_to=1)
        most = spread(torch.tensor([7, 8, 9], dtype=torch.int32), ends, 3)
    except (RuntimeError, TypeError):
        return False
    return bool(warm.tolist() == [0.25, 0.25, 1.0] and most.tolist() == [7, 7, 9])


def _expand(
    output: torch.Tensor,
    values: torch.Tensor,
    ends: torch.Tensor,
    replace_from: float,
    replace_to: float,
    *_: Any,
    **__: Any,
) -> None:
    """Writes the value of each request for each of its tokens.

    Args:
        output: Takes a value for each token.
        values: A value for each request.
        ends: For each request the number of tokens up to its last one.
        replace_from: A value to replace.
        replace_to: What replaces it.
    """
    counts = torch.diff(ends, prepend=ends.new_zeros(1))
    replaced = torch.where(values == replace_from, torch.full_like(values, replace_to), values)
    output.copy_(replaced.repeat_interleave(counts))
