"""One reply while it is written: what probably comes next.

A draft is put together from steps: the end of a value that stands in the prompt, a line break, the next key
of the cue, the next row of a table. Each step has a rough probability; drafting ends where the product falls
below what the batch can afford, or where nothing is known (the first token of a value, mostly).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from raif_integrations.engines.speculation.copying import Source
from raif_integrations.engines.speculation.course import Position, Written, read_line
from raif_integrations.engines.speculation.fields import Cell, Unit
from raif_integrations.engines.speculation.prompts import Asked
from raif_integrations.engines.speculation.vocabulary import Vocabulary

_SURE: Final = 0.97
_LIKELY: Final = 0.8
_COPIED: Final = 0.65
_GUESS: Final = 0.5

_LEAST_ROOM: Final = 3
_MOST_ROOM: Final = 16
_LONGEST_TAIL: Final = 32
_LONGEST_LINE: Final = 4000
_CHARACTERS_PER_TOKEN: Final = 4

_NEXT_ELEMENT: Final = re.compile(r"[.;]?(?:,? and |[,;] |\n *[-*•] *|\n *[0-9]+[.)] *|\n)(?=[^\s])")


class Step(NamedTuple):
    """A piece of text that probably comes next.

    Attributes:
        text: The text; it may end lines.
        chance: How probably.
        ends: The reply ends behind it.
    """

    text: str
    chance: float
    ends: bool = False


class Reply:
    """The state of one reply.

    Args:
        asked: What the prompt asks for.
        vocabulary: The tokenizer.
    """

    def __init__(self, asked: Asked, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._source = Source(asked.source)
        self._choices = asked.choices
        self._course = asked.course
        self._named = not asked.choices
        self._position = Position()
        self._line = ""
        self._ids: list[int] = []
        self._tail = ""
        self._thinks = asked.thinks
        self._begun = False
        self._drafted = 0
        self._room = _MOST_ROOM
        self.over = False
        """Nothing more will be drafted."""
        self.ended = False
        """The token that ends replies was written."""

    # What was written

    def advance(self, ids: Sequence[int]) -> None:
        """Takes the tokens the model wrote."""
        if self._drafted:
            taken = len(ids) - 1
            if taken < self._drafted:
                self._room = max(_LEAST_ROOM, (self._room + taken) // 2)
            else:
                self._room = _MOST_ROOM
        for number in ids:
            if self.over:
                return
            if number in self._vocabulary.ends:
                self.over = self.ended = True
                return
            self._take(number)
        if len(self._line) > _LONGEST_LINE:
            self._line = self._line[:_LONGEST_LINE]

    def _take(self, number: int) -> None:
        piece = self._vocabulary.piece(number)
        if piece is None:  # A part of a character: only all parts together have a text.
            before = len(self._tail)
            self._ids.append(number)
            self._tail = self._vocabulary.inner(self._ids)
            self._write(self._tail[before:])
            return
        if piece[0].isalnum() and len(self._ids) < _LONGEST_TAIL:
            self._ids.append(number)
            self._tail += piece
        else:  # A new word: how it is divided does not depend on what stands in front of it.
            self._ids, self._tail = [number], piece
        if "\n" in piece:
            self._write(piece)
        else:
            self._line += piece

    def _write(self, text: str) -> None:
        *lines, rest = text.split("\n")
        for end in lines:
            self._end_line(self._line + end)
            self._line = ""
        if lines:
            self._ids, self._tail = [], ""
        self._line += rest

    def _end_line(self, line: str) -> None:
        if self._thinks or (not self._begun and line.lstrip().startswith("<think>")):
            self._thinks = "</think>" not in line
            return
        if not line and not self._begun:
            return
        self._begun = True
        position = self._position
        if not self._named:
            self._name(line)
            return
        self._position = self._behind(position, line)
        if self._choices and not position.opened and read_line(line) is None:
            self._name(line)

    def _behind(self, position: Position, line: str) -> Position:
        """The position behind a whole line, with the place its value was copied from."""
        is_value = position.opened in ("block", "list")
        written = None if is_value else read_line(line)
        value = line if is_value else _value_of(written)
        place = position.place
        if value:
            place = self._source.place_of(value, place)
        elif position.opened == "block":
            place += 1
        moved = position if place == position.place else position._replace(place=place)
        return self._course.after(moved, line, written)

    def _name(self, line: str) -> None:
        """A line that names what the next lines are for."""
        for choice in self._choices:
            if choice.name == line:
                self._course = choice.course
                self._position = Position(place=self._position.place)
                self._named = bool(choice.course.units)
                return
        self.over = not self._named

    # What comes next

    def draft(self, most: int, chance: float) -> list[int]:
        """The tokens that probably come next.

        Args:
            most: Most tokens.
            chance: Least probability of a step, all steps before it included.
        """
        self._drafted = 0
        if self.over or self._thinks or most <= 0 or len(self._line) >= _LONGEST_LINE:
            return []
        most = min(most, self._room)
        text, head, ends = self._following(most * _CHARACTERS_PER_TOKEN, chance)
        ids = self._vocabulary.sequel(self._ids, self._tail, text) if text else []
        if head:
            ids += self._vocabulary.head(head)
        if ends and self._vocabulary.end is not None:
            ids.append(self._vocabulary.end)
        self._drafted = min(len(ids), most)
        return ids[:most]

    def _following(self, longest: int, chance: float) -> tuple[str, str, bool]:
        """What probably comes next.

        Returns:
            Text, the head of a unit behind it, and whether the reply ends behind both.
        """
        text = head = ""
        line, position, left = self._line, self._position, 1.0
        ended: list[str] = []
        while len(text) + len(head) < longest:
            for whole in ended:
                position = self._behind(position, whole)
            step = self._step(line, position)
            if step is None or left * step.chance < chance:
                break
            left *= step.chance
            # A line begins with a new token: the head in it has the same tokens each time.
            text, head = (text + head, step.text) if not line else (text + head + step.text, "")
            if step.ends:
                return text + head, "", True
            if not step.text:
                break
            *ended, line = (line + step.text).split("\n")
        if head and not self._is_head(head):
            return text + head, "", False
        return text, head, False

    def _is_head(self, text: str) -> bool:
        """Whether a text comes from the cue alone, and may be kept beyond this reply."""
        return self._named and text in self._course.heads

    def _step(self, line: str, position: Position) -> Step | None:
        if not self._named:
            return self._name_step(line)
        if position.opened == "block":
            return self._block_step(line, position)
        if position.opened == "list":
            return self._list_step(line, position)
        if position.opened == "table":
            step = self._row_step(line, position)
            if step is not None:
                return step
        written = read_line(line)
        if written is None:
            return self._key_step(line, position)
        number = self._course.number_of(written.key)
        if number is None:
            return self._value_step(written.value, Cell("", "s"), position, self._closing(position))
        return self._unit_step(self._course.units[number], written.value, position._replace(done=number))

    def _name_step(self, line: str) -> Step | None:
        found = [choice for choice in self._choices if choice.name.startswith(line)]
        if not found or not (line or len(found) == 1):
            return None
        choice = next((one for one in found if one.name == line), found[0])
        if choice.name != line:
            return Step(choice.name[len(line) :], _SURE if len(found) == 1 else _GUESS)
        if choice.course.units:
            return Step("\n" + choice.course.head(0, ()), _SURE)
        return Step("", _LIKELY, ends=not any(one.course.units for one in self._choices))

    def _key_step(self, line: str, position: Position) -> Step | None:
        """The rest of the key a line begins with, or the next one."""
        for number, indices, chance in self._next_units(position):
            head = self._course.head(number, indices)
            if head.startswith(line) and len(head) > len(line):
                return Step(head[len(line) :], chance)
        if not line:
            return Step("", _LIKELY, ends=True)
        return self._name_step(line) if self._choices else None

    def _next_units(self, position: Position) -> Iterator[tuple[int, tuple[int, ...], float]]:
        """The units that may follow, the most probable first, with their indices."""
        repeated = self._course.repeats(position)
        if repeated is not None:
            yield (*repeated, _GUESS)
        for number in range(position.done + 1, len(self._course.units)):
            indices = self._course.indices_for(number, position)
            yield number, indices, _LIKELY if self._course.units[number].optional else _SURE

    def _closing(self, position: Position) -> Step:
        """What ends the line of a leaf: a line break, or the end of the reply."""
        if self._course.repeats(position) is None and position.done + 1 >= len(self._course.units):
            return Step("", _LIKELY, ends=True)
        return Step("\n", _SURE)

    def _unit_step(self, unit: Unit, value: str, position: Position) -> Step | None:
        if unit.kind == "leaf":
            return self._value_step(value, unit.cells[0], position, self._closing(position))
        if "[\n".startswith(value):
            return Step("[\n"[len(value) :], _LIKELY)
        if value == "[]":
            return self._closing(position)
        return None

    def _value_step(self, value: str, cell: Cell, position: Position, closing: Step) -> Step | None:
        """The rest of a value and what closes it."""
        fixed = ("true", "false") if cell.code == "b" else cell.words
        if fixed:
            found = [word for word in fixed if word.startswith(value)]
            if value and found:
                chance = _SURE if len(found) == 1 else _LIKELY
                return Step(found[0][len(value) :] + closing.text, chance * closing.chance, closing.ends)
            if cell.words and not value:
                shown = [word for word in fixed if self._source.shows(word)]
                return Step(shown[0], _GUESS) if shown else None
            return None
        if value.startswith("<<<"):
            return None
        known = self._source.continuation(value, cell.name, cell.code, position.place)
        if known is None:
            return None
        return Step(known.text + closing.text, _COPIED if value else _GUESS, closing.ends)

    def _list_step(self, line: str, position: Position) -> Step | None:
        unit = self._course.units[position.done]
        if line == "]":
            return self._closing(position)
        if unit.kind == "table":
            return self._inline_step(line, unit, position)
        if line:
            return self._value_step(line, unit.cells[0], position, Step("\n", _SURE))
        if not position.rows:
            return None
        follows = _NEXT_ELEMENT.match(self._source.text, position.place)
        if follows is None:
            return Step("]", _GUESS)
        known = self._source.from_place(follows.end(), unit.cells[0].code)
        return Step(known.text + "\n", _GUESS) if known.text else None

    def _inline_step(self, line: str, unit: Unit, position: Position) -> Step | None:
        """The rest of an object in a list that is no table, because it has one element only."""
        if not line:
            return Step("]", _LIKELY) if position.rows else Step("{" + unit.cells[0].name + "=", _LIKELY)
        if line.endswith("}"):
            return Step("\n", _SURE)
        at, begun = _last_cell(line[1:])
        if at >= len(unit.cells):
            return None
        cell = unit.cells[at]
        head = cell.name + "="
        if not begun.startswith(head):
            return Step(head[len(begun) :], _LIKELY) if head.startswith(begun) else None
        closing = Step("}" if at == len(unit.cells) - 1 else ",", _SURE)
        return self._value_step(begun[len(head) :], cell, position, closing)

    def _row_step(self, line: str, position: Position) -> Step | None:
        """The next row of a table; ``None`` where the line is none."""
        path = self._course.path(position.done, position.indices)
        head = f"{path}[{position.rows}]="
        if not line:
            if position.rows < 2:
                return Step(head, _SURE)
            return Step(head, _GUESS)
        if len(line) < len(head):
            return Step(head[len(line) :], _SURE) if head.startswith(line) else None
        if not line.startswith(f"{path}["):
            return None
        cells = line.partition("]=")[2]
        columns = self._course.units[position.done].cells
        at, begun = _last_cell(cells)
        if at >= len(columns):
            return None
        last = at == len(columns) - 1
        return self._value_step(begun, columns[at], position, Step("\n" if last else ",", _SURE))

    def _block_step(self, line: str, position: Position) -> Step | None:
        """The rest of a line of a text of several lines."""
        known = self._source.line_from(line, position.place)
        return None if known is None else Step(known, _LIKELY)


def _value_of(written: Written | None) -> str:
    if written is None:
        return ""
    return _last_cell(written.value)[1] if "[" in written.key else written.value


def _last_cell(cells: str) -> tuple[int, str]:
    """Number and text of the last cell of a row that is being written."""
    if "<<<" not in cells:
        return cells.count(","), cells.rpartition(",")[2]
    number, start, at = 0, 0, 0
    while at < len(cells):
        if cells.startswith("<<<", at):
            closed = cells.find(">>>", at + 3)
            at = len(cells) if closed < 0 else closed + 3
        else:
            if cells[at] == ",":
                number, start = number + 1, at + 1
            at += 1
    return number, cells[start:]
