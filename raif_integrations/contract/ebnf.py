"""Writing EBNF in the dialect of xgrammar: one place that escapes, one that names and shares rules.

The subset used is the portable one: string literals, character classes, references, sequences,
alternatives, ``?`` and ``{n,m}``. No ``\\d`` or ``\\s``, no look-ahead, no ``{,m}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

Interval: TypeAlias = tuple[int, int]
CharSet: TypeAlias = tuple[Interval, ...]
"""Sorted, disjoint, inclusive code point intervals."""

MAX_CODE_POINT = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*"
_RULE = re.compile(rf"^[ \t]*({_NAME})[ \t]*::=", re.MULTILINE)
_NAME_OR_TEXT = re.compile(rf'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|#[^\n]*|{_NAME}')
ANY: CharSet = ((0, _SURROGATES[0] - 1), (_SURROGATES[1] + 1, MAX_CODE_POINT))
"""Every character that UTF-8 can carry."""


def charset(*parts: str | Interval | int) -> CharSet:
    """Make a set of characters.

    Args:
        parts: A string (each of its characters), one code point, or an inclusive interval.
    """
    intervals: list[Interval] = []
    for part in parts:
        if isinstance(part, str):
            intervals.extend((ord(char), ord(char)) for char in part)
        elif isinstance(part, int):
            intervals.append((part, part))
        else:
            intervals.append(part)
    return _normalized(intervals)


def _normalized(intervals: Iterable[Interval]) -> CharSet:
    merged: list[Interval] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def union(*sets: CharSet) -> CharSet:
    """Characters in any of the sets."""
    return _normalized(interval for one in sets for interval in one)


def contains(chars: CharSet, char: str) -> bool:
    """Whether a character is in the set."""
    return any(low <= ord(char) <= high for low, high in chars)


def intersection(left: CharSet, right: CharSet) -> CharSet:
    """Characters in both sets."""
    found: list[Interval] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low <= high:
            found.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def difference(left: CharSet, right: CharSet) -> CharSet:
    """Characters in ``left`` that are not in ``right``."""
    return intersection(left, complement(right))


def complement(chars: CharSet) -> CharSet:
    """Every other character (surrogates belong to no set)."""
    gaps: list[Interval] = []
    start = 0
    for low, high in chars:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= MAX_CODE_POINT:
        gaps.append((start, MAX_CODE_POINT))
    return intersection(tuple(gaps), ANY)


def can_spell(text: str) -> bool:
    """Whether a literal can hold a text: NUL and surrogates it cannot."""
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


def literal(text: str) -> str:
    """Quote any text as a string literal: nothing in it can end the literal or start a rule.

    Raises:
        ValueError: The text holds NUL or a surrogate, which an EBNF literal cannot carry.
    """
    if not can_spell(text):
        raise ValueError(f"a grammar cannot spell {text!r}: it holds NUL or half of a surrogate pair")
    return '"' + "".join(_escaped(ord(char), '"\\') for char in text) + '"'


def char_class(chars: CharSet) -> str:
    """Write a set as a character class, negated where that is shorter.

    A negated class only ever lists ASCII characters: some releases of xgrammar read other members
    of a negated class as bytes.
    """
    if not chars:
        raise ValueError("an empty set of characters cannot be written as a class")
    rest = complement(chars)
    if rest and len(rest) < len(chars) + 1 and rest[-1][1] < 0x80:
        return f"[^{_class_body(rest)}]"
    return f"[{_class_body(chars)}]"


def _class_body(chars: CharSet) -> str:
    parts = []
    for low, high in chars:
        first, last = _in_class(low), _in_class(high)
        if low == high:
            parts.append(first)
        elif high == low + 1:
            parts.append(first + last)
        else:
            parts.append(f"{first}-{last}")
    return "".join(parts)


def _in_class(code: int) -> str:
    """A character of a class; one with a meaning there by its number, also at the end of a range."""
    return f"\\U{code:08x}" if chr(code) in '\\]^-["' else _escaped(code, "")


def _escaped(code: int, special: str) -> str:
    """A character, escaped where it must be.

    Always with eight digits: ``\\x`` and ``\\u`` are read greedily by some releases of xgrammar, so that a
    following digit would be taken for a part of the code.
    """
    if code == 0x0A:
        return "\\n"
    char = chr(code)
    if char in special:
        return "\\" + char
    if 0x20 <= code < 0x7F:
        return char
    return f"\\U{code:08x}"


def alternatives(parts: Sequence[str]) -> str:
    """Join alternatives; more than one is put into parentheses. Repeated ones are dropped."""
    distinct = list(dict.fromkeys(parts))
    return distinct[0] if len(distinct) == 1 else "(" + " | ".join(distinct) + ")"


def sequence(*parts: str) -> str:
    """Join what follows each other, leaving out empty parts."""
    kept = [part for part in parts if part]
    return " ".join(kept) if kept else '""'


class Rules:
    """The rules of one grammar. Equal bodies share one rule, so that the text stays small."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}
        self._by_body: dict[str, str] = {}
        self._included: dict[str, str] = {}

    def add(self, hint: str, body: str) -> str:
        """Add a rule and return its name.

        Args:
            hint: What the rule is about; letters, digits and ``_`` of it become part of the name.
            body: The right-hand side.
        """
        known = self._by_body.get(body)
        if known is not None:
            return known
        name = self.reserve(hint)
        self.define(name, body)
        return name

    def reserve(self, hint: str) -> str:
        """Return a fresh name to be given a body later (rules that refer to each other)."""
        stem = "".join(char if char.isascii() and char.isalnum() else "_" for char in hint) or "rule"
        if not stem[0].isalpha():
            stem = "r" + stem
        name, number = stem, 1
        while name in self._bodies or name == "root":
            number += 1
            name = f"{stem}_{number}"
        self._bodies[name] = ""
        return name

    def define(self, name: str, body: str) -> None:
        """Give a reserved name its body."""
        self._bodies[name] = body
        self._by_body.setdefault(body, name)

    def include(self, grammar: str, hint: str) -> str:
        """Add the rules of another grammar under fresh names and return the name of its start rule.

        Args:
            grammar: EBNF with the start rule ``root``, each rule on lines of its own.
            hint: Stem of the names.

        Raises:
            ValueError: It has no rule ``root``.
        """
        if grammar in self._included:
            return self._included[grammar]
        starts = list(_RULE.finditer(grammar))
        names = {start[1]: self.reserve(f"{hint}_{start[1]}") for start in starts}
        if "root" not in names:
            raise ValueError("a grammar without a rule root cannot be included")
        ends = [start.start() for start in starts[1:]] + [len(grammar)]
        for start, end in zip(starts, ends, strict=True):
            body = _NAME_OR_TEXT.sub(lambda found: names.get(found[0], found[0]), grammar[start.end() : end])
            self.define(names[start[1]], " ".join(body.split("\n")).strip())
        self._included[grammar] = names["root"]
        return names["root"]

    def text(self, root: str) -> str:
        """The whole grammar, ``root`` first, then the rules in the order they were added.

        Args:
            root: Body of the start rule.
        """
        lines = [f"root ::= {root}"]
        lines.extend(f"{name} ::= {body}" for name, body in self._bodies.items())
        return "\n".join(lines) + "\n"
