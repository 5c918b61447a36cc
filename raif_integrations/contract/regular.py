"""Regular expressions (ECMA-262, as JSON Schema writes them) as automata.

Only what is regular can be read: no back references, no look-around, no word boundaries.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from raif_integrations.contract.automaton import Automaton, build
from raif_integrations.contract.ebnf import (
    ANY,
    CharSet,
    charset,
    complement,
    difference,
    intersection,
    union,
)
from raif_integrations.contract.layout import WHITESPACE

_DIGITS = charset((0x30, 0x39))
_WORD = charset((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), "_")
_SPACE = difference(charset(WHITESPACE), charset("\ufeff"))
_ANY_SPACE = union(charset(WHITESPACE), charset((0x1C, 0x1F), "\x85"))
"""ECMAScript's white space and Python's: validators differ, so a text keeps to what both say."""

_CLASSES = {
    "d": _DIGITS,
    "D": difference(ANY, _DIGITS),
    "w": _WORD,
    "W": difference(ANY, _WORD),
    "s": _SPACE,
    "S": difference(ANY, _ANY_SPACE),
}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_DOT = complement(charset("\n\r\u2028\u2029"))
_COUNTS = re.compile(r"\{([0-9]{1,4})(,([0-9]{1,4})?)?\}")
_GROUP_NAME = re.compile(r"<[A-Za-z_$][A-Za-z0-9_$]*>")
_CODES = {"x": re.compile("([0-9a-fA-F]{2})"), "u": re.compile("([0-9a-fA-F]{4})")}
_BRACED_CODE = re.compile(r"\{([0-9a-fA-F]{1,6})\}")
_MOST_NFA_STATES = 4000
_MOST_STATES = 400


class NotRegularError(ValueError):
    """The expression uses something no automaton can do, or is written wrongly."""


def searching(pattern: str, *, anchored: bool = False, longest: int | None = None) -> Automaton:
    """The texts in which a pattern is found somewhere (JSON Schema does not anchor patterns).

    Args:
        pattern: The expression.
        anchored: Only the texts that match from end to end: fewer, and far fewer states.
        longest: Counts of repetitions beyond this are left out: more texts, and fewer states.

    Raises:
        NotRegularError: It is not regular, or not a regular expression.
        TooManyStatesError: Its automaton is too large.
    """
    machine = _Machine(longest)
    expression = _Parser(pattern).parse()
    if anchored:
        expression = _Sequence((_Edge("^"), expression, _Edge("$")))
    end = machine.add(expression, 0)
    return machine.determined(end)


@dataclass(frozen=True, slots=True)
class _Edge:
    """``^`` or ``$``."""

    sign: str


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Expression, ...]


@dataclass(frozen=True, slots=True)
class _Alternatives:
    options: tuple[_Expression, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: _Expression
    least: int
    most: int | None


_Expression: TypeAlias = "CharSet | _Edge | _Sequence | _Alternatives | _Repeat"


_Found: TypeAlias = tuple[bool, frozenset[int] | None]
"""A state of the deterministic automaton: at the start of the text, and the states reached; ``None`` once
the expression was found."""


@dataclass
class _Machine:
    """A nondeterministic automaton; state 0 is the start.

    Attributes:
        longest: Counts of repetitions beyond this are left out.
        moves: For each state, the characters and where they lead.
        free: For each state, where it leads without a character, and at which edge of the text only
            (``^``, ``$``, or nowhere in particular).
    """

    longest: int | None = None
    moves: list[list[tuple[CharSet, int]]] = field(default_factory=lambda: [[]])
    free: list[list[tuple[str, int]]] = field(default_factory=lambda: [[]])

    def new(self) -> int:
        if len(self.moves) >= _MOST_NFA_STATES:
            raise NotRegularError("the expression is too large")
        self.moves.append([])
        self.free.append([])
        return len(self.moves) - 1

    def add(self, expression: _Expression, start: int) -> int:
        """Add an expression behind a state (Thompson's construction); returns its end state."""
        if isinstance(expression, _Sequence):
            for part in expression.parts:
                start = self.add(part, start)
            return start
        end = self.new()
        if isinstance(expression, _Edge):
            self.free[start].append((expression.sign, end))
        elif isinstance(expression, _Alternatives):
            for option in expression.options:
                self._link(self.add(option, self._fork(start)), end)
        elif isinstance(expression, _Repeat):
            self._repeat(expression, start, end)
        else:
            self.moves[start].append((expression, end))
        return end

    def _repeat(self, expression: _Repeat, start: int, end: int) -> None:
        least, most = expression.least, expression.most
        if self.longest is not None:
            least = min(least, self.longest)
            most = most if most is not None and most <= self.longest else None
        for _ in range(least):
            start = self.add(expression.part, self._fork(start))
        if most is None:
            loop = self._fork(start)
            self._link(self.add(expression.part, loop), loop)
            self._link(loop, end)
            return
        for _ in range(most - least):
            self._link(start, end)
            start = self.add(expression.part, self._fork(start))
        self._link(start, end)

    def _link(self, start: int, end: int) -> None:
        self.free[start].append(("", end))

    def _fork(self, start: int) -> int:
        fresh = self.new()
        self._link(start, fresh)
        return fresh

    def closure(self, states: Sequence[int], edges: str) -> frozenset[int]:
        """All states reached without a character."""
        found = set(states)
        pending = list(states)
        while pending:
            for edge, target in self.free[pending.pop()]:
                if target not in found and (not edge or edge in edges):
                    found.add(target)
                    pending.append(target)
        return frozenset(found)

    def determined(self, end: int) -> Automaton:
        """The deterministic automaton for "found somewhere", with ``end`` reached once and for all."""

        def step(state: _Found) -> tuple[bool, list[tuple[CharSet, _Found]]]:
            first, states = state
            if states is None:
                return True, [(ANY, (False, None))]
            if end in states:
                return True, [(ANY, (False, None))]
            accepts = end in self.closure(tuple(states), "^$" if first else "$")
            leaving: list[tuple[CharSet, _Found]] = []
            moves = [move for number in sorted(states) for move in self.moves[number]]
            for chars, targets in _split(moves):
                reached = self.closure((0, *targets), "")
                leaving.append((chars, (False, None if end in reached else reached)))
            rest = difference(ANY, union(*(chars for chars, _ in moves)))
            leaving.append((rest, (False, self.closure((0,), ""))))
            return accepts, leaving

        start: _Found = (True, self.closure((0,), "^"))
        return build(start, step, limit=_MOST_STATES)


def _split(moves: Sequence[tuple[CharSet, int]]) -> list[tuple[CharSet, tuple[int, ...]]]:
    """Make overlapping moves disjoint."""
    parts: list[tuple[CharSet, tuple[int, ...]]] = []
    for chars, target in moves:
        rest = chars
        refined = []
        for known, targets in parts:
            both = intersection(known, rest)
            if both:
                refined.append((both, (*targets, target)))
                rest = difference(rest, both)
            only = difference(known, both)
            if only:
                refined.append((only, targets))
        if rest:
            refined.append((rest, (target,)))
        parts = refined
    merged: dict[tuple[int, ...], CharSet] = {}
    for chars, targets in parts:
        key = tuple(sorted(set(targets)))
        merged[key] = union(merged.get(key, ()), chars)
    return [(chars, targets) for targets, chars in merged.items()]


class _Parser:
    """Reads the text of an expression."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def parse(self) -> _Expression:
        """The whole expression."""
        expression = self._alternatives()
        if self._at < len(self._text):
            raise self._unreadable()
        return expression

    def _unreadable(self) -> NotRegularError:
        return NotRegularError(f"cannot read {self._text!r} at {self._at}")

    def _peek(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _skip(self, text: str) -> bool:
        if not self._peek(text):
            return False
        self._at += len(text)
        return True

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise self._unreadable()
        self._at += 1
        return self._text[self._at - 1]

    def _alternatives(self) -> _Expression:
        options = [self._sequence()]
        while self._skip("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else _Alternatives(tuple(options))

    def _sequence(self) -> _Expression:
        parts: list[_Expression] = []
        while self._at < len(self._text) and not self._peek("|") and not self._peek(")"):
            parts.append(self._quantified(self._one()))
        return _Sequence(tuple(parts))

    def _quantified(self, part: _Expression) -> _Expression:
        least, most = 1, 1
        counts: tuple[int, int | None] = (least, most)
        if self._skip("*"):
            counts = (0, None)
        elif self._skip("+"):
            counts = (1, None)
        elif self._skip("?"):
            counts = (0, 1)
        elif (found := _COUNTS.match(self._text, self._at)) is not None:
            self._at = found.end()
            low = int(found[1])
            counts = (low, low if not found[2] else int(found[3]) if found[3] else None)
        if counts == (1, 1):
            return part
        if isinstance(part, _Edge) or (counts[1] is not None and counts[1] < counts[0]):
            raise self._unreadable()
        self._skip("?")  # lazy or not, the language is the same
        return _Repeat(part, *counts)

    def _one(self) -> _Expression:
        char = self._take()
        if char in "^$":
            return _Edge(char)
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == ".":
            return _DOT
        if char == "\\":
            return self._escape(in_class=False)
        if char in "*+?)":
            raise self._unreadable()
        return charset(char)

    def _group(self) -> _Expression:
        if self._skip("?") and not self._skip(":"):
            found = _GROUP_NAME.match(self._text, self._at)
            if found is None:
                raise NotRegularError(f"{self._text!r} looks ahead or behind")
            self._at = found.end()
        expression = self._alternatives()
        if not self._skip(")"):
            raise self._unreadable()
        return expression

    def _escape(self, *, in_class: bool) -> CharSet:
        char = self._take()
        if char in _CLASSES:
            return _CLASSES[char]
        if char in ("x", "u"):
            return charset(self._code(char))
        if char == "c" and self._text[self._at : self._at + 1].isalpha():
            return charset(ord(self._take()) % 32)
        if char == "b" and in_class:
            return charset("\b")
        if char in _CONTROLS and not (char == "0" and self._text[self._at : self._at + 1].isdigit()):
            return charset(_CONTROLS[char])
        if char.isalnum():  # back reference, word boundary, property
            raise NotRegularError(f"\\{char} in {self._text!r} is not supported")
        return charset(char)

    def _code(self, kind: str) -> int:
        found = (_BRACED_CODE if kind == "u" and self._peek("{") else _CODES[kind]).match(
            self._text, self._at
        )
        if found is None:
            raise self._unreadable()
        self._at = found.end()
        code = int(found[1], 16)
        if not intersection(ANY, ((code, code),)):
            raise NotRegularError(f"{self._text!r} spells half of a surrogate pair")
        return code

    def _class(self) -> CharSet:
        negated = self._skip("^")
        parts: list[CharSet] = []
        while not self._skip("]"):
            first = self._member()
            if self._peek("-") and not self._peek("-]") and _is_single(first):
                self._take()
                last = self._member()
                if not _is_single(last):
                    parts.extend((first, charset("-"), last))
                elif last[0][0] < first[0][0]:
                    raise self._unreadable()
                else:
                    parts.append(intersection(ANY, ((first[0][0], last[0][0]),)))
            else:
                parts.append(first)
        if not negated:
            return union(*parts)
        refused = [_ANY_SPACE if part == _SPACE else part for part in parts]
        return difference(ANY, union(*refused))

    def _member(self) -> CharSet:
        char = self._take()
        return self._escape(in_class=True) if char == "\\" else charset(char)


def _is_single(chars: CharSet) -> bool:
    return len(chars) == 1 and chars[0][0] == chars[0][1]
