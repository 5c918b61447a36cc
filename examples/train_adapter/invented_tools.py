"""Tools by composition: a verb, an object and a handful of roles, and requests made of the roles' phrases."""

from __future__ import annotations

import random
from dataclasses import dataclass

from train_adapter.roles import ROLES
from train_adapter.wording import expand
from train_adapter.words import invented, pick


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """A tool to be.

    Attributes:
        names: Alternatives for its name, words apart.
        description: What it does (a template).
        requests: Ways to ask for it (templates whose slots are its parameters).
        fallback: Roles it has beside those of the request; always optional.
        opening: How a request for it begins, before any parameter (a template).
    """

    names: tuple[str, ...]
    description: str
    requests: tuple[str, ...]
    fallback: tuple[str, ...] = ()
    opening: str = ""


_ACTIONS = {
    "create": (
        "create|add|new|register|make",
        "{Create|Add|Make|Register|Set up|Enter}",
        "{Create|Add|Register}",
    ),
    "delete": (
        "delete|remove|cancel|drop",
        "{Delete|Remove|Cancel|Get rid of|Drop}",
        "{Delete|Remove|Cancel}",
    ),
    "update": ("update|change|edit|modify", "{Update|Change|Edit|Modify|Correct}", "{Update|Change|Edit}"),
    "list": ("list|search|find|show", "{List|Search|Find|Show me|Look for}", "{List|Search|Find}"),
    "get": ("get|fetch|lookup|check", "{Get|Fetch|Look up|Check|Pull up}", "{Get|Look up|Check}"),
    "send": ("send|share|forward", "{Send|Share|Forward|Pass on}", "{Send|Share}"),
    "start": ("start|run|launch|trigger", "{Start|Run|Launch|Kick off|Trigger}", "{Start|Run}"),
    "stop": ("stop|pause|halt", "{Stop|Pause|Halt|Hold}", "{Stop|Pause}"),
    "book": ("book|reserve|schedule", "{Book|Reserve|Schedule|Arrange}", "{Book|Reserve}"),
    "approve": ("approve|confirm|accept", "{Approve|Confirm|Accept|Sign off}", "{Approve|Confirm}"),
}
_BEGINNINGS = (
    "",
    "",
    "",
    "Please ",
    "Can you ",
    "Could you ",
    "I need you to ",
    "Hey, ",
    "I want to ",
    "Would you ",
)
_ENDS = (".", ".", "", "?", ", please.", ", thanks", "!")


def look_alikes(rng: random.Random, count: int) -> list[ToolPlan]:
    """Tools on the same object with different verbs."""
    thing = _thing(rng)
    return [_compose(rng, action, thing) for action in rng.sample(sorted(_ACTIONS), count)]


def invent(rng: random.Random) -> ToolPlan:
    """One tool."""
    return _compose(rng, rng.choice(sorted(_ACTIONS)), _thing(rng))


def _thing(rng: random.Random) -> str:
    thing = pick(rng, "objects")
    if rng.random() < 0.25:
        thing = f"{rng.choice((pick(rng, 'nouns'), invented(rng)))} {thing}"
    return thing


def _compose(rng: random.Random, action: str, thing: str) -> ToolPlan:
    verbs, said, described = _ACTIONS[action]
    names = tuple(f"{verb} {thing}" for verb in verbs.split("|"))
    pool = [key for key in sorted(ROLES) if ROLES[key].phrases]
    chosen: list[str] = []
    taken: set[str] = set()
    for key in rng.sample(pool, 10):
        heads = {ROLES[key].names[0], *ROLES[key].short}
        starts = {phrase.split("<")[0] for phrase in ROLES[key].phrases}
        if not heads & taken and not starts & taken - {""}:
            chosen.append(key)
            taken |= heads | starts
    chosen = chosen[: rng.choice((1, 2, 2, 3, 3, 4, 5))]
    requests = tuple(_request(rng, said, thing, chosen) for _ in range(3))
    spare = tuple(key for key in rng.sample(pool, 2) if key not in chosen)
    article = "an" if thing[0] in "aeiou" else "a"
    return ToolPlan(names, f"{described} {article} {thing}", requests, spare, f"{said} the {thing}")


def _request(rng: random.Random, said: str, thing: str, roles: list[str]) -> str:
    order = rng.sample(roles, len(roles))
    parts = []
    for index, key in enumerate(order):
        role = ROLES[key]
        if rng.random() < 0.3:
            label = rng.choice(role.names[:2])
            way = rng.choice(
                (
                    f"with {label} <v>",
                    f"{label} <v>",
                    f"{label}: <v>",
                    f"{label} is <v>",
                    f"set {label} to <v>",
                )
            )
        else:
            way = rng.choice(role.phrases)
        way = way.replace("<v>", f"<{key}>")
        parts.append(f"{{ {way}|}}" if index and rng.random() < 0.3 else f" {way}")
    commas = rng.random() < 0.35
    body = (
        ("," if commas else "").join(parts)
        if not commas
        else "".join(
            part if not index else (part.replace("{ ", "{, ") if part.startswith("{") else "," + part)
            for index, part in enumerate(parts)
        )
    )
    verb = said if rng.random() < 0.75 else said.lower()
    article = rng.choice(("a", "the", "the", "my", "our", "this"))
    return f"{rng.choice(_BEGINNINGS)}{verb} {article} {thing}{body}{rng.choice(_ENDS)}"


def tidy(rng: random.Random, request: str) -> str:
    """Decides the choices of a request and puts its capitals right."""
    text = expand(rng, request)
    for beginning in _BEGINNINGS:
        if beginning and text.startswith(beginning):
            rest = text[len(beginning) :]
            return beginning + rest[:1].lower() + rest[1:]
    return text[:1].upper() + text[1:] if rng.random() < 0.8 else text
