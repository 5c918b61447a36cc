"""A JSON value read while its text is still being written.

Only complete parts count: a string is added when its closing quote has come, a number when something
follows it. Each character is looked at once.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SPACE = " \t\r\n"
_SCALAR_END = re.compile(r"[,\]}\s]")
_STRING_END = re.compile(r'["\\]')


class GrowingJson:
    """Reads append-only JSON text.

    The text is taken to be valid JSON, as a turn writes it; text that is not JSON adds nothing more.

    Attributes:
        value: The complete part so far: an object, an array, or ``None`` before either has begun.
    """

    def __init__(self) -> None:
        self.value: Any = None
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._key: str | None = None
        self._text = ""
        self._scanned = 0

    def push(self, text: str) -> bool:
        """Takes new text.

        Args:
            text: What follows the text so far.

        Returns:
            Whether :attr:`value` has grown.
        """
        self._text += text
        position, grown = 0, False
        while True:
            start = position
            while start < len(self._text) and (self._text[start] in _SPACE or self._text[start] in ",:"):
                start += 1
            end = self._token_end(start)
            if end is None:
                break
            grown = self._take(self._text[start:end]) or grown
            position, self._scanned = end, 0
        self._text = self._text[start:]
        return grown

    def _token_end(self, start: int) -> int | None:
        """Where the token at ``start`` ends, or ``None`` if it is not complete yet."""
        if start >= len(self._text):
            return None
        first = self._text[start]
        if first in "{}[]":
            return start + 1
        position = start + max(self._scanned, 1)
        if first != '"':
            found = _SCALAR_END.search(self._text, position)
            self._scanned = len(self._text) - start
            return found.start() if found else None
        while found := _STRING_END.search(self._text, position):
            if found.group() == '"':
                return found.end()
            position = found.end() + 1
            if position > len(self._text):
                self._scanned = found.start() - start
                return None
        self._scanned = len(self._text) - start
        return None

    def _take(self, token: str) -> bool:
        if token in ("}", "]"):
            if self._stack:
                self._stack.pop()
            return False
        if token in ("{", "["):
            container: dict[str, Any] | list[Any] = {} if token == "{" else []
            added = self._add(container)
            self._stack.append(container)
            return added
        try:
            value = json.loads(token, strict=False)
        except ValueError:
            return False
        if self._stack and isinstance(self._stack[-1], dict) and self._key is None:
            self._key = value if isinstance(value, str) else None
            return False
        return self._add(value)

    def _add(self, value: Any) -> bool:
        if not self._stack:
            if self.value is None and isinstance(value, dict | list):
                self.value = value
                return True
            return False
        inside = self._stack[-1]
        if isinstance(inside, list):
            inside.append(value)
        elif self._key is not None:
            inside[self._key] = value
            self._key = None
        return True


def copied(value: Any) -> Any:
    """A copy of JSON data that shares no container with it."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
