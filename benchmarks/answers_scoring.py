"""How right an answer is. All ways of asking are scored by this one file.

* exact: the whole object is right, or the right tools are called with the right arguments;
* fields: the share of leaves that are right, a leaf that is missing, wrong or invented counting against it;
* valid: the answer is an object of the schema, or calls whose arguments are;
* choice: the right tools are called, or none where a reply is right;
* reply: a reply in text holds the facts it should, and nothing that belongs to RAIF;
* right: exact, or for items that expect no object, reply.

A score that an item does not ask for is ``None``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

from answers_items import ExpectedCall, Item
from raif_integrations.contract.report import Decoded

_OWN_TAG: Final = re.compile(r"</?(?:schema|tools|tool_call|tool_response|raif)>", re.IGNORECASE)
_RAIF_LINE: Final = re.compile(r"^[A-Za-z_][\w.]*(?:\[\d*\])?(?::[snbto]|::[\w,]+)?=\S*", re.MULTILINE)
_MOST_ORDERS: Final = 4


@dataclass(frozen=True, slots=True)
class Score:
    """How right one answer is; see the module."""

    exact: bool | None = None
    fields: float | None = None
    valid: bool | None = None
    choice: bool | None = None
    reply: bool | None = None

    @property
    def right(self) -> bool | None:
        """The answer is the right one, whether that is an object, calls or a reply."""
        return self.reply if self.exact is None else self.exact


@dataclass(frozen=True, slots=True)
class Call:
    """A call the model made.

    Attributes:
        name: Name of the tool.
        arguments: The arguments, or ``None`` if they are not valid.
    """

    name: str
    arguments: Mapping[str, Any] | None


NO_ANSWER: Final = "no answer"
"""Text of an answer that an error took the place of."""


def score_object(item: Item, decoded: Decoded | None) -> Score:
    """Scores a decoded object; ``None`` is no object at all."""
    if decoded is None:
        return Score(exact=False, fields=0.0, valid=False)
    return Score(
        exact=decoded.ok and same(decoded.value, item.value),
        fields=right_share(item.value, decoded.value),
        valid=decoded.ok,
    )


def score_calls(item: Item, calls: Sequence[Call], text: str) -> Score:
    """Scores calls, or the reply in text that came in place of them."""
    choice = Counter(call.name for call in calls) == Counter(call.name for call in item.calls)
    if not item.calls:
        return Score(choice=choice, reply=choice and is_good_reply(text, item.facts))
    fields = _arguments_share(item.calls, calls)
    valid = bool(calls) and all(call.arguments is not None for call in calls)
    return Score(
        exact=choice and valid and (fields is None or fields == 1.0),
        fields=fields,
        valid=valid,
        choice=choice,
    )


def score_text(item: Item, text: str) -> Score:
    """Scores a reply in text."""
    return Score(reply=is_good_reply(text, item.facts))


def is_good_reply(text: str, facts: Sequence[str]) -> bool:
    """Whether a text is one for a person, and holds the facts as words of their own."""
    if not text.strip() or _OWN_TAG.search(text) or _RAIF_LINE.search(text):
        return False
    return all(re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", text, re.IGNORECASE) for fact in facts)


def same(one: Any, other: Any) -> bool:
    """Equality of JSON data: 5 is 5.0, but ``True`` is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def right_share(expected: Any, answered: Any) -> float:
    """The share of leaves, of all that are expected or answered, that are right.

    The elements of lists are compared by their place. Two empty objects are wholly right.
    """
    right = dict(leaves(expected))
    written = dict(leaves(answered))
    places = right.keys() | written.keys()
    if not places:
        return 1.0
    hits = sum(place in right and place in written and same(right[place], written[place]) for place in places)
    return hits / len(places)


def leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Each scalar, empty list and empty object below an object, with its place."""
    if isinstance(value, Mapping) and (value or place):
        if not value:
            yield place, {}
        for key, below in value.items():
            yield from leaves(below, (*place, key))
    elif isinstance(value, list) and value:
        for number, below in enumerate(value):
            yield from leaves(below, (*place, number))
    elif place:
        yield place, value


def _arguments_share(expected: Sequence[ExpectedCall], calls: Sequence[Call]) -> float | None:
    """The right leaves of all arguments; of calls to one tool, in the order that suits the model best."""
    names = sorted({call.name for call in expected if call.arguments is not None})
    if not names:
        return None
    wanted: dict[str, Any] = {}
    written: dict[str, Any] = {}
    for name in names:
        wanted[name] = [call.arguments for call in expected if call.name == name]
        made = [call.arguments or {} for call in calls if call.name == name]
        orders = permutations(made) if len(made) <= _MOST_ORDERS else [tuple(made)]
        written[name] = list(max(orders, key=lambda order: right_share(wanted[name], list(order))))
    for call in calls:
        if call.name not in wanted and all(call.name != one.name for one in expected):
            written.setdefault(call.name, []).append(call.arguments or {})
    return right_share(wanted, written)
