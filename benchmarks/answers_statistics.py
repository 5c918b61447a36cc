"""Rates with their 95 % confidence intervals."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_Z: Final = 1.959963984540054
_RESAMPLES: Final = 2000
_SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Rate:
    """A mean with its interval.

    Attributes:
        value: The mean.
        low: Lower end of the 95 % interval.
        high: Upper end.
        n: How many values it is the mean of.
    """

    value: float
    low: float
    high: float
    n: int


def wilson(hits: int, n: int) -> Rate:
    """A share of yes answers, with Wilson's score interval.

    Args:
        hits: Yes answers.
        n: All answers, at least one.

    Raises:
        ValueError: ``n`` is below one, or ``hits`` is not between 0 and ``n``.
    """
    if n < 1 or not 0 <= hits <= n:
        raise ValueError(f"There are no {hits} of {n}.")
    share = hits / n
    scale = 1 + _Z**2 / n
    middle = (share + _Z**2 / (2 * n)) / scale
    half = _Z / scale * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return Rate(share, max(middle - half, 0.0), min(middle + half, 1.0), n)


def mean(values: Sequence[float]) -> Rate:
    """A mean, with the interval of a percentile bootstrap with a fixed seed.

    Args:
        values: At least one value.

    Raises:
        ValueError: There are none.
    """
    if not values:
        raise ValueError("There is no mean of no values.")
    n = len(values)
    chance = random.Random(_SEED)
    means = sorted(math.fsum(chance.choices(values, k=n)) / n for _ in range(_RESAMPLES))
    low, high = means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]
    return Rate(math.fsum(values) / n, low, high, n)


def share(answers: Sequence[bool]) -> Rate:
    """:func:`wilson` of a list of answers."""
    return wilson(sum(answers), len(answers))
