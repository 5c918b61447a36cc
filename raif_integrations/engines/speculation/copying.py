"""Where a value that is being written stands in the prompt, and how it goes on there.

An extraction copies most of its values, and the first token of a value usually tells which words of the
prompt it copies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_WORD: Final = re.compile(r"\w+|[^\w\s]")
_CLOSING: Final = r")\]}\"”»"
_END: Final = re.compile(
    rf"\n|$|[{_CLOSING}]*[,;:!?.](?=\s|$)|[{_CLOSING}](?=\W|$)"  # punctuation
    r"|\s(?:\s|-\s|[(\[{\"“«—\u2013])"  # a gap, a dash, an opening bracket
    r"|\s(?:and|or|at|for|from|on|in|is|with|by|to|of)\s"  # a word that seldom stands inside a value
    r"|(?<=[0-9])\s(?=[a-z])"  # a number and its unit
)
"""Where a copied text probably ends."""

_NUMBER_END: Final = re.compile(r"(?![0-9]|[.][0-9])")
_WORDS_OF_KEY: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LABEL_END: Final = re.compile(r"\s?[:=#]\s*")

_MOST_PLACES: Final = 128
"""So many places where a value may stand are looked at."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """How a value probably goes on.

    Attributes:
        text: What follows; empty where the value probably ends.
        place: Where it ends in the source.
        ends: Whether the value probably ends behind it.
    """

    text: str
    place: int
    ends: bool = True


@dataclass(slots=True)
class Source:
    """The text values are copied from.

    Attributes:
        text: The text.
    """

    text: str
    _labels: dict[str, int] = field(default_factory=dict)
    _lowered: str | None = None

    def places(self, begun: str) -> list[int]:
        """Where the source has a word that begins like a value.

        Args:
            begun: The value so far, not empty.
        """
        text, is_word = self.text, begun[0].isalnum()
        found: list[int] = []
        at = text.find(begun)
        for _ in range(_MOST_PLACES):
            if at < 0:
                break
            if not (is_word and at and text[at - 1].isalnum()):
                found.append(at)
            at = text.find(begun, at + 1)
        return found

    def label(self, key: str) -> int | None:
        """Where the source has a value behind a label that reads like a key (``Invoice no: …``)."""
        found = self._labels.get(key)
        if found is None:
            found = self._labels[key] = self._find_label(key)
        return None if found < 0 else found

    def _find_label(self, key: str) -> int:
        if self._lowered is None:
            self._lowered = self.text.lower()
        words = [word.lower() for word in _WORDS_OF_KEY.findall(key)]
        names = [" ".join(words), *([*words[::-1]] if len(words) > 1 else [])]
        for name in names:
            at = self._lowered.find(name) if name else -1
            while at >= 0:
                behind = _LABEL_END.match(self.text, at + len(name))
                if behind is not None and (at == 0 or not self.text[at - 1].isalnum()):
                    return behind.end()
                at = self._lowered.find(name, at + 1)
        return -1

    def continuation(self, begun: str, key: str, code: str, after: int) -> Continuation | None:
        """How a value goes on, if it is copied.

        Args:
            begun: The value so far; empty if it has not begun.
            key: Its key.
            code: Its type code: a number ends with its digits.
            after: Where the value written last ends: of several places the next one counts.
        """
        label = self.label(key) if key else None
        if not begun:
            return None if label is None else self.from_place(label, code)
        places = self.places(begun)
        if places:
            return self.from_place(self._chosen(places, label, after) + len(begun), code)
        return self._within(begun, code, after)

    def place_of(self, value: str, after: int) -> int:
        """Where a whole value ends in the source; ``after`` where it is not in it."""
        places = self.places(value)
        return self._chosen(places, None, after) + len(value) if places else after

    def shows(self, word: str) -> bool:
        """Whether a word is in the source, in whatever case."""
        if self._lowered is None:
            self._lowered = self.text.lower()
        return word.lower() in self._lowered

    def line_from(self, begun: str, after: int) -> str | None:
        """The rest of a line, the line break included, if it is copied."""
        place = after
        if begun:
            places = self.places(begun)
            if not places:
                return None
            place = self._chosen(places, None, after) + len(begun)
        elif self.text[place : place + 1] == "\n":
            place += 1
        else:
            return None
        end = self.text.find("\n", place)
        return None if end < 0 else self.text[place : end + 1]

    def _within(self, begun: str, code: str, after: int) -> Continuation | None:
        """The value joins pieces of the source: looks for the last words of it."""
        words = list(_WORD.finditer(begun))[-3:]
        for word in words[1:] if len(words) > 1 else ():
            piece = begun[word.start() :]
            if len(piece) < 3:
                break
            places = self.places(piece)
            if places:
                return self.from_place(self._chosen(places, None, after) + len(piece), code)
        return None

    def from_place(self, place: int, code: str) -> Continuation:
        """How a value goes on that stands at a place of the source."""
        pattern = _NUMBER_END if code == "n" else _END
        found = pattern.search(self.text, place)
        end = found.start() if found is not None else len(self.text)
        text = self.text[place:end]
        return Continuation(_without_zeros(text) if code == "n" else text, end)

    def _chosen(self, places: list[int], label: int | None, after: int) -> int:
        """Of several places: the one behind the label, else a word of its own, else the next one."""
        if len(places) == 1 or (label is not None and label in places):
            return places[0] if len(places) == 1 else label  # type: ignore[return-value]
        text = self.text
        return min(places, key=lambda at: (at > 0 and not text[at - 1].isspace(), at < after))


def _without_zeros(digits: str) -> str:
    """The rest of a number as numbers are written: ``.50`` is ``.5``."""
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
