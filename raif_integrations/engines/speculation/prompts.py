"""What a prompt asks for: the cue at the end of its last user turn, and the text in front of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from raif_integrations.engines.speculation.course import Course, course_of
from raif_integrations.engines.speculation.fields import is_field

_SCHEMA: Final = ("<schema>\n", "\n</schema>")
_TOOLS: Final = ("<tools>\n", "\n</tools>")
_ROLE: Final = re.compile(r"[\s:]*(?:\w{1,12}[\s:]*)?(?:<think>\s*(?:</think>\s*)?)?")
"""What a chat template puts between the user's last word and the reply, without its special tokens."""

CLOSERS: Final = ("</schema>", "</tools>")


@dataclass(frozen=True, slots=True)
class Choice:
    """A name a reply may begin with.

    Attributes:
        name: The tool, or the word for an answer in text.
        course: The fields listed with it.
    """

    name: str
    course: Course


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt asks for.

    Attributes:
        source: The prompt up to the cue: what values are copied from.
        course: The fields of the object; none for a choice of tools.
        choices: The names to choose from, one a line.
        thinks: The reply begins with reasoning, which the template has opened.
    """

    source: str
    course: Course
    choices: tuple[Choice, ...] = ()
    thinks: bool = False


def read_prompt(text: str, reply_at: int, special: frozenset[str]) -> Asked | None:
    """Reads a prompt.

    Args:
        text: The prompt, or its end.
        reply_at: Where the closing tag may stand at the earliest: what a template puts behind it is short.
        special: The special tokens of the tokenizer.

    Returns:
        What is asked for, or ``None`` where the last user turn does not end with a cue.
    """
    ends = [(text.rfind(tags[1], reply_at), tags) for tags in (_SCHEMA, _TOOLS)]
    end, tags = max(ends)
    if end < 0:
        return None
    rest = text[end + len(tags[1]) :]
    for token in special:
        if token in rest:
            rest = rest.replace(token, " ")
    if _ROLE.fullmatch(rest) is None:
        return None
    start = text.rfind(tags[0], 0, end + 1)
    if start < 0:
        return None
    lines = text[start + len(tags[0]) : end].split("\n")
    thinks = "<think>" in rest and "</think>" not in rest
    source = text[:start]
    if tags is _SCHEMA:
        course = course_of(tuple(lines))
        return Asked(source, course, thinks=thinks) if course.units else None
    choices = _read_choices(lines)
    return Asked(source, course_of(()), choices, thinks) if choices else None


def _read_choices(lines: list[str]) -> tuple[Choice, ...]:
    """Names with their fields: behind a name in brackets, or on the lines below it."""
    names: list[tuple[str, list[str]]] = []
    for line in lines:
        name, dash, _ = line.partition(" — ")
        if not dash and names and is_field(line):
            names[-1][1].append(line)
        elif not line.startswith("JSON that fits "):
            offer, fields = _bracketed(line)
            name = name if dash else offer
            if name:
                names.append((name, fields))
    return tuple(Choice(name, course_of(tuple(fields))) for name, fields in names)


def _bracketed(line: str) -> tuple[str, list[str]]:
    """A line without the fields in brackets at its end, and the fields."""
    offer, bracket, listed = line.removesuffix(")").rpartition(" (")
    fields = listed.split(", ")
    if not bracket or not line.endswith(")") or not all(map(is_field, fields)):
        return line, []
    return offer, fields
