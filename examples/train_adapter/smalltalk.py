"""What people say that needs no tool."""

from __future__ import annotations

import random

from train_adapter import texts
from train_adapter.wording import expand
from train_adapter.words import pick

_POOLS = {
    "#country": "countries",
    "#topic": "topics",
    "#name": "first_names",
    "#noun": "nouns",
    "#language": "languages",
}


def smalltalk(rng: random.Random) -> str:
    """One sentence."""
    text = expand(rng, rng.choice(texts.phrases("small_talk")))
    for mark, pool in _POOLS.items():
        while mark in text:
            text = text.replace(mark, pick(rng, pool), 1)
    return text
