"""JSON text as it is written: events for what is certain, the exact value at the end."""

from __future__ import annotations

import re
from typing import Any, Literal

from raif_integrations.contract.emission import Emitter
from raif_integrations.contract.framing import REASONING
from raif_integrations.contract.paths import Path
from raif_integrations.contract.reading import (
    load_json,
    load_json_at,
    parse_json,
)
from raif_integrations.contract.report import FieldError, Repair
from raif_integrations.contract.shape import Shapes
from raif_integrations.contract.validation import excerpt_of, path_text

ROOT = "value"
"""Key under which the scanner keeps the root, so that roots of any type are treated alike."""

_BLANK = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_ATOM = re.compile(r"[-+.0-9A-Za-z]+")
_START = re.compile(r"^[ \t]*([{\[])", re.M)
_BRACKET = re.compile(r"[{}\[\]]")
_FENCED = re.compile(r"\s*(?:```|~~~)[a-zA-Z]*\n(.*?)\n\s*(?:```|~~~)\s*", re.S)

Expecting = Literal[
    "value", "first_value", "key", "first_key", "colon", "comma", "string", "key_string", "end"
]


class _Container:
    __slots__ = ("elements", "fields", "key")

    def __init__(self, *, is_array: bool) -> None:
        self.elements: list[Any] | None = [] if is_array else None
        self.fields: dict[str, Any] | None = None if is_array else {}
        self.key = ""

    @property
    def value(self) -> Any:
        return self.elements if self.fields is None else self.fields


class JsonScanner:
    """Reads strict JSON piece by piece.

    Args:
        shapes: The shapes of the contract.
        emitter: Takes what is certain, or ``None``.

    Attributes:
        broken: The text is not strict JSON; nothing more is read.
    """

    def __init__(self, shapes: Shapes, emitter: Emitter | None) -> None:
        self._anything = shapes.anything
        self._emitter = emitter
        self._stack: list[_Container] = []
        self._expecting: Expecting = "value"
        self._rest = ""
        self._pieces: list[str] = []
        self._emitting = False
        self.root: dict[str, Any] = {}
        self.broken = False

    @property
    def done(self) -> bool:
        """The value is complete."""
        return self._expecting == "end"

    def push(self, text: str) -> None:
        """Takes the next piece of the text."""
        if self.broken or self.done:
            return
        text = self._rest + text
        self._rest = ""
        position = 0
        while position < len(text) and not self.broken and not self.done:
            if self._expecting in ("string", "key_string"):
                after = self._string(text, position)
            else:
                position = _match_end(_BLANK, text, position)
                if position == len(text):
                    return
                after = self._token(text, position)
            if after < 0:
                self._rest = text[position:]
                return
            position = after

    def _break(self) -> int:
        self.broken = True
        if self._emitter is not None:
            self._emitter.hold()
        return 0

    def _token(self, text: str, position: int) -> int:
        character = text[position]
        expecting = self._expecting
        if expecting in ("value", "first_value"):
            if character == "]" and expecting == "first_value":
                return self._close(position)
            return self._value(text, position)
        if expecting in ("key", "first_key"):
            if character == '"':
                self._expecting = "key_string"
                return position + 1
            if character == "}" and expecting == "first_key":
                return self._close(position)
            return self._break()
        if expecting == "colon":
            if character != ":":
                return self._break()
            self._expecting = "value"
            return position + 1
        container = self._stack[-1]
        if character == ",":
            self._expecting = "value" if container.fields is None else "key"
            return position + 1
        if character == ("]" if container.fields is None else "}"):
            return self._close(position)
        return self._break()

    def _value(self, text: str, position: int) -> int:
        character = text[position]
        if character in "{[":
            container = _Container(is_array=character == "[")
            self._attach(container.value)
            self._stack.append(container)
            self._expecting = "first_value" if character == "[" else "first_key"
            return position + 1
        if character == '"':
            self._expecting = "string"
            path, shapes = self._path()
            self._emitting = self._emitter is not None and self._emitter.begin_text(path, shapes)
            return position + 1
        end = _match_end(_ATOM, text, position)
        if end == position:
            return self._break()
        if end == len(text):
            return -1
        try:
            value = load_json(text[position:end])
        except ValueError:
            return self._break()
        path, shapes = self._path()
        self._attach(value)
        if self._emitter is not None:
            self._emitter.leaf(path, shapes, value)
        self._after_value()
        return end

    def _string(self, text: str, position: int) -> int:
        """Reads on inside a string; -1 if an escape is not complete yet."""
        while position < len(text):
            character = text[position]
            if character == '"':
                self._end_string()
                return position + 1
            if character == "\\":
                piece, end = _escape(text, position)
                if end < 0:
                    return -1 if position == 0 else self._keep(text, position)
                if not end:
                    return self._break()
            else:
                end = _match_end(_PLAIN, text, position)
                if end == position:
                    return self._break()
                piece = text[position:end]
            self._pieces.append(piece)
            if self._emitting and self._emitter is not None:
                self._emitter.text(piece)
            position = end
        return position

    def _keep(self, text: str, position: int) -> int:
        """Leaves an incomplete escape for the next piece."""
        self._rest = text[position:]
        return len(text)

    def _end_string(self) -> None:
        value = "".join(self._pieces)
        self._pieces.clear()
        if self._expecting == "key_string":
            fields = self._stack[-1].fields
            assert fields is not None
            if value in fields:
                self._break()
            self._stack[-1].key = value
            self._expecting = "colon"
            return
        path, shapes = self._path()
        if self._emitting and self._emitter is not None:
            self._emitter.end_text("")
        elif self._emitter is not None:
            self._emitter.leaf(path, shapes, value)
        self._emitting = False
        self._attach(value)
        self._after_value()

    def _attach(self, value: Any) -> None:
        if not self._stack:
            self.root[ROOT] = value
        elif self._stack[-1].elements is not None:
            self._stack[-1].elements.append(value)
        else:
            fields = self._stack[-1].fields
            assert fields is not None
            fields[self._stack[-1].key] = value

    def _path(self) -> tuple[Path, tuple[Any, ...]]:
        """The path of the value that is about to come."""
        steps: list[str | int] = [
            ROOT,
            *(one.key if one.elements is None else len(one.elements) for one in self._stack),
        ]
        for index, container in enumerate(self._stack[:-1]):
            if container.elements is not None:
                steps[index + 1] = len(container.elements) - 1
        return tuple(steps), (self._anything,) * (len(steps) + 1)

    def _close(self, position: int) -> int:
        container = self._stack.pop()
        if not container.value and self._emitter is not None:
            if self._stack and self._stack[-1].elements is not None:
                self._stack[-1].elements.pop()
                path, shapes = self._path()
                self._stack[-1].elements.append(container.value)
            else:
                path, shapes = self._path()
            self._emitter.leaf(path, shapes, container.value)
        self._after_value()
        return position + 1

    def _after_value(self) -> None:
        self._expecting = "comma" if self._stack else "end"


def _match_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})(?:\\u([0-9a-fA-F]{4}))?")


def _escape(text: str, position: int) -> tuple[str, int]:
    """Reads an escape: its character and where it ends; -1 if it is incomplete, 0 if it is none."""
    following = text[position + 1 : position + 2]
    if not following:
        return "", -1
    if following != "u":
        return _ESCAPES.get(following, ""), position + 2 if following in _ESCAPES else 0
    found = _UNICODE.match(text, position)
    if found is None:
        return "", -1 if len(text) < position + 6 else 0
    high = int(found.group(1), 16)
    if not 0xD800 <= high < 0xDC00:
        return chr(high), position + 6
    if found.group(2) is not None and 0xDC00 <= int(found.group(2), 16) < 0xE000:
        low = int(found.group(2), 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), found.end()
    # A half of a pair: its other half may still come.
    ahead = text[position + 6 : position + 12]
    if len(ahead) < 6 and "\\u".startswith(ahead[:2]):
        return "", -1
    return chr(high), position + 6


class JsonDocument:
    """Reads a reply whose wire is JSON.

    Args:
        shapes: The shapes of the contract.
        emitter: Takes what is certain, or ``None`` if nobody listens. It keeps the root under
            :data:`ROOT`.
    """

    def __init__(self, shapes: Shapes, emitter: Emitter | None) -> None:
        self._shapes = shapes
        self._emitter = emitter
        self._scanner: JsonScanner | None = None
        self._text: list[str] = []
        self._head = ""
        self._searching = emitter is not None
        self.errors: list[FieldError] = []
        self.repairs: list[Repair] = []
        self.truncated = False
        self.text = ""
        self.found = False
        self.value: Any = None

    def push(self, text: str) -> None:
        """Takes the next piece of the text."""
        self._text.append(text)
        if self._scanner is not None:
            self._scanner.push(text)
        elif self._searching:
            self._head += text
            start = _first_start(self._head)
            if start is not None:
                self._scanner = JsonScanner(self._shapes, self._emitter)
                self._scanner.push(self._head[start:])
                self._head = ""
            elif len(self._head) > 65_536:
                self._searching = False

    @property
    def partial(self) -> dict[str, Any]:
        """The value so far, under :data:`ROOT`."""
        return self._scanner.root if self._scanner is not None else {}

    def _note(self, kind: str, detail: str) -> None:
        self.repairs.append(Repair(kind, "", excerpt_of(detail)))

    def finish(self, *, complete: bool) -> None:
        """Ends the text.

        Args:
            complete: It ended by itself.
        """
        whole = "".join(self._text)
        self.truncated = not complete
        start = _first_start(whole)
        if start is None:
            self._finish_bare(whole, complete=complete)
            return
        if whole[:start].strip():
            self._note("text_before_removed", whole[:start].strip())
        if self._read_strict(whole, start) or self._read_loosely(whole, start):
            return
        self._finish_partial(whole[start:], complete=complete)

    def _read_strict(self, whole: str, start: int) -> bool:
        try:
            value, end = load_json_at(whole, start)
        except (ValueError, RecursionError):
            return False
        self._take(value, whole[start:end], whole[end:])
        return True

    def _read_loosely(self, whole: str, start: int) -> bool:
        end = max(whole.rfind("}"), whole.rfind("]")) + 1
        if end <= start:
            return False
        found, value = parse_json(whole[start:end], self._note)
        if found:
            self._take(value, whole[start:end], whole[end:])
        return found

    def _take(self, value: Any, text: str, behind: str) -> None:
        self.found, self.value, self.text = True, value, text
        after = behind.strip().strip("`~").strip()
        if after:
            self._note("text_after_removed", after)

    def _finish_bare(self, whole: str, *, complete: bool) -> None:
        """A text without an object or array: a scalar, or nothing."""
        text = whole[_reasoning_end(whole) :]
        fenced = _FENCED.fullmatch(text)
        text = (fenced.group(1) if fenced else text).strip()
        found, value = parse_json(text, self._note) if text else (False, None)
        if found and complete:
            self._take(value, text, "")
            return
        self.text = text
        self.errors.append(FieldError("", "syntax", "there is no JSON in the text", excerpt_of(text)))

    def _finish_partial(self, text: str, *, complete: bool) -> None:
        """A text that is no JSON to its end: the complete part is kept."""
        self.text = text
        scanner = JsonScanner(self._shapes, None)
        scanner.push(text)
        self.value = scanner.root.get(ROOT)
        if scanner.broken and complete:
            self.errors.append(FieldError("", "syntax", "the text is not JSON", excerpt_of(text)))
            return
        self.truncated = True
        path, _ = scanner._path() if not scanner.done else ((ROOT,), ())
        self.errors.append(FieldError(path_text(path[1:]), "truncated", "the text ends inside this field"))


def _reasoning_end(text: str) -> int:
    """Where the text begins behind a leading block of reasoning."""
    opening = REASONING.match(text.lstrip())
    if opening is None:
        return 0
    closing = f"</{opening.group(1)}>"
    end = text.find(closing)
    return len(text) if end < 0 else end + len(closing)


def _first_start(text: str) -> int | None:
    """Where the JSON begins: the first bracket that opens a line, or one before it that is still open."""
    begin = _reasoning_end(text)
    found = _START.search(text, begin)
    if found is None:
        return None
    around: list[int] = []
    for bracket in _BRACKET.finditer(text, begin, found.start(1)):
        if bracket.group() in "{[":
            around.append(bracket.start())
        elif around:
            around.pop()
    return around[0] if around else found.start(1)
