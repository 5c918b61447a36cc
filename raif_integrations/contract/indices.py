"""Which element a line belongs to, where a grammar leaves the digits of indices free.

A context-free grammar cannot make an index repeat on each line of an element, nor count elements. A text
that was generated under one is therefore read as it was written: within an element the units follow
``layout``, so that a step back starts the next element; where the order alone does not tell, even and odd
indices take turns. For a text whose indices are right this gives exactly the elements that the indices say.
"""

from __future__ import annotations

from dataclasses import replace

from raif_integrations.contract.paths import Path, Place, Step
from raif_integrations.contract.shape import Shape


class ElementOrder:
    """Gives every line of one text the indices that its position calls for."""

    def __init__(self) -> None:
        self._written: Path = ()
        self._settled: Path = ()
        self._last: dict[Path, int] = {}

    def settle(self, place: Place) -> Place:
        """The place with the indices that count.

        Args:
            place: The place as written; the places of a text in their order.
        """
        if not any(isinstance(step, int) for step in place.path):
            self._written = self._settled = place.path
            return place
        settled: list[Step] = []
        together = True
        for depth, step in enumerate(place.path):
            together = together and depth < len(self._written)
            if isinstance(step, str):
                together = together and self._written[depth] == step
                settled.append(step)
            elif together and self._goes_on(place, depth, step):
                settled.append(self._settled[depth])
            else:
                together = False
                index = self._last.get(tuple(settled), -1) + 1
                self._last[tuple(settled)] = index
                settled.append(index)
        self._written, self._settled = place.path, tuple(settled)
        if self._settled == place.path:
            return place
        return replace(place, path=self._settled, shapes=_shapes_along(place.shapes[0], self._settled))

    def _goes_on(self, place: Place, depth: int, index: int) -> bool:
        """Whether the element at a depth is the one of the line before."""
        before = self._written[depth]
        if not isinstance(before, int):
            return False
        if not place.shapes[depth].elements_by_order:
            return before % 2 == index % 2
        return _follows(self._written[depth + 1 :], place.path[depth + 1 :], place.shapes[depth + 1])


def _shapes_along(root: Shape, path: Path) -> tuple[Shape, ...]:
    """The shapes on the way: the elements of a tuple differ by their index."""
    shapes = [root]
    for step in path:
        shapes.append(shapes[-1].child(step) if isinstance(step, str) else shapes[-1].element(step))
    return tuple(shapes)


def _follows(before: Path, here: Path, element: Shape) -> bool:
    """Whether a line can stand behind another in the same element.

    Args:
        before: Path of the line before, below the element.
        here: Path of this line, below the element.
        element: The element.
    """
    if not before or not here:
        return False
    old, new = before[0], here[0]
    if old == new:
        return len(before) > 1 and len(here) > 1
    if not (isinstance(old, str) and isinstance(new, str)):
        return False
    return _position(element, old) < _position(element, new)


def _position(shape: Shape, key: str) -> tuple[int, str]:
    return shape.placements.get(key, 0), key
