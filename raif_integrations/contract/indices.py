"""Which element a line belongs to, where a grammar leaves the digits of indices free.

A context-free grammar cannot make an index repeat on each line of an element, nor count elements. A text
that was generated under one is therefore read by the order of its units: within an element they follow
``layout``, so a step back starts the next element. A changed index starts one too, where neither the
element before nor the new one would lack a required key. For a text whose indices are right this gives
exactly the elements that the indices say.
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
            elif together and self._goes_on(place, depth):
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

    def _goes_on(self, place: Place, depth: int) -> bool:
        """Whether the element at a depth is the one of the line before."""
        before = self._written[depth]
        if not isinstance(before, int):
            return False
        return _same_element(
            self._written[depth + 1 :],
            place.path[depth + 1 :],
            place.shapes[depth + 1 :],
            moved=before != place.path[depth],
        )


def _shapes_along(root: Shape, path: Path) -> tuple[Shape, ...]:
    """The shapes on the way: the elements of a tuple differ by their index."""
    shapes = [root]
    for step in path:
        shapes.append(shapes[-1].child(step) if isinstance(step, str) else shapes[-1].element(step))
    return tuple(shapes)


def _same_element(before: Path, here: Path, shapes: tuple[Shape, ...], *, moved: bool) -> bool:
    """Whether two paths below an element can be of the same one.

    Args:
        before: Path of the line before, below the element.
        here: Path of this line, below the element.
        shapes: Shapes of this line, the element's first.
        moved: The written index of the element has changed.
    """
    if not before or not here:
        return False
    old, new = before[0], here[0]
    if isinstance(old, int) or isinstance(new, int):
        return isinstance(old, int) and isinstance(new, int) and not moved
    shape = shapes[0]
    if old == new:
        if len(before) < 2 or len(here) < 2:
            return False
        if isinstance(before[1], str) and not _same_element(before[1:], here[1:], shapes[1:], moved=False):
            return False
        return not moved or any(required for name, required in shape.declared.items() if name != new)
    if old not in shape.declared or new not in shape.declared:
        return not moved
    if _position(shape, new) < _position(shape, old):
        return False
    return not moved or any(shape.declared.values())


def _position(shape: Shape, key: str) -> tuple[int, str]:
    return shape.placements.get(key, 0), key
