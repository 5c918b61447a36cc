"""Deterministic automata over characters, and how they are written as right-linear rules.

An engine walks a right-linear deterministic rule with one parser state per character; the same
language written with nested repetitions costs it a thousand times more per token.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from raif_integrations.contract.ebnf import (
    ANY,
    CharSet,
    Rules,
    char_class,
    charset,
    complement,
    contains,
    intersection,
    sequence,
    union,
)

State = TypeVar("State", bound=Hashable)
Edges: TypeAlias = tuple[tuple[CharSet, int], ...]


class TooManyStatesError(ValueError):
    """An automaton grows beyond what is worth compiling."""


@dataclass(frozen=True)
class Automaton:
    """A deterministic finite automaton; state 0 is the start.

    Attributes:
        edges: For each state its disjoint character sets and where they lead. What no set covers is
            refused.
        accepting: The states in which the text may end.
    """

    edges: tuple[Edges, ...]
    accepting: frozenset[int]

    def accepts(self, text: str) -> bool:
        """Whether a text belongs to the language."""
        state: int | None = 0
        for char in text:
            if state is None:
                return False
            state = next((target for chars, target in self.edges[state] if contains(chars, char)), None)
        return state is not None and state in self.accepting

    @property
    def is_empty(self) -> bool:
        """Whether no text belongs to the language (for trimmed automata)."""
        return not self.accepting


def build(
    start: State,
    step: Callable[[State], tuple[bool, Sequence[tuple[CharSet, State]]]],
    *,
    limit: int,
) -> Automaton:
    """Explore an automaton from its start.

    Args:
        start: The first state, any hashable value.
        step: Gives for a state whether it accepts, and its disjoint edges.
        limit: Largest number of states.

    Raises:
        TooManyStatesError: There are more states than ``limit``.
    """
    numbers: dict[State, int] = {start: 0}
    pending = [start]
    edges: list[Edges] = []
    accepting = set()
    while len(edges) < len(pending):
        state = pending[len(edges)]
        accepts, leaving = step(state)
        if accepts:
            accepting.add(len(edges))
        found = []
        for chars, target in leaving:
            if not chars:
                continue
            if target not in numbers:
                if len(numbers) >= limit:
                    raise TooManyStatesError(f"more than {limit} states")
                numbers[target] = len(numbers)
                pending.append(target)
            found.append((chars, numbers[target]))
        edges.append(tuple(found))
    return _minimal(_trimmed(Automaton(tuple(edges), frozenset(accepting))))


def words(texts: Iterable[str]) -> Automaton:
    """Exactly the given texts."""
    listed = tuple(sorted(set(texts)))

    def step(rest: tuple[str, ...]) -> tuple[bool, Sequence[tuple[CharSet, tuple[str, ...]]]]:
        following: dict[str, list[str]] = {}
        for text in rest:
            if text:
                following.setdefault(text[0], []).append(text[1:])
        return "" in rest, [(charset(char), tuple(tails)) for char, tails in following.items()]

    return build(listed, step, limit=1 + sum(map(len, listed)))


def intersect(left: Automaton, right: Automaton, *, limit: int) -> Automaton:
    """The texts that both automata accept.

    Raises:
        TooManyStatesError: There are more states than ``limit``.
    """

    def step(state: tuple[int, int]) -> tuple[bool, Sequence[tuple[CharSet, tuple[int, int]]]]:
        first, second = state
        leaving = [
            (intersection(a, b), (one, two)) for a, one in left.edges[first] for b, two in right.edges[second]
        ]
        return first in left.accepting and second in right.accepting, leaving

    return build((0, 0), step, limit=limit)


def inverted(automaton: Automaton) -> Automaton:
    """The texts that an automaton refuses."""
    dead = len(automaton.edges)
    edges = [
        (
            *leaving,
            *(((rest, dead),) if (rest := complement(union(*(chars for chars, _ in leaving)))) else ()),
        )
        for leaving in automaton.edges
    ]
    edges.append(((ANY, dead),))
    refusing = frozenset(range(dead + 1)) - automaton.accepting
    return _minimal(_trimmed(Automaton(tuple(edges), refusing)))


def _trimmed(automaton: Automaton) -> Automaton:
    """Drop the states from which the end cannot be reached."""
    alive = set(automaton.accepting)
    changed = True
    while changed:
        before = len(alive)
        alive |= {
            state
            for state, leaving in enumerate(automaton.edges)
            if any(target in alive for _, target in leaving)
        }
        changed = len(alive) > before
    alive.add(0)
    numbers = {state: number for number, state in enumerate(sorted(alive))}
    edges = tuple(
        tuple((chars, numbers[target]) for chars, target in automaton.edges[state] if target in alive)
        for state in sorted(alive)
    )
    return Automaton(edges, frozenset(numbers[state] for state in automaton.accepting))


def _minimal(automaton: Automaton) -> Automaton:
    """Merge equivalent states (Moore's refinement) and parallel edges."""
    block = [int(state in automaton.accepting) for state in range(len(automaton.edges))]
    while True:
        signatures = [
            (block[state], _grouped(leaving, block)) for state, leaving in enumerate(automaton.edges)
        ]
        names: dict[object, int] = {}
        refined = [names.setdefault(signature, len(names)) for signature in signatures]
        if len(names) == len(set(block)):
            break
        block = refined
    order: dict[int, int] = {}
    for state in range(len(automaton.edges)):
        order.setdefault(refined[state], len(order))
    edges: list[Edges] = [()] * len(order)
    for state in range(len(automaton.edges)):
        merged = [order[b] for b in refined]
        edges[order[refined[state]]] = _grouped(automaton.edges[state], merged)
    accepting = frozenset(order[refined[state]] for state in automaton.accepting)
    return Automaton(tuple(edges), accepting)


def _grouped(leaving: Edges, block: Sequence[int]) -> Edges:
    by_target: dict[int, list[CharSet]] = {}
    for chars, target in leaving:
        by_target.setdefault(block[target], []).append(chars)
    return tuple(sorted((union(*sets), target) for target, sets in by_target.items()))


def write(automaton: Automaton, rules: Rules, hint: str) -> str:
    """Add one rule for each state.

    Args:
        automaton: What to write.
        rules: Where to.
        hint: What the rules are about.

    Returns:
        The name of the start rule.
    """
    return write_states(automaton, rules, hint)[0]


def write_states(automaton: Automaton, rules: Rules, hint: str) -> list[str]:
    """The same as :func:`write`; returns the name of each state's rule."""
    names = [rules.reserve(hint if state == 0 else f"{hint}{state}") for state in range(len(automaton.edges))]
    for state, leaving in enumerate(automaton.edges):
        parts = ['""'] if state in automaton.accepting else []
        for chars, target in leaving:
            final = not automaton.edges[target] and target in automaton.accepting
            parts.append(sequence(char_class(chars), "" if final else names[target]))
        rules.define(names[state], " | ".join(parts) or '""')
    return names


def weight(automaton: Automaton) -> float:
    """What the automaton costs to compile, in states that admit every printable character."""
    printable = ((0x20, 0x7E),)
    total = 0
    for leaving in automaton.edges:
        inside = intersection(union(*(chars for chars, _ in leaving)), printable)
        total += sum(high - low + 1 for low, high in inside)
    return total / 95
