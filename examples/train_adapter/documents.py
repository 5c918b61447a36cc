"""Texts with known facts in them: from templates, or as bags of labelled facts in many layouts."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from train_adapter import tables, words
from train_adapter.forms import TEMPLATES as FORMS
from train_adapter.letters import TEMPLATES as LETTERS
from train_adapter.roles import ROLES, Role
from train_adapter.tables import LISTS, TABLES, Table
from train_adapter.values import Value, address_lines, day, paragraph, person, url
from train_adapter.wording import expand, fill, slots, spelled, style
from train_adapter.words import invented, pick

_HELD_BACK = 9
"""Every ninth template is kept for the validation split."""


@dataclass(slots=True)
class Document:
    """A text and what it says.

    Attributes:
        text: The text.
        scalars: Values by role.
        lists: Elements by key of the list.
        tables: Tables by key.
        absent: Roles that such a text could have, and this one has not.
        labels: What the text itself calls a role, where it says so.
    """

    text: str
    scalars: dict[str, Value] = field(default_factory=dict)
    lists: dict[str, list[Value]] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)


def templates(split: str) -> tuple[str, ...]:
    """The templates of a split: ``train`` or ``validation``."""
    kept = split == "validation"
    return tuple(t for i, t in enumerate((*LETTERS, *FORMS)) if (i % _HELD_BACK == 4) == kept)


def document(rng: random.Random, split: str = "train", *, needs: str = "") -> Document:
    """A random text.

    Args:
        rng: Source of chance.
        split: Whose templates to use.
        needs: ``table``, ``list`` or ``multiline`` for a text that has one, else anything.
    """
    if needs == "multiline" or (not needs and rng.random() < 0.30):
        made = _bag(rng, needs)
    else:
        fitting = [t for t in templates(split) if not needs or any(_kind(s) == needs for s in slots(t))]
        made = _written(rng, rng.choice(fitting))
        for _ in range(20):
            if not needs or made.tables or made.lists:
                break
            made = _written(rng, rng.choice(fitting))
    if rng.random() < 0.4:
        made.text = _surrounded(rng, made.text)
    if rng.random() < 0.05:
        made.text = made.text.upper() if "\n" in made.text and _only_symbols_change(made) else made.text
    return made


def _only_symbols_change(made: Document) -> bool:
    """Whether capitals leave every value as it is."""
    shown = [value.text for value in made.scalars.values()]
    return not made.tables and not made.lists and all(text == text.upper() for text in shown)


def _kind(slot: str) -> str:
    key = slot.rstrip("*")
    if key in TABLES:
        return "table"
    if key in LISTS:
        return "list"
    return "multiline" if key in ("body", "address") else "scalar"


def _written(rng: random.Random, template: str) -> Document:
    made = Document("")
    expanded = expand(rng, template)
    texts: dict[str, str] = {}
    for slot in slots(expanded):
        texts[slot] = _put(rng, made, slot)
    made.text = fill(expanded, texts)
    made.absent = [slot for slot in slots(template) if slot in ROLES and slot not in made.scalars]
    return made


def _put(rng: random.Random, made: Document, slot: str) -> str:
    """Makes what stands in a slot, notes it, and returns its text."""
    key, block = slot.rstrip("*"), slot.endswith("*")
    if key in TABLES:
        made.tables[key], text = tables.make_table(rng, key, block=block)
        return text
    if key in LISTS:
        made.lists[key] = tables.list_values(rng, key)
        return tables.list_text(rng, made.lists[key], block=block and rng.random() < 0.9)
    role = MULTILINE.get(key) or ROLES[key]
    made.scalars[key] = role.make(rng)
    return made.scalars[key].text


def _bag(rng: random.Random, needs: str) -> Document:
    """Unrelated facts, each with a label."""
    made = Document("")
    roles = rng.sample(sorted(ROLES), rng.choice((2, 3, 4, 5, 6, 7, 8)))
    spelling = rng.choice(("plain", "plain", "plain", style(rng)))
    lines: list[tuple[str, str]] = []
    used: set[str] = set()
    for key in roles:
        names = [name for name in ROLES[key].names if name not in used]
        if not names:
            continue
        value = ROLES[key].make(rng)
        name = rng.choice(names)
        if rng.random() < 0.25:
            name = f"{rng.choice((pick(rng, words.NOUNS), invented(rng)))} {name}"
        used.update(ROLES[key].names + ROLES[key].short)
        used.add(name)
        made.scalars[key], made.labels[key] = value, name
        label = spelled(rng, spelling, name)
        lines.append((label.capitalize() if spelling == "plain" and rng.random() < 0.7 else label, value.text))
    if needs == "multiline":
        key = rng.choice(sorted(MULTILINE))
        made.scalars[key] = MULTILINE[key].make(rng)
        made.labels[key] = rng.choice(MULTILINE[key].names)
        text = made.scalars[key].text
        own = spelled(rng, spelling, made.labels[key])
        block = rng.choice((f"{own}:\n{text}", f"--- {own} ---\n{text}\n---", f'{own}: """\n{text}\n"""'))
        parts = ["\n".join(f"{label}: {shown}" for label, shown in lines), block]
        rng.shuffle(parts)
        made.text = "\n\n".join(parts)
        return made
    made.text = _layout(rng, lines)
    absent = [key for key in rng.sample(sorted(ROLES), 4) if key not in made.scalars]
    made.absent = [key for key in absent if not used & {*ROLES[key].names, *ROLES[key].short}]
    return made


def _layout(rng: random.Random, lines: list[tuple[str, str]]) -> str:
    kind = rng.randrange(13)
    width = max(len(label) for label, _ in lines) + rng.randint(1, 4)
    if kind == 0:
        return "\n".join(f"{label}: {text}" for label, text in lines)
    if kind == 1:
        mark = rng.choice("-*•")
        return "\n".join(f"{mark} {label}: {text}" for label, text in lines)
    if kind == 2:
        return "\n".join(f"| {label} | {text} |" for label, text in [("field", "value"), ("---", "---"), *lines])
    if kind == 3:
        return rng.choice(("; ", ", ", " | ")).join(f"{label}={text}" for label, text in lines)
    if kind == 4:
        return json.dumps(dict(lines), ensure_ascii=False, indent=rng.choice((None, 2)))
    if kind == 5:
        return "\n".join(f"{label} {'.' * (width + 2 - len(label))} {text}" for label, text in lines)
    if kind == 6:
        return " ".join(f"{rng.choice(('The', 'Its', 'The', 'Our'))} {label} is {text}." for label, text in lines)
    if kind == 7:
        mark = ";" if any("," in text for _, text in lines) else rng.choice((",", ";", "\t"))
        return mark.join(label for label, _ in lines) + "\n" + mark.join(text for _, text in lines)
    if kind == 8:
        tags = ((label.replace(" ", "_"), text) for label, text in lines)
        return "\n".join(f"<{tag}>{text}</{tag}>" for tag, text in tags)
    if kind == 9:
        head = f"[{rng.choice((invented(rng), pick(rng, words.NOUNS)))}]\n"
        return head + "\n".join(f"{label} = {text}" for label, text in lines)
    if kind == 10:
        return "\n".join(f"{label.ljust(width)}{text}" for label, text in lines)
    if kind == 11:
        return ", ".join(f"{label} {text}" for label, text in lines)
    return "\n".join(f"{label}\n  {text}" for label, text in lines)


def _surrounded(rng: random.Random, text: str) -> str:
    """Puts sentences that matter to nobody around a text."""
    noise = [expand(rng, rng.choice(_NOISE)) for _ in range(rng.choice((1, 1, 2)))]
    filled = [
        line.replace("#person", person(rng).text)
        .replace("#day", day(rng).text)
        .replace("#noun", pick(rng, words.NOUNS))
        .replace("#city", pick(rng, words.CITIES))
        .replace("#n", str(rng.randint(2, 900)))
        .replace("#url", url(rng).text)
        for line in noise
    ]
    joint = "\n" if "\n" in text else rng.choice((" ", "\n"))
    for line in filled:
        text = f"{line}{joint}{text}" if rng.random() < 0.4 else f"{text}{joint}{line}"
    return text


_NOISE = (
    "{This is an automatic message.|Do not reply to this mail.|Sent from my phone}",
    "{Page 1 of 2|Page 1/1|- 1 -|Copy}",
    "{Have a nice day!|All the best|Take care|Many thanks in advance.}",
    "{The|A} #noun was {fine|closed|lovely} as always.",
    "{By the way, |}the {weather|traffic|coffee} was {awful|great|not bad}.",
    "{CONFIDENTIAL|INTERNAL USE ONLY|DRAFT|FYI}",
    "{Sorry for|Please excuse} the {delay|short notice|long mail}.",
    "{I hope you are well.|Hope this helps.|As discussed.|See below.}",
    "{------|======|* * *|~~~}",
    "{Nobody|No one} {knows|could say} why the #noun {is|was} there.",
    "{You receive this because you|You} {signed up|registered} with us.",
    "{We also looked at|There is also} the #noun, but that is {another story|not part of this}.",
    "{Please keep this for your records.|Keep this slip.|Thank you for your business.}",
)


MULTILINE = {
    "body": Role("body", paragraph, ("body", "text", "message", "content", "notes", "description"), (), ()),
    "address": Role("address", address_lines, ("address", "shipping address", "ship to", "full address"), (), ()),
}
"""Roles of texts that run over several lines."""
