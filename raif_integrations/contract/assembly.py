"""Leaves to one Python value, with nothing overwritten and nothing left out."""

from __future__ import annotations

from typing import Any, TypeAlias

from raif_integrations.contract.constants import same
from raif_integrations.contract.paths import Path, Place, Step
from raif_integrations.contract.reading import MisreadError
from raif_integrations.contract.shape import Shape

Container: TypeAlias = dict[str, Any] | list[Any]


class Assembly:
    """The value under construction.

    A container that was left may be entered again (keys may come in any order), unless a stream has
    closed it already.

    Args:
        constrained: The text was generated under the contract's grammar.

    Attributes:
        root: The value so far.
    """

    def __init__(self, *, constrained: bool = False) -> None:
        self._constrained = constrained
        self.root: dict[str, Any] = {}
        self._chain: list[tuple[Step, Container]] = []
        self._sealed: dict[int, Container] = {}
        self._collected: dict[Path, list[Any]] = {}

    def holds(self, path: Path) -> bool:
        """Whether there is a value at a path."""
        return self.find(path)[0]

    def find(self, path: Path) -> tuple[bool, Any]:
        """Whether there is a value at a path, and the value."""
        current: Any = self.root
        for step in path:
            if isinstance(step, str):
                found = isinstance(current, dict) and step in current
            else:
                found = isinstance(current, list) and step < len(current)
            if not found:
                return False, None
            current = current[step]
        return True, current

    def length(self, path: Path) -> int:
        """How many elements there are at a path."""
        _, value = self.find(path)
        return len(value) if isinstance(value, list) else 0

    def replace(self, path: Path, value: Any) -> None:
        """Puts another value where there is one."""
        _, container = self.find(path[:-1])
        container[path[-1]] = value

    def put(self, place: Place, value: Any) -> bool:
        """Puts a value at its place.

        Returns:
            False if the same value stood there already.

        Raises:
            MisreadError: Something else stands there, or the place cannot be reached any more.
        """
        container = self._enter(place)
        step = place.path[-1]
        if isinstance(value, (dict, list)):
            self.seal(value)
        if isinstance(container, list):
            return self._put_element(container, step, value)
        if not isinstance(step, str):
            raise MisreadError("an index stands under an object", "syntax")
        if step in container:
            if same(container[step], value):
                return False
            raise MisreadError("the field is written twice, with different values", "syntax")
        container[step] = value
        return True

    def collect(self, place: Place, element: Any) -> None:
        """Adds an element of a list whose key is written once for each element.

        Raises:
            MisreadError: Something else stands there.
        """
        elements = self._collected.get(place.path)
        if elements is None:
            elements = [element]
            self.put(place, elements)
            self._collected[place.path] = elements
        else:
            elements.append(element)

    def start_list(self, place: Place) -> list[Any]:
        """Puts an empty list that is filled by the caller and sealed when it is left.

        Raises:
            MisreadError: Something else stands there.
        """
        elements: list[Any] = []
        if not self.put(place, elements) or id(self.find(place.path)[1]) != id(elements):
            raise MisreadError("the field is written twice", "syntax")
        return elements

    def seal(self, container: Container) -> None:
        """Closes a container for good."""
        self._sealed[id(container)] = container

    def _put_element(self, container: list[Any], step: Step, value: Any) -> bool:
        if not isinstance(step, int):
            raise MisreadError("a key stands under an array", "syntax")
        if id(container) in self._sealed:
            raise MisreadError("the array was already complete", "syntax")
        if step < len(container):
            if same(container[step], value):
                return False
            raise MisreadError("the element is written twice, with different values", "syntax")
        if step > len(container):
            raise MisreadError(f"element {len(container)} is missing before it", "syntax")
        container.append(value)
        return True

    def _enter(self, place: Place) -> Container:
        """The container a leaf goes into; new containers are made on the way."""
        path = place.path
        if len(path) == 1:
            self._chain.clear()
            return self.root
        depth = 0
        for step, _ in self._chain:
            if depth == len(path) - 1 or path[depth] != step:
                break
            depth += 1
        del self._chain[depth:]
        container: Container = self._chain[-1][1] if self._chain else self.root
        for position in range(depth, len(path) - 1):
            wanted = list if isinstance(path[position + 1], int) else dict
            container = self._descend(container, position, wanted, place)
            self._chain.append((path[position], container))
        return container

    def _descend(self, container: Container, position: int, wanted: type, place: Place) -> Container:
        """The container one step deeper, made if it is not there."""
        step = place.path[position]
        made: Container = wanted()
        below: Any = made
        if isinstance(container, list) and isinstance(step, int):
            if id(container) in self._sealed:
                raise MisreadError("the array was already complete", "syntax")
            if step > len(container):
                raise MisreadError(f"element {len(container)} is missing before it", "syntax")
            if step == len(container):
                container.append(below)
            below = container[step]
        elif isinstance(container, dict) and isinstance(step, str):
            below = container.setdefault(step, below)
        else:
            raise MisreadError("an index and a key stand in the same place", "syntax")
        if id(below) == id(made):
            return made
        if not isinstance(below, (dict, list)) or isinstance(below, dict) != isinstance(made, dict):
            raise MisreadError("two kinds of value stand in the same place", "syntax")
        if self._is_closed(below, place.shapes[position + 1], place):
            raise MisreadError("it comes back to a part that was already left", "syntax")
        return below

    def _is_closed(self, container: Container, shape: Shape, place: Place) -> bool:
        """Whether a stream has closed a container that was left.

        Under a grammar, objects are contiguous and closed at once. Otherwise one is closed where every
        declared key, and no other, had come; a key that comes after that is too late.
        """
        if self._constrained or id(container) in self._sealed:
            return True
        if place.declared or not isinstance(container, dict):
            return False
        declared = shape.declared
        return all(key in container for key in declared) and all(key in declared for key in container)
