"""The stream of a value: events that are never taken back, and the JSON text made from them.

Only what nothing later can change is emitted. A container is closed when it is left only if all its
declared keys, and no others, have come (keys may be written in any order), or if the text is known to be
constrained by the contract's grammar. From the first leaf on for which that does not hold, everything
waits for the end.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from raif_integrations.contract.numerals import write_number
from raif_integrations.contract.paths import Path, Step
from raif_integrations.contract.shape import Shape

# `json.dumps` with an argument makes an encoder at each call.
_json = json.JSONEncoder(ensure_ascii=False).encode

EventKind: TypeAlias = Literal["object", "array", "end", "value", "text", "text_end"]


class Event(NamedTuple):
    """One step of a value as it is written.

    Attributes:
        kind: ``object`` and ``array`` open a container, ``end`` closes it; ``value`` is a whole scalar;
            ``text`` is a piece of a string, ``text_end`` its last piece (possibly empty).
        path: Keys and indices from the root of the value.
        value: The scalar or the piece of text.
    """

    kind: EventKind
    path: Path
    value: Any = None


@dataclass(slots=True, eq=False)
class _Frame:
    """An open container."""

    step: Step | None
    shape: Shape
    is_array: bool
    seen: set[str] = field(default_factory=set)
    count: int = 0
    settled: bool = False


class Emitter:
    """Turns leaves into events.

    Args:
        root: The shape of the root object.
        envelope: The root's only key is left out of the paths.
        constrained: The text is a sentence of the grammar: objects are contiguous.

    Attributes:
        holding: Everything waits for the end.
    """

    def __init__(self, root: Shape, *, envelope: bool, constrained: bool) -> None:
        self._root = root
        self._skip = 1 if envelope else 0
        self._constrained = constrained
        self._frames: list[_Frame] = []
        self._events: list[Event] = []
        self._text: Path | None = None
        self.holding = False

    def take(self) -> list[Event]:
        """The events since the last call."""
        events, self._events = self._events, []
        return events

    def hold(self) -> None:
        """Emits nothing more before the end."""
        self.holding = True

    def leaf(self, path: Path, shapes: tuple[Shape, ...], value: Any) -> None:
        """Emits a whole value."""
        if self._go(path, shapes):
            self._emit_tree(path, value)

    def open_list(self, path: Path, shapes: tuple[Shape, ...]) -> None:
        """Emits the opening of a list whose elements follow one by one and without a gap."""
        if self._go(path, shapes):
            self._open(path[-1], shapes[-1], is_array=True)
            self._frames[-1].settled = True

    def begin_text(self, path: Path, shapes: tuple[Shape, ...]) -> bool:
        """Starts a string that grows; false if it has to wait."""
        if not self._go(path, shapes):
            return False
        self._mark(path[-1])
        self._text = path
        return True

    def text(self, piece: str) -> None:
        """Emits a piece of the growing string."""
        if self._text is not None and piece:
            self._append("text", self._text, piece)

    def end_text(self, rest: str) -> None:
        """Ends the growing string."""
        if self._text is not None:
            self._append("text_end", self._text, rest)
            self._text = None

    def finish(self, root: dict[str, Any]) -> None:
        """Emits what is left of the whole value and closes everything."""
        if not self._frames:
            self._open(None, self._root, is_array=False)
        values: list[Any] = [root]
        for frame in self._frames[1:]:
            values.append(values[-1][frame.step])
        while self._frames:
            frame, value = self._frames[-1], values.pop()
            path = self._path()
            if isinstance(value, dict):
                for key in value:
                    if key not in frame.seen:
                        self._emit_tree((*path, key), value[key])
            else:
                for index in range(frame.count, len(value)):
                    self._emit_tree((*path, index), value[index])
            self._close()

    # Moving through the tree

    def _go(self, path: Path, shapes: tuple[Shape, ...]) -> bool:
        """Opens and closes containers until a leaf can be emitted at ``path``."""
        if self.holding:
            return False
        if not self._frames:
            self._open(None, self._root, is_array=False)
        depth = 1
        while depth < len(self._frames) and depth < len(path) and self._frames[depth].step == path[depth - 1]:
            depth += 1
        while len(self._frames) > depth:
            if not self._may_close(self._frames[-1]):
                self.holding = True
                return False
            self._close()
        for position in range(depth - 1, len(path) - 1):
            if not self._free(path[position]):
                return False
            self._open(path[position], shapes[position + 1], is_array=isinstance(path[position + 1], int))
        return self._free(path[-1])

    def _free(self, step: Step) -> bool:
        """Whether the next value of the innermost container may be emitted under a step."""
        frame = self._frames[-1]
        if step == frame.count if frame.is_array else step not in frame.seen:
            return True
        self.holding = True
        return False

    def _may_close(self, frame: _Frame) -> bool:
        if self._constrained or frame.settled:
            return True
        return not frame.is_array and frame.seen == frame.shape.declared.keys()

    def _path(self) -> Path:
        return tuple(frame.step for frame in self._frames[1:] if frame.step is not None)

    def _mark(self, step: Step | None) -> None:
        """Counts a value in the innermost container."""
        if self._frames:
            frame = self._frames[-1]
            frame.count += 1
            if isinstance(step, str):
                frame.seen.add(step)

    def _open(self, step: Step | None, shape: Shape, *, is_array: bool) -> None:
        self._mark(step)
        self._frames.append(_Frame(step, shape, is_array))
        self._append("array" if is_array else "object", self._path())

    def _close(self) -> None:
        path = self._path()
        self._frames.pop()
        self._append("end", path)

    def _append(self, kind: EventKind, path: Path, value: Any = None) -> None:
        if len(path) >= self._skip:
            self._events.append(Event(kind, path[self._skip :], value))

    def _emit_tree(self, path: Path, value: Any) -> None:
        """Emits a whole value under the innermost container."""
        self._mark(path[-1])
        self._emit_value(path, value)

    def _emit_value(self, path: Path, value: Any) -> None:
        if isinstance(value, dict):
            self._append("object", path)
            for key, below in value.items():
                self._emit_value((*path, key), below)
            self._append("end", path)
        elif isinstance(value, list):
            self._append("array", path)
            for index, below in enumerate(value):
                self._emit_value((*path, index), below)
            self._append("end", path)
        else:
            self._append("value", path, value)


class JsonWriter:
    """Renders events as one append-only JSON text."""

    def __init__(self) -> None:
        self._first: list[bool] = []
        self._closers: list[str] = []
        self._in_text = False

    def write(self, events: list[Event]) -> str:
        """The JSON text of the next events."""
        return "".join(map(self._piece, events))

    def _piece(self, event: Event) -> str:
        if event.kind == "end":
            self._first.pop()
            return self._closers.pop()
        if event.kind in ("text", "text_end"):
            return self._text(event)
        lead = self._lead(event.path)
        if event.kind == "value":
            return lead + scalar_json(event.value)
        self._first.append(True)
        self._closers.append("}" if event.kind == "object" else "]")
        return lead + ("{" if event.kind == "object" else "[")

    def _text(self, event: Event) -> str:
        lead = "" if self._in_text else self._lead(event.path) + '"'
        self._in_text = event.kind == "text"
        body = _json(event.value)[1:-1]
        return lead + body + ("" if self._in_text else '"')

    def _lead(self, path: Path) -> str:
        """The comma and key before a value."""
        if not self._first:
            return ""
        comma = "" if self._first[-1] else ", "
        self._first[-1] = False
        key = path[-1]
        return f"{comma}{_json(key)}: " if isinstance(key, str) else comma


def scalar_json(value: Any) -> str:
    """A scalar as JSON; integers of any length."""
    if isinstance(value, str):
        return _json(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return write_number(value)
    return _json(value)
