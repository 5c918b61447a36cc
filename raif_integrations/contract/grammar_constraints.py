"""Strings with ``minLength``, ``maxLength``, ``pattern`` or ``format``.

The constraint is laid over the language of each form (bare, wrapped, block), so that every sentence
keeps it. Each state of the product costs compile time, so there is a budget: where the product is
larger, first the length and then the pattern is left to the validator. Lookaheads, back references and
word boundaries are not regular and are left to it as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from raif_integrations.contract.automaton import (
    Automaton,
    Edges,
    TooManyStatesError,
    build,
    intersect,
    inverted,
    weight,
    write,
)
from raif_integrations.contract.ebnf import (
    ANY,
    CharSet,
    Rules,
    charset,
    complement,
    contains,
    difference,
    union,
)
from raif_integrations.contract.grammar_formats import FORMATS
from raif_integrations.contract.grammar_strings import StringRules, bare_cell, bare_leaf
from raif_integrations.contract.regular import NotRegularError, searching
from raif_integrations.contract.tree import Scalar

_MOST_STATES = 400
_BUDGET_OF_FORM = 48.0
_BUDGET_OF_GRAMMAR = 128.0
"""In states that admit nearly every character; about 10 ms each for a vocabulary of 49,000 tokens."""

_LONGEST_COUNT = 64
_SHORT = 6

_TYPED = r"^(?:true|false|null|\[\]|\{.*\}|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$"
"""Texts that rows and cells wrap although they could stand bare (``layout.looks_typed``)."""

_LINE = complement(charset("\n"))


class ConstrainedStrings:
    """Rules for string nodes.

    Args:
        rules: Where the rules are added.
        strings: The unconstrained languages.
    """

    def __init__(self, rules: Rules, strings: StringRules) -> None:
        self._rules = rules
        self._strings = strings
        self._left = _BUDGET_OF_GRAMMAR
        self._written: dict[Automaton, str] = {}

    def leaf(self, node: Scalar, *, tagged: bool = True) -> str:
        """Rule for what follows the key, separator included.

        Args:
            node: The string.
            tagged: Whether its text may stand behind ``:s=``.
        """
        wanted = self._wanted(node, bare_leaf())
        if wanted is None:
            return self._strings.leaf(empty=node.min_length == 0, tagged=tagged)
        parts: list[str] = []
        bare = self._rule(_bare(bare_leaf(), wanted), "text")
        if bare:
            parts.append(f'"=" {bare}')
        if bare and tagged:
            parts.append(f'":s=" {bare}')
        if wanted.accepts("") and tagged:
            parts.append('":s="')
        parts.extend(self._wrapped("=", bare_leaf(), wanted, _LINE))
        block = self._rule(_block(wanted), "block") if _admits_breaks(wanted) else ""
        if block:
            parts.append(f'"=<<<\\n" {block}')
        return self._rules.add("string", " | ".join(parts)) if parts else self._strings.leaf()

    def row(self, node: Scalar) -> str:
        """Rule for a row of an array literal."""
        base = bare_leaf(start_without=charset("]"))
        return self._in_line(node, base, charset("\n\r"), self._strings.row)

    def cell(self, node: Scalar) -> str:
        """Rule for a cell."""
        return self._in_line(node, bare_cell(), charset("\n\r"), self._strings.cell)

    def _in_line(self, node: Scalar, base: Automaton, breaks: CharSet, free: Callable[[], str]) -> str:
        wanted = self._wanted(node, base)
        if wanted is None:
            return free()
        bare = self._rule(_bare(base, wanted), "text")
        parts = [bare] if bare else []
        parts.extend(self._wrapped("", base, wanted, complement(breaks)))
        return self._rules.add("string", " | ".join(parts)) if parts else free()

    def _wanted(self, node: Scalar, base: Automaton) -> Automaton | None:
        """The constraint as far as it is enforced; ``None`` if nothing of it is."""
        shortest = node.min_length if node.min_length > 1 or node.pattern or node.format else 0
        form = FORMATS.get(node.format or "")
        patterns = tuple(pattern for pattern in (node.pattern, form) if pattern is not None)
        for wanted in _attempts(patterns, shortest, node.max_length):
            try:
                bare = _bare(base, wanted)
            except TooManyStatesError:
                continue
            if bare in self._written or weight(bare) <= min(_BUDGET_OF_FORM, self._left):
                return wanted
        return None

    def _wrapped(self, before: str, base: Automaton, wanted: Automaton, line: CharSet) -> list[str]:
        """The form ``<<<text>>>``, where some text of the constraint cannot stand bare."""
        try:
            content = intersect(wanted, _every(difference(line, charset(">"))), limit=_MOST_STATES)
            outside = intersect(content, inverted(base), limit=_MOST_STATES)
            typed = not before and not intersect(content, searching(_TYPED), limit=_MOST_STATES).is_empty
        except TooManyStatesError:
            return []
        if outside.is_empty and not typed:
            return []
        name = self._rule(content, "wrapped")
        return [f'"{before}<<<" {name} ">>>"'] if name else []

    def _rule(self, automaton: Automaton | None, hint: str) -> str:
        """The rule of an automaton; empty if it is empty or beyond the budget."""
        if automaton is None or automaton.is_empty:
            return ""
        if automaton not in self._written:
            cost = weight(automaton)
            if cost > min(_BUDGET_OF_FORM, self._left):
                return ""
            self._left -= cost
            self._written[automaton] = write(automaton, self._rules, hint)
        return self._written[automaton]


def _attempts(patterns: tuple[str, ...], least: int, most: int | None) -> Iterator[Automaton]:
    """Ever weaker constraints, the exact one first.

    Long repetitions are counted no further than :data:`_SHORT`. A pattern without anchors takes a wide
    state for each of its characters; where that is too much, only the texts that match it from end to end
    are left.
    """
    chosen = list(dict.fromkeys((patterns, patterns[-1:], patterns[:1])))
    for some in chosen:
        for longest in (None, _SHORT):
            for anchored in (False, True) if some else (False,):
                for shortest, largest in ((least, most), (min(least, _SHORT), None), (0, None)):
                    found = _constraint(some, shortest, largest, anchored=anchored, longest=longest)
                    if found is not None:
                        yield found
    found = _constraint((), min(least, _SHORT), None)
    if found is not None:
        yield found


@lru_cache(maxsize=256)
def _constraint(
    patterns: tuple[str, ...],
    least: int,
    most: int | None,
    *,
    anchored: bool = False,
    longest: int | None = None,
) -> Automaton | None:
    """The automaton of patterns and a length; ``None`` if there is nothing or it is not regular."""
    least = least if least <= _LONGEST_COUNT else 0
    most = most if most is not None and most <= _LONGEST_COUNT else None
    try:
        parts = [searching(pattern, anchored=anchored, longest=longest) for pattern in patterns]
        if least or most is not None:
            parts.append(_length(least, most))
        if not parts:
            return None
        found = parts[0]
        for part in parts[1:]:
            found = intersect(found, part, limit=_MOST_STATES)
    except (NotRegularError, TooManyStatesError):
        return None
    return None if found.is_empty else found


@lru_cache(maxsize=256)
def _bare(base: Automaton, wanted: Automaton) -> Automaton:
    """The bare texts that keep the constraint."""
    return intersect(base, wanted, limit=_MOST_STATES)


def _every(chars: CharSet) -> Automaton:
    return Automaton((((chars, 0),),), frozenset({0}))


def _length(least: int, most: int | None) -> Automaton:
    last = least if most is None else most
    edges: list[Edges] = [((ANY, min(count + 1, last)),) for count in range(last + 1)]
    if most is not None:
        edges[-1] = ()
    return Automaton(tuple(edges), frozenset(range(least, last + 1)))


def _admits_breaks(wanted: Automaton) -> bool:
    """Whether a text with a line break keeps the constraint."""
    breaks = charset("\n")
    one = Automaton(
        (((difference(ANY, breaks), 0), (breaks, 1)), ((ANY, 1),)),
        frozenset({1}),
    )
    try:
        return not intersect(wanted, one, limit=_MOST_STATES).is_empty
    except TooManyStatesError:
        return False


_Line: TypeAlias = tuple[int | None, int | None, int | None]


@lru_cache(maxsize=64)
def _block(wanted: Automaton) -> Automaton | None:
    """The lines behind ``<<<`` whose text keeps the constraint, with the closing ``>>>``.

    A state is the number of ``>`` at the start of the line (``None`` behind other characters), the
    state of the constraint here, and its state at the end of the line before.
    """
    more, breaks, returns = charset(">"), charset("\n"), charset("\r")

    def step(state: _Line) -> tuple[bool, Sequence[tuple[CharSet, _Line]]]:
        count, here, before = state
        leaving: list[tuple[CharSet, _Line]] = []
        after_break: int | None = None
        after_more: int | None = None
        for chars, target in wanted.edges[here] if here is not None else ():
            plain = difference(chars, union(breaks, more if count is not None else ()))
            leaving.append((difference(plain, returns) if count == 3 else plain, (None, target, None)))
            after_break = target if contains(chars, "\n") else after_break
            after_more = target if contains(chars, ">") else after_more
        if here is not None and count != 3:
            leaving.append((breaks, (0, after_break, here)))
        if count is not None and count < 3:
            leaving.append((more, (count + 1, after_more, before)))
        elif count == 3 and after_more is not None:
            leaving.append((more, (None, after_more, None)))
        return count == 3 and before in wanted.accepting, leaving

    start: _Line = (0, 0, 0)
    try:
        return build(start, step, limit=_MOST_STATES)
    except TooManyStatesError:
        return None
