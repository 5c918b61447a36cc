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
from train_adapter.words import MONTHS, invented, pick


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text.

    Attributes:
        text: How it stands there.
        forms: JSON Schema and right value for each way to ask for it, with a weight.
    """

    text: str
    forms: tuple[tuple[dict[str, Any], Any, float], ...]

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


def amount(number: float, shown: str, *, as_text: float = 0.15) -> Value:
    """A number with a unit or a currency: a number, or a string as it stands."""
    exact: float | int = int(number) if number == int(number) and "." not in shown else number
    return Value(shown, (({"type": "number"}, exact, 1.0), ({"type": "string"}, shown, as_text)))


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


def person(rng: random.Random) -> Value:
    """A full name, now and then with a title or an invented last name."""
    first, last = pick(rng, "first_names"), pick(rng, "last_names")
    if rng.random() < 0.2:
        last = invented(rng).capitalize()
    if rng.random() < 0.08:
        first = rng.choice(("Dr.", "Ms.", "Mr.", "Prof.")) + " " + first
    elif rng.random() < 0.08:
        first += f" {rng.choice('ABCDEFGHJKLMNPRST')}."
    return text(f"{first} {last}")


def first_name(rng: random.Random) -> Value:
    """A first name."""
    return text(pick(rng, "first_names"))


def company(rng: random.Random) -> Value:
    """A company: invented words, family names and nouns with the usual endings."""
    ending = pick(rng, "company_endings")
    name = rng.choice(
        (
            invented(rng).capitalize(),
            pick(rng, "last_names"),
            pick(rng, "nouns").capitalize() + " " + pick(rng, "nouns").capitalize(),
            f"{pick(rng, 'last_names')} & {pick(rng, 'last_names')}",
            pick(rng, "nouns").capitalize() + invented(rng, syllables=1),
        )
    )
    return text(name if rng.random() < 0.3 else f"{name} {ending}")


def shop(rng: random.Random) -> Value:
    """A shop, restaurant or hotel."""
    kind = pick(rng, "shop_kinds")
    owner = rng.choice((pick(rng, "nouns"), invented(rng), pick(rng, "last_names"))).capitalize()
    return text(
        rng.choice((f"{owner} {kind}", f"The {owner} {kind}", f"{kind} {owner}", f"{owner}'s {kind}"))
    )


def product(rng: random.Random) -> Value:
    """A thing one buys, plain, with an adjective or a model name."""
    name = pick(rng, "products")
    extra = rng.random()
    if extra < 0.2:
        name = f"{pick(rng, 'adjectives')} {name}"
    elif extra < 0.3:
        name = f"{invented(rng).capitalize()} {name}"
    elif extra < 0.4:
        name = f"{invented(rng).capitalize()} {rng.choice('ABCKLRSTXZ')}{rng.randint(1, 900)}"
    if rng.random() < 0.3:
        name = name[0].upper() + name[1:]
    return text(name)


def title(rng: random.Random) -> Value:
    """The title of a meeting, event, task or work."""
    noun, other = pick(rng, "nouns"), pick(rng, "nouns")
    topic, doing = pick(rng, "topics"), pick(rng, "verbs_ing")
    shown = rng.choice(
        (
            f"The {noun.capitalize()} {other.capitalize()}",
            f"{topic.capitalize()} {rng.choice(('workshop', 'meetup', 'course', 'night', 'basics'))}",
            f"{noun.capitalize()} {doing}",
            f"{doing} the {noun} {other}",
            f"Project {noun.capitalize()} {rng.choice(('kickoff', 'review', 'retro', 'sync', 'handover'))}",
            f"{topic} for beginners",
            f"{pick(rng, 'departments')} {rng.choice(('stand-up', 'budget', 'report', 'offsite'))}",
            f"{noun.capitalize()} of {invented(rng).capitalize()}",
            f"Q{rng.randint(1, 4)} {topic}",
        )
    )
    return text(shown[0].upper() + shown[1:] if rng.random() < 0.7 else shown)


def phrase(rng: random.Random) -> Value:
    """A few plain words: a remark, a reason, a search."""
    noun, other = pick(rng, "nouns"), pick(rng, "nouns")
    return text(
        rng.choice(
            (
                f"the {noun} is {pick(rng, 'faults')}",
                f"please leave it at the {noun}",
                f"{pick(rng, 'adjectives')} {noun} near the {other}",
                f"no {pick(rng, 'ingredients')}, extra {pick(rng, 'ingredients')}",
                f"call before {rng.randint(7, 19)}:00",
                f"needs a new {pick(rng, 'products')}",
                f"best {pick(rng, 'cuisines')} places in {pick(rng, 'cities')}",
                f"{pick(rng, 'topics')} and {pick(rng, 'topics')}",
                "cannot log in after the update",
                f"waiting for {pick(rng, 'first_names')} to confirm",
                f"wrong {noun} delivered",
            )
        )
    )


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
    return Value(shown, (({"type": "string"}, shown, 1.0), ({"type": "integer"}, value, 0.5)))


def code(pattern: str) -> Maker:
    """An identifier: ``#`` is a digit, ``@`` a capital letter, ``~`` a hexadecimal digit."""

    def make(rng: random.Random) -> Value:
        replaced = {"#": "0123456789", "@": "ABCDEFGHJKLMNPQRSTUVWXYZ", "~": "0123456789abcdef"}
        chosen = rng.choice(pattern.split("|"))
        return text("".join(rng.choice(replaced[c]) if c in replaced else c for c in chosen))

    return make


def email(rng: random.Random) -> Value:
    """An e-mail address."""
    first, last = pick(rng, "first_names").lower(), pick(rng, "last_names").lower()
    last = last.replace(" ", "").replace("'", "")
    box = rng.choice(
        (f"{first}.{last}", f"{first[0]}{last}", f"{first}{rng.randint(1, 99)}", "info", "orders", last)
    )
    host = rng.choice((invented(rng), pick(rng, "nouns"), "example", pick(rng, "nouns") + "mail"))
    return text(f"{box}@{host}.{rng.choice(('com', 'org', 'net', 'io', 'de', 'co.uk', 'example'))}")


def phone(rng: random.Random) -> Value:
    """A telephone number."""
    return code("+## ## ### ####|+1-###-###-####|0### ######|(###) ###-####|+## ### ######|###-####")(rng)


def url(rng: random.Random) -> Value:
    """A web address."""
    path = rng.choice(
        ("", f"/{pick(rng, 'nouns')}", f"/{invented(rng)}/{rng.randint(1, 900)}", "/index.html")
    )
    host = f"{rng.choice((invented(rng), pick(rng, 'nouns')))}.{rng.choice(('com', 'org', 'io', 'net'))}"
    return text(rng.choice(("https://", "https://www.", "http://", "www.")) + host + path)


def path(rng: random.Random) -> Value:
    """A file name or path."""
    ending = rng.choice(("v2", "final", "2024", invented(rng)))
    name = f"{pick(rng, 'nouns')}{rng.choice(('', '_', '-'))}{ending}"
    folder = rng.choice(
        ("", "", f"/var/{invented(rng)}/", f"/home/{invented(rng)}/", f"{pick(rng, 'nouns')}/")
    )
    return text(f"{folder}{name}.{pick(rng, 'file_endings')}")


def street(rng: random.Random) -> Value:
    """Street and house number."""
    name = f"{pick(rng, 'streets')} {pick(rng, 'street_kinds')}"
    return text(rng.choice((f"{rng.randint(1, 240)} {name}", f"{name} {rng.randint(1, 240)}")))


def word(rng: random.Random) -> Value:
    """An invented word, a noun or two of them, in some spelling."""
    made = rng.choice((invented(rng), pick(rng, "nouns"), f"{pick(rng, 'nouns')}-{pick(rng, 'nouns')}"))
    return text(rng.choice((made, made, made.capitalize(), made.upper())))


def address_lines(rng: random.Random) -> Value:
    """A postal address over several lines."""
    lines = [
        person(rng).text,
        street(rng).text,
        f"{code('#####|#### @@|@@# #@@')(rng).text} {pick(rng, 'cities')}",
    ]
    if rng.random() < 0.3:
        lines.insert(1, company(rng).text)
    return text("\n".join(lines))


def paragraph(rng: random.Random) -> Value:
    """A note of two to four lines."""
    noun = pick(rng, "nouns")
    lines = rng.sample(
        (
            f"The {noun} in room {rng.randint(1, 40)} is out of order.",
            f"{pick(rng, 'first_names')} will bring the {pick(rng, 'products')}.",
            f"Check the {pick(rng, 'nouns')} first, then the {pick(rng, 'nouns')}.",
            f"Deadline is {day(rng).text}.",
            f"See {url(rng).text} for details.",
            f"- {pick(rng, 'products')}",
            f"- ask {pick(rng, 'first_names')} about {pick(rng, 'topics')}",
            f"Total: {rng.randint(3, 90)}",
            f"Thanks for your help with {pick(rng, 'topics')}!",
            f"We open at {clock(rng).text}.",
            f"Use code {code('@@@@##')(rng).text} at the door.",
        ),
        rng.randint(2, 4),
    )
    return text("\n".join(lines))
