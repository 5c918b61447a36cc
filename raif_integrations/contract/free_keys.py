"""Free keys: which ones a grammar may write where the schema does not name them.

A free key must match the pattern its value is described under, no other pattern that says something else
of it, and must not be a declared key. All that is regular, but each state of the automaton costs compile
time, and a key that is not what it should be breaks the schema. So what cannot be said exactly is a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from raif_integrations.contract.automaton import (
    Automaton,
    TooManyStatesError,
    intersect,
    inverted,
    weight,
    words,
)
from raif_integrations.contract.regular import NotRegularError, searching
from raif_integrations.contract.tree import Node

_MOST_STATES = 2000
_MOST_WIDE_STATES = 64.0
"""In states that admit nearly every character; about 10 ms each for a vocabulary of 49,000 tokens."""


class UnsayableKeyError(ValueError):
    """The free keys of a place cannot be told from others at a reasonable cost."""


@lru_cache(maxsize=256)
def key_language(pattern: str | None, declared: tuple[str, ...]) -> Automaton | None:
    """The free keys of an object.

    Args:
        pattern: ECMA-262 expression they must match, or ``None``.
        declared: The declared keys.

    Returns:
        Their language, or ``None`` for any key.

    Raises:
        UnsayableKeyError: The expression is not regular, or the language too large.
    """
    try:
        wanted = None if pattern is None else searching(pattern)
        named = [name for name in declared if wanted is None or wanted.accepts(name)]
        if named:
            others = inverted(words(named))
            wanted = others if wanted is None else intersect(wanted, others, limit=_MOST_STATES)
    except NotRegularError as error:
        raise UnsayableKeyError(f"The pattern {pattern!r} of its keys is not regular.") from error
    except TooManyStatesError as error:
        raise UnsayableKeyError(f"The pattern {pattern!r} of its keys is too large for a grammar.") from error
    if wanted is not None and weight(wanted) > _MOST_WIDE_STATES:
        if pattern is None or named:
            raise UnsayableKeyError("Its declared keys are too many to keep out of its free ones.")
        raise UnsayableKeyError(f"The pattern {pattern!r} of its keys is too large for a grammar.")
    return wanted


def unsayable_keys(
    described: Sequence[tuple[str | None, Node | None]], declared: tuple[str, ...]
) -> str | None:
    """Why a grammar cannot keep what a schema says of free keys, or ``None``.

    Args:
        described: Each pattern with what stands under its keys (``None`` forbids them).
        declared: The declared keys.
    """
    languages: list[tuple[Automaton | None, Node | None]] = []
    try:
        for pattern, node in described:
            languages.append((key_language(pattern, declared), node))
    except UnsayableKeyError as error:
        return str(error)
    for number, (left, node) in enumerate(languages):
        for right, other in languages[:number]:
            if node is not other and _overlap(left, right):
                return "Two patterns say different things of the same keys."
    return None


def _overlap(left: Automaton | None, right: Automaton | None) -> bool:
    if left is None or right is None:
        return not (right or left or words([""])).is_empty
    try:
        return not intersect(left, right, limit=_MOST_STATES).is_empty
    except TooManyStatesError:
        return True
