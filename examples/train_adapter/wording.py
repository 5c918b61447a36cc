"""The small language of the templates.

``{a|b|}`` is a choice (they nest), ``<role>`` a value, ``<table*>`` a block of lines.
"""

from __future__ import annotations

import random
import re

_CHOICE = re.compile(r"\{([^{}]*)\}")
_SLOT = re.compile(r"<([a-z_]+\*?)>")
_SLOT_AND_NEXT = re.compile(r"<([a-z_]+\*?)>([a-z]?)")


def expand(rng: random.Random, template: str) -> str:
    """Decides every choice; slots stay."""
    while True:
        decided = _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), template)
        if decided == template:
            return decided
        template = decided


def slots(template: str) -> list[str]:
    """The slots of a template, in order, once each; also those in undecided choices."""
    return list(dict.fromkeys(_SLOT.findall(template)))


def fill(template: str, texts: dict[str, str]) -> str:
    """Puts texts into the slots; what is written close to a number (``<quantity>x``) keeps off a word."""

    def put(match: re.Match[str]) -> str:
        text, following = texts[match[1]], match[2]
        return f"{text} {following}" if following and text[-1:].isalpha() else text + following

    return _SLOT_AND_NEXT.sub(put, template)


def listed(rng: random.Random, parts: list[str], last: str = "and") -> str:
    """Parts in a row, joined in one of the usual ways."""
    if len(parts) < 2:
        return "".join(parts)
    way = rng.randrange(4)
    if way == 0:
        return ", ".join(parts[:-1]) + f" {last} {parts[-1]}"
    if way == 1 and len(parts) > 2:
        return ", ".join(parts[:-1]) + f", {last} {parts[-1]}"
    return (", " if way < 3 else "; ").join(parts)


def spelled(rng: random.Random, style: str, words: str) -> str:
    """A field name in a spelling: ``snake``, ``camel``, ``pascal``, ``kebab``, ``plain`` or ``upper``."""
    parts = re.split(r"[ \-]+", words)
    if style == "camel":
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    if style == "pascal":
        return "".join(part.capitalize() for part in parts)
    if style == "kebab":
        return "-".join(parts)
    if style == "plain":
        return " ".join(parts)
    if style == "upper":
        return "_".join(parts).upper()
    return "_".join(parts)


def style(rng: random.Random) -> str:
    """A spelling for the field names of one schema."""
    return rng.choices(("snake", "camel", "pascal", "kebab", "plain", "upper"), (60, 26, 5, 3, 2, 4))[0]
