"""Random sentences of a grammar in the EBNF dialect that ``raif_integrations.contract`` writes.

It reads the grammar's text, not the tree it was made from, so that it is independent of the code it
checks. Characters are drawn with a bias towards those that mean something in RAIF.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import TypeAlias

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<literal>"(?:[^"\\]|\\.)*")
  | (?P<chars>\[(?:[^\]\\]|\\.)*\])
  | (?P<count>\{\d+(?:,\d*)?\})
  | (?P<sign>::=|[|()*+?])
)""",
    re.X | re.S,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))", re.S)
_MEANINGFUL = "=:<>[]{},.\"'\\ \t-0123456789abcdefntrue\u00a0\u2028\u3000é😀#|\n\r"
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass
class Text:
    """A string literal."""

    text: str


@dataclass
class Chars:
    """A character class.

    Attributes:
        intervals: Inclusive code point intervals.
        negated: Every other character.
    """

    intervals: list[tuple[int, int]]
    negated: bool

    def holds(self, char: str) -> bool:
        """Whether a character belongs to the class."""
        return any(low <= ord(char) <= high for low, high in self.intervals) != self.negated


@dataclass
class Ref:
    """A reference to a rule."""

    name: str


@dataclass
class Repeat:
    """A repeated part; ``most`` is ``None`` without an upper bound."""

    part: Part
    least: int
    most: int | None


@dataclass
class Choice:
    """Alternatives, each a sequence."""

    options: list[list[Part]] = field(default_factory=list)


Part: TypeAlias = "Text | Chars | Ref | Repeat | Choice"


class Walker:
    """Draws sentences.

    Args:
        grammar: The text of the grammar.
        seed: Seed of the random choices.
    """

    def __init__(self, grammar: str, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._rules = {name: body for line in grammar.splitlines() for name, body in [_read_rule(line)]}
        self._cost = self._costs()

    def sentence(self, budget: int = 200) -> str:
        """One sentence.

        Args:
            budget: After about so many choices the shortest way out is taken.
        """
        out: list[str] = []
        left = budget
        stack: list[Part] = [Ref("root")]
        while stack:
            part = stack.pop()
            if isinstance(part, Text):
                out.append(part.text)
            elif isinstance(part, Chars):
                out.append(self._char(part))
            elif isinstance(part, Ref):
                stack.append(self._rules[part.name])
            elif isinstance(part, Repeat):
                stack.extend([part.part] * self._count(part, left))
            else:
                left -= 1
                options = part.options
                if left < 0:
                    options = [min(options, key=self._sequence_cost)]
                stack.extend(reversed(self._random.choice(options)))
        return "".join(out)

    def _count(self, part: Repeat, left: int) -> int:
        count = part.least
        while left > 0 and (part.most is None or count < part.most) and self._random.random() < 0.5:
            count += 1
        return count

    def _char(self, chars: Chars) -> str:
        if self._random.random() < 0.7:
            meaningful = [char for char in _MEANINGFUL if chars.holds(char)]
            if meaningful:
                return self._random.choice(meaningful)
        if chars.negated:
            while True:
                code = self._random.choice((self._random.randrange(0x80), self._random.randrange(0x11000)))
                if not 0xD800 <= code < 0xE000 and chars.holds(chr(code)):
                    return chr(code)
        low, high = self._random.choice(chars.intervals)
        return chr(self._random.randint(low, min(high, low + 200)))

    # The shortest way out

    def _costs(self) -> dict[str, float]:
        self._cost = dict.fromkeys(self._rules, float("inf"))
        changed = True
        while changed:
            changed = False
            for name, body in self._rules.items():
                cost = 1 + self._part_cost(body)
                if cost < self._cost[name]:
                    self._cost[name] = cost
                    changed = True
        return self._cost

    def _sequence_cost(self, parts: list[Part]) -> float:
        return sum(map(self._part_cost, parts))

    def _part_cost(self, part: Part) -> float:
        if isinstance(part, Text):
            return len(part.text)
        if isinstance(part, Chars):
            return 1
        if isinstance(part, Ref):
            return self._cost[part.name]
        if isinstance(part, Repeat):
            return part.least * self._part_cost(part.part) if part.least else 0
        return min(map(self._sequence_cost, part.options))


def _read_rule(line: str) -> tuple[str, Choice]:
    tokens = []
    position = 0
    line = line.rstrip()
    while position < len(line):
        found = _TOKEN.match(line, position)
        if found is None or found.end() == position:
            raise ValueError(f"cannot read the grammar at: {line[position : position + 40]!r}")
        tokens.append((str(found.lastgroup), found.group(str(found.lastgroup))))
        position = found.end()
    (kind, name), sign = tokens[0], tokens[1]
    if kind != "name" or sign != ("sign", "::="):
        raise ValueError(f"not a rule: {line[:60]!r}")
    rest = tokens[2:]
    body = _read_choice(rest)
    if rest:
        raise ValueError(f"cannot read the rule {name} at {rest[0][1]!r}")
    return name, body


def _read_choice(tokens: list[tuple[str, str]]) -> Choice:
    choice = Choice([[]])
    while tokens and tokens[0] != ("sign", ")"):
        kind, text = tokens.pop(0)
        if (kind, text) == ("sign", "|"):
            choice.options.append([])
        elif (kind, text) == ("sign", "("):
            inner = _read_choice(tokens)
            tokens.pop(0)
            choice.options[-1].append(inner)
        elif kind == "sign" or kind == "count":
            choice.options[-1].append(_repeated(choice.options[-1].pop(), text))
        elif kind == "name":
            choice.options[-1].append(Ref(text))
        elif kind == "literal":
            choice.options[-1].append(Text(_unescaped(text[1:-1])))
        else:
            choice.options[-1].append(_read_class(text))
    return choice


def _repeated(part: Part, sign: str) -> Repeat:
    if sign in ("*", "+", "?"):
        return Repeat(part, 1 if sign == "+" else 0, 1 if sign == "?" else None)
    least, _, most = sign[1:-1].partition(",")
    if "," not in sign:
        return Repeat(part, int(least), int(least))
    return Repeat(part, int(least), int(most) if most else None)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _escaped_char(found), text)


def _escaped_char(found: re.Match[str]) -> str:
    if found[1] or found[2]:
        return chr(int(found[1] or found[2], 16))
    return _CONTROLS.get(found[3], found[3])


def _read_class(text: str) -> Chars:
    body = text[1:-1]
    negated = body.startswith("^")
    position = int(negated)
    intervals = []
    while position < len(body):
        low, position = _class_char(body, position)
        high = low
        if body.startswith("-", position) and position + 1 < len(body):
            high, position = _class_char(body, position + 1)
        intervals.append((ord(low), ord(high)))
    return Chars(intervals, negated)


def _class_char(body: str, position: int) -> tuple[str, int]:
    found = _ESCAPE.match(body, position)
    if found is None:
        return body[position], position + 1
    return _escaped_char(found), found.end()
