"""Roles: what a value means, what a field for it may be called, and how one says it in a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from train_adapter import names as n
from train_adapter import texts
from train_adapter import values as v


@dataclass(frozen=True, slots=True)
class Role:
    """What a value is.

    Attributes:
        key: Name of the role in templates.
        make: Makes values for it.
        names: What a field for it may be called, words apart.
        short: Names that fit other roles too; used only where nothing else in the text would fit.
        phrases: How a request mentions the value, which stands for ``<v>``.
    """

    key: str
    make: v.Maker
    names: tuple[str, ...]
    short: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()


_PLAIN: dict[str, v.Maker] = {
    "clock": v.clock,
    "company": n.company,
    "day": v.day,
    "duration": v.duration,
    "email": n.email,
    "first_name": n.first_name,
    "loose_day": v.loose_day,
    "moment": v.moment,
    "path": n.path,
    "person": n.person,
    "phone": n.phone,
    "phrase": n.phrase,
    "product": n.product,
    "shop": n.shop,
    "street": n.street,
    "title": n.title,
    "url": n.url,
    "word": n.word,
}

_MADE: dict[str, Callable[[list[str]], v.Maker]] = {
    "bare_number": lambda given: v.number(int(given[0]), int(given[1]), separators=False),
    "choice": lambda given: v.choice(tuple(given)),
    "code": lambda given: v.code("|".join(given)),
    "flag": lambda _: v.flag(),
    "measure": lambda given: v.measure(float(given[0]), float(given[1]), *given[3:], decimals=int(given[2])),
    "money": lambda given: v.money(float(given[0]), float(given[1])),
    "number": lambda given: v.number(int(given[0]), int(given[1])),
    "of": lambda given: v.of(given[0]),
}


def _alternatives(part: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in part.split("|") if name.strip())


def _roles() -> dict[str, Role]:
    found: dict[str, Role] = {}
    for head, below in texts.sections("roles.txt"):
        name, _, given = head.partition(" ")
        make = _PLAIN.get(name) or _MADE[name](given.split("|"))
        for line in below:
            key, names, short, phrases = ([part.strip() for part in line.split(";")] + ["", "", ""])[:4]
            found[key] = Role(
                key,
                make,
                _alternatives(names) or (key.replace("_", " "),),
                _alternatives(short),
                _alternatives(phrases),
            )
    return found


ROLES = _roles()
"""Roles by key."""

MULTILINE = {
    "body": Role("body", n.paragraph, ("body", "text", "message", "content", "notes", "description")),
    "address": Role("address", n.address_lines, ("address", "shipping address", "ship to", "full address")),
}
"""Roles of texts that run over several lines."""

FLAGS = {
    f"said_{names.split('|')[0].replace(' ', '_')}": Role(
        names.split("|")[0], v.flag(_alternatives(yes), _alternatives(no)), _alternatives(names)
    )
    for names, yes, no in texts.blocks("flags.txt")
}
"""Roles of truth values that are said in a sentence."""


def role_of(key: str) -> Role:
    """The role behind a key, of whatever sort."""
    return MULTILINE.get(key) or FLAGS.get(key) or ROLES[key]
