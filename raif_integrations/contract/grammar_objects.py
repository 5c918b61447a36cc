"""The units of an object in their order, counted where the schema counts keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from raif_integrations.contract.ebnf import Rules, alternatives, sequence

_LARGEST_COUNT = 8
"""``minProperties`` and ``maxProperties`` beyond this are left to the validator."""


_BREAK = '"\\n"'


@dataclass(frozen=True, slots=True)
class Unit:
    """All lines of one declared key.

    Attributes:
        body: The lines.
        required: The key must be there.
        among_free: Free keys may stand before it (``layout``: they count to the first class).
    """

    body: str
    required: bool
    among_free: bool


def units_body(
    rules: Rules,
    units: Sequence[Unit],
    free: str | None,
    least: int,
    most: int | None,
) -> tuple[str, bool]:
    """Units in their order, one line break between.

    Args:
        rules: Where helper rules are added.
        units: The declared keys in the order of the layout.
        free: A line under a free key, if there are free keys.
        least: Least number of keys.
        most: Largest number of keys.

    Returns:
        The body for at least one unit (empty if there can be none), and whether there may be none.
    """
    return _Chain(rules, units, free, least, most).bodies()


class _Chain:
    """Walks the units from the first.

    A state is the next unit, whether a free line may come (not behind a skipped unit: the same text
    would have two derivations), and the keys still needed and still allowed.
    """

    def __init__(
        self, rules: Rules, units: Sequence[Unit], free: str | None, least: int, most: int | None
    ) -> None:
        self._rules = rules
        self._free = rules.add("free_line", free) if free else None
        required = sum(unit.required for unit in units)
        self._least = least if required < least <= _LARGEST_COUNT else 0
        countless = most is None or most > _LARGEST_COUNT or (free is None and most >= len(units))
        self._most = None if countless else most
        self._units = [
            unit if unit.required else replace(unit, body=rules.add("unit", unit.body)) for unit in units
        ]
        self._names: dict[_State, str | None] = {}

    def bodies(self) -> tuple[str, bool]:
        """See :func:`units_body`."""
        parts = [part for part in self._next(_State(0, True, self._least, self._most), "") if part != '""']
        empty = self._least == 0 and not any(unit.required for unit in self._units)
        return (alternatives(parts) if parts else ""), empty

    def _next(self, state: _State, separator: str) -> list[str]:
        """Alternatives for what comes in a state, each with its line break in front."""
        parts: list[str] = []
        if self._free and state.may_be_free and state.room != 0:
            parts.extend(self._followed(separator, self._free, state.after_key(state.index)))
        while state.index < len(self._units):
            unit = self._units[state.index]
            if state.room != 0:
                behind = state.after_key(state.index + 1, may_be_free=unit.among_free)
                parts.extend(self._followed(separator, unit.body, behind))
            if unit.required:
                return parts
            state = replace(state, index=state.index + 1, may_be_free=False)
            if separator and parts and state.index < len(self._units):
                rest = self._named(state)
                return [*parts, rest] if rest is not None else parts
        return [*parts, '""'] if state.need == 0 else parts

    def _followed(self, separator: str, body: str, state: _State) -> list[str]:
        """One unit and what comes in the state behind it; nothing if the end cannot be reached."""
        behind = self._behind(state)
        return [] if behind is None else [sequence(separator, body, behind)]

    def _behind(self, state: _State) -> str | None:
        choice = not self._units[state.index].required if state.index < len(self._units) else False
        if choice or (self._free and state.may_be_free):
            return self._named(state)
        parts = self._next(state, _BREAK)
        if not parts:
            return None
        return "" if parts == ['""'] else parts[0]

    def _named(self, state: _State) -> str | None:
        """What comes in a state, as a rule of its own."""
        if state not in self._names:
            name = self._rules.reserve("rest")
            self._names[state] = name
            parts = self._next(state, _BREAK)
            self._rules.define(name, " | ".join(parts) or '""')
            if not parts:
                self._names[state] = None
        return self._names[state]


@dataclass(frozen=True, slots=True)
class _State:
    index: int
    may_be_free: bool
    need: int
    room: int | None

    def after_key(self, index: int, *, may_be_free: bool = True) -> _State:
        """The state behind a key."""
        room = None if self.room is None else self.room - 1
        return _State(index, may_be_free, max(self.need - 1, 0), room)
