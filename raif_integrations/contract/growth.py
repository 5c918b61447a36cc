"""Strings that are emitted while they are written."""

from __future__ import annotations

from raif_integrations.contract.emission import Emitter
from raif_integrations.contract.paths import Place
from raif_integrations.contract.shape import NULL, STRING, Shape


def may_grow(shape: Shape, start: str, *, tagged: bool, constrained: bool) -> bool | None:
    """Whether a text on an unfinished line is certain to be a string, whatever follows.

    Args:
        shape: The place of the text.
        start: The text so far.
        tagged: A ``:s=`` tag stands before it.
        constrained: The text was generated under the contract's grammar.

    Returns:
        ``None`` if that cannot be told yet.
    """
    if shape.kinds & ~NULL != STRING or shape.words is not None:
        return False
    if not start:
        return None
    if start[0] == "<" or (not constrained and start[0] in "'\""):
        return False
    if not tagged and shape.kinds & NULL and "null".startswith(start):
        return None
    return True


class Growth:
    """The string of one document that is growing, if any.

    Args:
        emitter: Takes the pieces, or ``None`` if nobody listens.
    """

    def __init__(self, emitter: Emitter | None) -> None:
        self._emitter = emitter
        self._place: Place | None = None
        self._length = 0

    @property
    def active(self) -> bool:
        """A string is growing."""
        return self._place is not None

    def start(self, place: Place) -> bool:
        """Starts a string; false if it has to wait for its end."""
        if self._emitter is None or not self._emitter.begin_text(place.path, place.shapes):
            return False
        self._place, self._length = place, 0
        return True

    def add(self, piece: str) -> None:
        """Emits a further piece."""
        if self._emitter is not None and self._place is not None and piece:
            self._emitter.text(piece)
            self._length += len(piece)

    def reach(self, length: int, last: str) -> None:
        """Emits what is missing of a text.

        Args:
            length: Length of the text so far.
            last: Its end, at least as long as what is missing.
        """
        missing = length - self._length
        if missing > 0:
            self.add(last[-missing:])

    def end(self, text: str) -> bool:
        """Ends the string; false if none was growing.

        Args:
            text: The whole string.
        """
        if self._emitter is None or self._place is None:
            return False
        self._emitter.end_text(text[self._length :])
        self._place = None
        return True

    def drop(self) -> None:
        """Gives the string up: it has no end."""
        self._place = None
