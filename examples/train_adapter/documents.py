"""Texts with known facts in them: from templates, or as bags of labelled facts in many layouts."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from train_adapter import tables, texts
from train_adapter.names import person, url
from train_adapter.roles import FLAGS, MULTILINE, ROLES, role_of
from train_adapter.tables import LISTS, TABLES, Table
from train_adapter.values import Value, day
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
    return tuple(
        t
        for i, t in enumerate((*texts.templates("letters.txt"), *texts.templates("forms.txt")))
        if (i % _HELD_BACK == 4) == kept
    )


def document(rng: random.Random, split: str = "train", *, needs: str = "") -> Document:
    """A random text.

    Args:
        rng: Source of chance.
        split: Whose templates to use.
        needs: ``table``, ``list`` or ``multiline`` for a text that has one, else anything.
    """
    way = rng.random()
    if needs == "multiline" or (not needs and way < 0.26):
        made = _bag(rng, needs)
    elif not needs and way < 0.46:
        made = Document("")
        _add_sentences(rng, made, rng.choice((2, 3, 4, 5, 6, 7, 8, 9)), split)
    else:
        fitting = [t for t in templates(split) if not needs or any(_kind(s) == needs for s in slots(t))]
        made = _written(rng, rng.choice(fitting))
        for _ in range(20):
            if not needs or made.tables or made.lists:
                break
            made = _written(rng, rng.choice(fitting))
        if rng.random() < 0.4:
            _add_sentences(rng, made, rng.choice((1, 2, 3, 4)), split)
    if rng.random() < 0.5:
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
    made.scalars[key] = role_of(key).make(rng)
    return made.scalars[key].text


def _add_sentences(rng: random.Random, made: Document, count: int, split: str) -> None:
    """Adds sentences with facts the text does not have yet."""
    kept = split == "validation"
    pool = [t for i, t in enumerate(texts.lines("sentences.txt")) if (i % _HELD_BACK == 4) == kept]
    said: list[str] = []
    for _ in range(count):
        if rng.random() < 0.2:
            key = rng.choice(sorted(FLAGS))
            if key not in made.scalars:
                said.append(_put(rng, made, key))
            continue
        expanded = expand(rng, rng.choice(pool))
        fresh = {slot.rstrip("*") for slot in slots(expanded)}
        if not fresh & (made.scalars.keys() | made.lists.keys()) and not _clash(fresh, made):
            said.append(fill(expanded, {slot: _put(rng, made, slot) for slot in slots(expanded)}))
    joint = rng.choice((" ", " ", "\n"))
    if made.text and rng.random() < 0.25:
        made.text = "\n".join([joint.join(said), made.text]).strip()
    else:
        made.text = rng.choice(("\n", "\n\n", " ")).join(filter(None, (made.text, joint.join(said))))


def _clash(fresh: set[str], made: Document) -> bool:
    """Whether a list in the text might be taken for one of these, or the other way round."""
    return any(key in LISTS or key in TABLES for key in fresh) and bool(made.tables or made.lists)


def _bag(rng: random.Random, needs: str) -> Document:
    """Unrelated facts, each with a label."""
    made = Document("")
    roles = rng.sample(sorted(ROLES), rng.choice((3, 4, 5, 6, 7, 8, 9)))
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
            name = f"{rng.choice((pick(rng, 'nouns'), invented(rng)))} {name}"
        used.update(ROLES[key].names + ROLES[key].short)
        used.add(name)
        made.scalars[key], made.labels[key] = value, name
        label = spelled(rng, spelling, name)
        lines.append(
            (label.capitalize() if spelling == "plain" and rng.random() < 0.7 else label, value.text)
        )
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
        return "\n".join(
            f"| {label} | {text} |" for label, text in [("field", "value"), ("---", "---"), *lines]
        )
    if kind == 3:
        return rng.choice(("; ", ", ", " | ")).join(f"{label}={text}" for label, text in lines)
    if kind == 4:
        return json.dumps(dict(lines), ensure_ascii=False, indent=rng.choice((None, 2)))
    if kind == 5:
        return "\n".join(f"{label} {'.' * (width + 2 - len(label))} {text}" for label, text in lines)
    if kind == 6:
        return " ".join(
            f"{rng.choice(('The', 'Its', 'The', 'Our'))} {label} is {text}." for label, text in lines
        )
    if kind == 7:
        mark = ";" if any("," in text for _, text in lines) else rng.choice((",", ";", "\t"))
        return mark.join(label for label, _ in lines) + "\n" + mark.join(text for _, text in lines)
    if kind == 8:
        tags = ((label.replace(" ", "_"), text) for label, text in lines)
        return "\n".join(f"<{tag}>{text}</{tag}>" for tag, text in tags)
    if kind == 9:
        head = f"[{rng.choice((invented(rng), pick(rng, 'nouns')))}]\n"
        return head + "\n".join(f"{label} = {text}" for label, text in lines)
    if kind == 10:
        return "\n".join(f"{label.ljust(width)}{text}" for label, text in lines)
    if kind == 11:
        return ", ".join(f"{label} {text}" for label, text in lines)
    return "\n".join(f"{label}\n  {text}" for label, text in lines)


def _surrounded(rng: random.Random, text: str) -> str:
    """Puts sentences that matter to nobody around a text."""
    noise = [expand(rng, rng.choice(texts.phrases("noise"))) for _ in range(rng.choice((1, 1, 2, 3)))]
    filled = [
        line.replace("#person", person(rng).text)
        .replace("#day", day(rng).text)
        .replace("#noun", pick(rng, "nouns"))
        .replace("#city", pick(rng, "cities"))
        .replace("#n", str(rng.randint(2, 900)))
        .replace("#url", url(rng).text)
        for line in noise
    ]
    joint = "\n" if "\n" in text else rng.choice((" ", "\n"))
    for line in filled:
        text = f"{line}{joint}{text}" if rng.random() < 0.4 else f"{text}{joint}{line}"
    return text
