"""Contracts that were built before: agents bind the same tools on every step."""

from __future__ import annotations

import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """A bounded mapping, the least recently used entry leaves first. Safe for concurrent use.

    Args:
        size: Largest number of entries.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """The entry, or ``None``."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def put(self, key: Hashable, entry: T) -> T:
        """Keeps an entry; the one that is there already wins."""
        with self._lock:
            entry = self._entries.setdefault(key, entry)
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
            return entry

    def discard(self, key: Hashable) -> None:
        """Forgets an entry."""
        with self._lock:
            self._entries.pop(key, None)

    def __len__(self) -> int:
        return len(self._entries)


class IdentityMemory(Generic[T]):
    """What was made from an object, as long as that very object lives.

    Args:
        size: Largest number of entries.
    """

    def __init__(self, size: int) -> None:
        self._entries: Memory[tuple[Callable[[], Any], T]] = Memory(size)

    def get(self, source: Any, *more: Hashable) -> T | None:
        """What was made from an object (and further keys), or ``None``."""
        entry = self._entries.get((id(source), *more))
        return entry[1] if entry is not None and entry[0]() is source else None

    def put(self, source: Any, *more: Hashable, entry: T) -> None:
        """Keeps what was made from an object; objects that cannot be watched are not kept."""
        try:
            reference = weakref.ref(source)
        except TypeError:
            return
        # An entry of a dead object under the same id must not win.
        self._entries.discard((id(source), *more))
        self._entries.put((id(source), *more), (reference, entry))


def text_of(schema: Any) -> str | None:
    """The text that identifies a schema, or ``None`` if it is no JSON data."""
    try:
        return json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None
