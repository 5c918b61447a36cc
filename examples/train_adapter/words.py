"""Words: from pools, and invented ones."""

from __future__ import annotations

import random

from train_adapter.texts import pool

MONTHS = pool("months")
"""The names of the months, in order."""

_ONSETS = pool("onsets")
_VOWELS = pool("vowels")
_CODAS = ("", "", "", "l", "n", "r", "s", "x", "k", "m", "th", "nd", "rt")


def pick(rng: random.Random, name: str) -> str:
    """A word of a pool."""
    return rng.choice(pool(name))


def invented(rng: random.Random, *, syllables: int | None = None) -> str:
    """A pronounceable word that means nothing, in lower case."""
    count = syllables or rng.choice((1, 2, 2, 2, 3))
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(count))
