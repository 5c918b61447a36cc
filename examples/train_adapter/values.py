"""Values of every kind: how each stands in a text, and what is right for it under each JSON type.

Everything is grounded in the text. A string field takes the words as they stand there; a number field
takes ``1,250`` as 1250, ``$12.50`` as 12.5, ``15 %`` as 15 and ``80 kg`` as 80; a truth value takes
``yes``, ``on``, ``[x]`` and the like. No other rule is taught.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from train_adapter.texts import pool
from train_adapter.words import MONTHS, pick


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text.

    Attributes:
        text: How it stands there.
        forms: JSON Schema and right value for each way to ask for it, with a weight.
        unit: What a field for the bare number may add to its name, such as ``kg``.
    """

    text: str
    forms: tuple[tuple[dict[str, Any], Any, float], ...]
    unit: str = ""

    def choose(self, rng: random.Random) -> tuple[dict[str, Any], Any]:
        """Schema and value of one way to ask for it."""
        schema, value, _ = rng.choices(self.forms, [weight for _, _, weight in self.forms])[0]
        return dict(schema), value


Maker = Callable[[random.Random], Value]


def text(words_: str) -> Value:
    """A value that is only ever a string."""
    return Value(words_, (({"type": "string"}, words_, 1.0),))


def whole(number: int, shown: str, *, as_text: float = 0.06) -> Value:
    """An integer, seldom asked for as a string."""
    return Value(
        shown,
        (
            ({"type": "integer"}, number, 1.0),
            ({"type": "number"}, number, 0.2),
            ({"type": "string"}, shown, as_text),
        ),
    )


_UNITS = {
    "$": "usd",
    "€": "eur",
    "£": "gbp",
    "EUR": "eur",
    "USD": "usd",
    "CHF": "chf",
    "%": "percent",
    "°C": "celsius",
    "°F": "fahrenheit",
    "min": "minutes",
    "m²": "sqm",
    "sq ft": "sqft",
    "mmol/L": "mmol",
    "mg/dL": "mg",
    "g/L": "g",
    "U/L": "u",
    "degrees": "degrees",
}


def unit_in(shown: str) -> str:
    """The unit or currency that stands beside a number, as part of a field's name."""
    unit = "".join(c for c in shown if not c.isdigit() and c not in ".,-").strip()
    return _UNITS.get(unit, unit if unit.isalpha() and unit.isascii() else "")


def amount(number: float, shown: str, *, as_text: float = 0.15) -> Value:
    """A number with a unit or a currency: a number, or a string as it stands."""
    exact: float | int = int(number) if number == int(number) and "." not in shown else number
    return Value(
        shown, (({"type": "number"}, exact, 1.0), ({"type": "string"}, shown, as_text)), unit_in(shown)
    )


def choice(options: tuple[str, ...]) -> Maker:
    """One of a few words: an enum, or a string."""

    def make(rng: random.Random) -> Value:
        word = rng.choice(options)
        shown = (
            rng.choice((word, word, word, word, word.capitalize(), word.upper())) if word.islower() else word
        )
        listed = rng.sample(options, len(options))
        return Value(
            shown, (({"type": "string", "enum": listed}, word, 1.0), ({"type": "string"}, shown, 0.15))
        )

    return make


def flag(yes: tuple[str, ...] = (), no: tuple[str, ...] = ()) -> Maker:
    """A truth value, said in the given phrases, or as yes, on, ticked and the like."""
    pairs = (("yes", "no"), ("Yes", "No"), ("true", "false"), ("on", "off"), ("enabled", "disabled"))
    marks = (("[x]", "[ ]"), ("Y", "N"), ("✓", "✗"))

    def make(rng: random.Random) -> Value:
        truth = rng.random() < 0.5
        if yes:
            shown = rng.choice(yes if truth else no)
        else:
            pair = rng.choice(pairs if rng.random() < 0.85 else marks)
            shown = pair[0] if truth else pair[1]
        return Value(shown, (({"type": "boolean"}, truth, 1.0),))

    return make


def of(name: str) -> Maker:
    """A word of a pool."""
    return lambda rng: text(pick(rng, name))


def number(low: int, high: int, *, separators: bool = True) -> Maker:
    """An integer, with thousands separators where it is large (and may have them), seldom as a word."""
    small = pool("numerals")

    def make(rng: random.Random) -> Value:
        value = rng.randint(low, high)
        if 1 <= value <= 12 and rng.random() < 0.12:
            return whole(value, small[value], as_text=0.0)
        shown = f"{value:,}" if separators and value >= 1000 and rng.random() < 0.5 else str(value)
        return whole(value, shown)

    return make


def money(low: float, high: float) -> Maker:
    """A sum with a currency in one of the usual ways, or bare."""

    def make(rng: random.Random) -> Value:
        value = (
            round(rng.uniform(low, high), 2) if rng.random() < 0.7 else float(round(rng.uniform(low, high)))
        )
        digits = f"{value:,.2f}" if rng.random() < 0.6 else f"{value:.2f}"
        if value == int(value) and rng.random() < 0.6:
            digits = f"{int(value):,}"
        shown = rng.choice(
            (
                f"${digits}",
                f"€{digits}",
                f"£{digits}",
                f"{digits} EUR",
                f"USD {digits}",
                digits,
                f"{digits} CHF",
            )
        )
        return amount(value, shown, as_text=0.12)

    return make


def measure(low: float, high: float, *units: str, decimals: int = 1) -> Maker:
    """A number with one of the units, or bare where ``""`` is among them."""

    def make(rng: random.Random) -> Value:
        value = round(rng.uniform(low, high), rng.choice((0, decimals)))
        digits = f"{value:g}" if abs(value) < 1e6 else str(value)
        unit = rng.choice(units)
        joint = "" if len(unit) < 2 or (len(unit) < 3 and rng.random() < 0.4) else " "
        return amount(float(digits), f"{digits}{joint}{unit}", as_text=0.15 if unit else 0.05)

    return make


def day(rng: random.Random) -> Value:
    """A date in one of many notations."""
    d, m, y = rng.randint(1, 28), rng.randint(1, 12), rng.randint(2015, 2031)
    month = MONTHS[m - 1]
    return text(
        rng.choice(
            (
                f"{y}-{m:02}-{d:02}",
                f"{y}-{m:02}-{d:02}",
                f"{d} {month} {y}",
                f"{month} {d}, {y}",
                f"{d}/{m}/{y}",
                f"{m:02}/{d:02}/{y}",
                f"{d:02}.{m:02}.{y}",
                f"{d} {month[:3]} {y}",
                f"{month} {d}",
                f"{d} {month}",
                f"{pick(rng, 'weekdays')}, {d} {month}",
            )
        )
    )


def loose_day(rng: random.Random) -> Value:
    """A date as one says it in a request."""
    if rng.random() < 0.45:
        return day(rng)
    weekday = pick(rng, "weekdays")
    return text(rng.choice(("today", "tomorrow", weekday, f"next {weekday}", f"this {weekday}")))


def clock(rng: random.Random) -> Value:
    """A time of day."""
    hour, minute = rng.randint(0, 23), rng.choice((0, 15, 30, 45, rng.randint(0, 59)))
    half = f"{hour % 12 or 12}:{minute:02} {'AM' if hour < 12 else 'PM'}"
    return text(
        rng.choice((f"{hour:02}:{minute:02}", f"{hour}:{minute:02}", half, half.replace(" ", "").lower()))
    )


def moment(rng: random.Random) -> Value:
    """A time stamp."""
    date = f"{rng.randint(2019, 2030)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    time = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"
    return text(rng.choice((f"{date}T{time}Z", f"{date} {time}", f"{date}T{time}", f"{date} {time[:5]}")))


def duration(rng: random.Random) -> Value:
    """A stretch of time, as text or as a number of its unit."""
    value, unit = rng.choice(
        (
            (rng.randint(5, 90), "minutes"),
            (rng.randint(2, 12), "hours"),
            (rng.randint(2, 30), "days"),
            (rng.randint(2, 10), "weeks"),
            (rng.randint(10, 55), "min"),
        )
    )
    shown = f"{value} {unit}"
    return Value(shown, (({"type": "string"}, shown, 1.0), ({"type": "integer"}, value, 0.5)), unit_in(shown))


def code(pattern: str) -> Maker:
    """An identifier: ``#`` is a digit, ``@`` a capital letter, ``~`` a hexadecimal digit."""

    def make(rng: random.Random) -> Value:
        replaced = {"#": "0123456789", "@": "ABCDEFGHJKLMNPQRSTUVWXYZ", "~": "0123456789abcdef"}
        chosen = rng.choice(pattern.split("|"))
        return text("".join(rng.choice(replaced[c]) if c in replaced else c for c in chosen))

    return make
