"""Indices of a text that nobody constrained: they count as written, gaps are closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from raif_integrations.contract.indices import ElementOrder
from raif_integrations.contract.paths import Path, Place, Step
from raif_integrations.contract.reading import MisreadError


class IndexOrder(Protocol):
    """Decides which element a written index means."""

    def settle(self, place: Place) -> Place:
        """The place with the index that counts; called once for each line, in order."""


class WrittenOrder:
    """Takes indices as they are written; the first index beyond the end means the next element.

    Args:
        length: How many elements there are at a path.
        note: Takes the path of an element whose index was changed.
    """

    def __init__(self, length: Callable[[Path], int], note: Callable[[Path], None]) -> None:
        self._length = length
        self._note = note
        self._elements: dict[Path, dict[int, int]] = {}
        self._taken: set[Path] = set()

    def settle(self, place: Place) -> Place:
        """The place with every index inside its array or right behind its end.

        Raises:
            MisreadError: The indices contradict each other.
        """
        path: list[Step] = []
        for step in place.path:
            path.append(self._index(tuple(path), step) if isinstance(step, int) else step)
        settled = tuple(path)
        return place if settled == place.path else replace(place, path=settled)

    def _index(self, array: Path, written: int) -> int:
        """The element a written index means.

        Raises:
            MisreadError: Another index meant the same element.
        """
        known = self._elements.setdefault(array, {})
        if written in known:
            return known[written]
        length = self._length(array)
        index = min(written, length)
        if (*array, index) in self._taken:
            raise MisreadError("the indices of its elements contradict each other", "syntax")
        if index != written:
            self._note((*array, index))
        known[written] = index
        self._taken.add((*array, index))
        return index


def index_order(
    *, constrained: bool, length: Callable[[Path], int], note: Callable[[Path], None]
) -> IndexOrder:
    """The order for one text.

    Args:
        constrained: The text was generated under the contract's grammar, whose indices are advice.
        length: How many elements there are at a path.
        note: Takes the path of an element whose index was changed.
    """
    return ElementOrder() if constrained else WrittenOrder(length, note)
