"""Where a reply stands in the fields of its cue, line by line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from raif_integrations.engines.speculation.fields import Unit, read_fields

Opened: TypeAlias = Literal["", "table", "list", "block"]
"""What takes the next lines: nothing, rows of a table, elements of a list, lines of a text."""

_HEAD: Final = re.compile(r"((?:[^<=:]++|<<<.*?>>>|<)++)(::|:s=|=)")
_INDEX: Final = re.compile(r"\[([0-9]*)\]")
_BLOCK: Final = re.compile(r"<<<([0-9a-fA-F]*)")


class Position(NamedTuple):
    """A place between two lines of a reply.

    Attributes:
        done: Index of the unit written last, or begun; -1 before the first one.
        opened: What takes the next lines.
        rows: Rows or elements that have been written of it.
        indices: The indices in the path written last.
        closer: The line that ends a text of several lines.
        place: Where the value written last ends in the prompt.
    """

    done: int = -1
    opened: Opened = ""
    rows: int = 0
    indices: tuple[int, ...] = ()
    closer: str = ""
    place: int = 0


class Written(NamedTuple):
    """A line of a leaf, whole or begun.

    Attributes:
        key: The path as written.
        separator: ``=``, ``::`` or ``:s=``.
        value: What follows.
    """

    key: str
    separator: str
    value: str


def read_line(line: str) -> Written | None:
    """Reads a line that has at least its key and separator."""
    found = _HEAD.match(line)
    return None if found is None else Written(found[1], found[2], line[found.end() :])


@lru_cache(maxsize=256)
def course_of(lines: tuple[str, ...]) -> Course:
    """The course of a cue. Many requests have the same one."""
    return Course(read_fields(lines))


class Course:
    """The units of a cue, and how lines follow each other.

    Args:
        units: The units in the order they are written.
    """

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = tuple(units)
        self._numbers = {unit.path: number for number, unit in enumerate(self.units)}
        self.heads = frozenset(self.head(number, ()) for number in range(len(self.units)))
        """What the units begin with, as far as it is always the same."""

    def number_of(self, key: str) -> int | None:
        """The number of the unit with a path, its indices aside; ``None`` where the cue has none."""
        number = self._numbers.get(key)
        return self._numbers.get(_INDEX.sub("[]", key)) if number is None and "[" in key else number

    def after(self, position: Position, line: str, written: Written | None) -> Position:
        """The position behind a whole line.

        Args:
            position: Where the line stands.
            line: The line.
            written: What :func:`read_line` makes of it; not looked at inside a list or a text.
        """
        if position.opened == "block":
            return position._replace(opened="") if line == position.closer else position
        if position.opened == "list":
            if line == "]":
                return position._replace(opened="")
            return position._replace(rows=position.rows + 1)
        if position.opened == "table" and self._is_row(position, line):
            return position._replace(rows=position.rows + 1)
        number = None if written is None else self.number_of(written.key)
        if written is None or number is None:
            return position._replace(opened="")
        indices = tuple(int(digits or 0) for digits in _INDEX.findall(written.key)[:8] if len(digits) < 9)
        moved = Position(number, "", 0, indices, "", position.place)
        if written.separator == "::":
            return moved._replace(opened="table")
        if written.value == "[":
            return moved._replace(opened="list")
        block = _BLOCK.fullmatch(written.value)
        return moved if block is None else moved._replace(opened="block", closer=f">>>{block[1]}")

    def _is_row(self, position: Position, line: str) -> bool:
        return line.startswith(self.path(position.done, position.indices) + "[")

    def path(self, number: int, indices: Sequence[int]) -> str:
        """The path of a unit with indices in it; 0 where there are too few."""
        path = self.units[number].path
        if "[]" not in path:
            return path
        parts = path.split("[]")
        filled = [*indices, *[0] * len(parts)]
        return "".join(f"{part}[{filled[at]}]" for at, part in enumerate(parts[:-1])) + parts[-1]

    def head(self, number: int, indices: Sequence[int]) -> str:
        """What a unit begins with, up to its first value."""
        unit, path = self.units[number], self.path(number, indices)
        return f"{path}{unit.head}{path}[0]=" if unit.kind == "table" else path + unit.head

    def repeats(self, position: Position) -> tuple[int, tuple[int, ...]] | None:
        """The first unit of the next element, where the unit written last is the last of an element.

        Returns:
            Its number and indices.
        """
        done = position.done
        if done < 0 or "[]" not in self.units[done].path:
            return None
        element = self.units[done].path.rpartition("[]")[0] + "[]"
        if done + 1 < len(self.units) and self.units[done + 1].path.startswith(element):
            return None
        first = next(number for number, unit in enumerate(self.units) if unit.path.startswith(element))
        depth = element.count("[]")
        indices = [*position.indices, *[0] * depth][:depth]
        indices[-1] += 1
        return first, tuple(indices)

    def indices_for(self, number: int, position: Position) -> tuple[int, ...]:
        """The indices a unit has where it follows a position: those of the element both belong to."""
        if position.done < 0:
            return ()
        here, there = self.units[position.done].path.split("[]"), self.units[number].path.split("[]")
        shared = 0
        while shared < min(len(here), len(there)) - 1 and here[shared] == there[shared]:
            shared += 1
        return position.indices[:shared]
