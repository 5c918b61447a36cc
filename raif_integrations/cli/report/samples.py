"""Values made from a schema, for a report without payloads. The same seed makes the same values.

They are plausible in length and kind, no more: a report on real payloads is worth more.
"""

from __future__ import annotations

import random
from typing import Any

from raif_integrations.contract import OutputContract
from raif_integrations.contract.automaton import TooManyStatesError
from raif_integrations.contract.ebnf import contains
from raif_integrations.contract.regular import NotRegularError, searching
from raif_integrations.contract.tree import (
    Anything,
    Array,
    Choice,
    Node,
    Object,
    Reference,
    Scalar,
    Union,
)

_DEEPEST = 6
_OPTIONAL_SHARE = 0.6
_ATTEMPTS = 20

_LONGEST_WALK = 80
_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.@/:+#"

_WORDS = (
    "annual report", "Berlin", "blue", "delivery", "green tea", "harbour view", "invoice", "Lisbon",
    "meeting room", "morning", "north entrance", "office", "Oslo", "project plan", "quarterly review",
    "red", "standing desk", "summer", "team", "weekend trip",
)  # fmt: skip
_SENTENCES = (
    "Please confirm the delivery before noon.",
    "The second pump lost pressure at 14:20, and the backup took over.",
    "Ask for Ms. Okafor at the north entrance.",
    "Two of the three samples were damaged in transit.",
)
_FORMATS = {
    "date": "2026-03-{n:02}",
    "time": "{n:02}:30:00",
    "date-time": "2026-03-{n:02}T09:30:00Z",
    "email": "ana.{n}@example.org",
    "uri": "https://example.org/items/{n}",
    "url": "https://example.org/items/{n}",
    "uuid": "3f2b8c1e-9d4a-4e6b-8f70-1a2b3c4d5e{n:02}",
    "ipv4": "192.0.2.{n}",
    "hostname": "host{n}.example.org",
    "duration": "PT{n}H",
}
# Parts of a key's name, and what is usually written under it.
_BY_NAME = {
    "email": _FORMATS["email"],
    "date": _FORMATS["date"],
    "time": "{n:02}:30",
    "url": _FORMATS["url"],
    "phone": "+49 30 5550{n:02}",
    "id": "A-10{n:02}",
    "zip": "101{n:02}",
    "currency": "EUR",
}
_LONG = ("description", "text", "message", "body", "note", "comment", "summary", "content")


def sample_values(contract: OutputContract, count: int, seed: int) -> list[Any]:
    """Makes values that are valid for a contract.

    Args:
        contract: The schema.
        count: How many.
        seed: Of the random choices.

    Returns:
        Up to ``count`` values; fewer where the schema asks for what cannot be guessed.
    """
    maker = _Maker(contract, random.Random(f"{seed}:{contract.name}"))
    values: list[Any] = []
    for _ in range(count):
        for _ in range(_ATTEMPTS):
            value = maker.value()
            if not contract.validate(value):
                values.append(value)
                break
    return values


class _Maker:
    def __init__(self, contract: OutputContract, choices: random.Random) -> None:
        self._tree = contract.tree
        self._random = choices

    def value(self) -> Any:
        root = self._object(self._tree.root, 0)
        return root if self._tree.envelope is None else root.get(self._tree.envelope)

    def _node(self, node: Node, name: str, depth: int) -> Any:
        if node.nullable and (self._random.random() < 0.2 or depth > _DEEPEST):
            return None
        match node:
            case Scalar():
                return self._scalar(node, name)
            case Choice():
                return self._random.choice(node.values) if node.values else None
            case Object():
                return self._object(node, depth)
            case Array():
                return self._array(node, name, depth)
            case Union():
                return self._node(self._random.choice(node.options), name, depth)
            case Reference():
                return self._node(self._tree.definitions[node.target], name, depth + 1)
            case Anything():
                return self._random.choice(_WORDS)

    def _object(self, node: Object, depth: int) -> dict[str, Any]:
        made = {}
        by_name = {one.name: one for one in node.properties}
        for name in node.declared_order or tuple(by_name):
            declared = by_name[name]
            wanted = depth <= _DEEPEST and self._random.random() < _OPTIONAL_SHARE
            if declared.required or wanted:
                made[name] = self._node(declared.node, name, depth + 1)
        if node.additional is not None and depth <= _DEEPEST:
            least = max(node.min_properties - len(made), 1 if not node.properties else 0)
            for index in range(least):
                made[f"key_{index}"] = self._node(node.additional, "", depth + 1)
        return made

    def _array(self, node: Array, name: str, depth: int) -> list[Any]:
        made = [self._node(one, name, depth + 1) for one in node.prefix]
        most = node.max_items if node.max_items is not None else max(node.min_items, 4)
        wanted = 0 if depth > _DEEPEST else self._random.randint(min(2, most), min(most, node.min_items + 4))
        while node.items is not None and len(made) < max(node.min_items, wanted):
            made.append(self._node(node.items, name.removesuffix("s"), depth + 1))
        return made

    def _scalar(self, node: Scalar, name: str) -> Any:
        if node.type == "boolean":
            return self._random.random() < 0.5
        if node.type == "string":
            return self._string(node, name.lower())
        low = node.minimum if node.minimum is not None else 0
        high = node.maximum if node.maximum is not None else max(low + 100, 100)
        if node.type == "integer":
            return self._random.randint(int(low), max(int(low), int(high)))
        return round(low + self._random.random() * (high - low), 2)

    def _string(self, node: Scalar, name: str) -> str:
        if node.pattern is not None and (matching := _matching(node.pattern, self._random)) is not None:
            return matching
        number = self._random.randint(10, 28)
        if node.format in _FORMATS:
            return _FORMATS[node.format].format(n=number)
        words = name.replace("-", "_").split("_")
        for part, form in _BY_NAME.items():
            if part in words:
                return self._fitted(form.format(n=number), node)
        texts: tuple[str, ...] = _SENTENCES if any(part in words for part in _LONG) else _WORDS
        return self._fitted(self._random.choice(texts), node)

    def _fitted(self, text: str, node: Scalar) -> str:
        while len(text) < node.min_length:
            text += " " + self._random.choice(_WORDS)
        return text if node.max_length is None else text[: node.max_length]


def _matching(pattern: str, choices: random.Random) -> str | None:
    """A text that a pattern finds something in: a random walk through its automaton; ``None`` without one."""
    try:
        automaton = searching(pattern)
    except (NotRegularError, TooManyStatesError):
        return None
    text, state = "", 0
    for _ in range(_LONGEST_WALK):
        steps = [
            (character, target)
            for chars, target in automaton.edges[state]
            for character in _CHARACTERS
            if contains(chars, character)
        ]
        if state in automaton.accepting and (not steps or choices.random() < 0.5):
            return text
        if not steps:
            return None
        character, state = choices.choice(steps)
        text += character
    return text if state in automaton.accepting else None
