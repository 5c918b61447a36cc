"""Lists and tables in texts: their columns, what a field for them is called, and how they are written."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from train_adapter import texts
from train_adapter.roles import ROLES
from train_adapter.values import Maker, Value, of
from train_adapter.wording import expand, fill, listed, slots, spelled, style
from train_adapter.words import pick


@dataclass(frozen=True, slots=True)
class TableRole:
    """A table in a text.

    Attributes:
        names: What a field for it may be called.
        columns: Roles of the columns.
        rows: Ways to write one row.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it stands in a text: its rows by column, and the columns that the text shows."""

    role: TableRole
    rows: tuple[dict[str, Value], ...]
    shown: tuple[str, ...]


TABLES = {
    key: TableRole(tuple(names.split("|")), tuple(columns.split()), tuple(rows))
    for key, names, columns, *rows in texts.blocks("tables.txt")
}
"""Tables by key."""


def _lists() -> dict[str, tuple[tuple[str, ...], Maker]]:
    found = {}
    for line in texts.lines("lists.txt"):
        key, names, elements = (part.strip() for part in line.split(";"))
        make = of(elements[3:]) if elements.startswith("of ") else ROLES[elements].make
        found[key] = (tuple(names.split("|")), make)
    return found


_LISTS = _lists()

LISTS = {key: names for key, (names, _) in _LISTS.items()}
"""What a field for a list may be called, by its key."""


def list_values(rng: random.Random, key: str) -> list[Value]:
    """One to six different elements."""
    found: dict[str, Value] = {}
    for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 5, 6))):
        value = _LISTS[key][1](rng)
        found.setdefault(value.text, value)
    return list(found.values())


def list_text(rng: random.Random, elements: list[Value], *, block: bool) -> str:
    """The elements in a row, or one a line."""
    texts = [element.text for element in elements]
    if not block:
        return listed(rng, texts)
    mark = rng.choice(("- ", "* ", "• ", "", "#"))
    return "\n".join(
        f"{index}. {line}" if mark == "#" else mark + line for index, line in enumerate(texts, 1)
    )


def _cell(rng: random.Random, column: str) -> Value:
    if column == "ingredient":
        chosen = pick(rng, "ingredients")
        return Value(chosen, (({"type": "string"}, chosen, 1.0),))
    return ROLES[column].make(rng)


def column_names(column: str) -> tuple[str, ...]:
    """What a field for a column may be called."""
    if column == "ingredient":
        return ("ingredient", "name", "item")
    role = ROLES[column]
    return role.names[:3] + role.short[:1]


def make_table(rng: random.Random, key: str, *, block: bool) -> tuple[Table, str]:
    """A table with one to six rows, and how it stands in the text."""
    role = TABLES[key]
    count = rng.choices((1, 2, 3, 4, 5, 6), (22, 26, 24, 16, 8, 4))[0]
    rows = tuple({column: _cell(rng, column) for column in role.columns} for _ in range(count))
    if block and rng.random() < 0.45:
        count_shown = rng.randint(2, len(role.columns))
        shown = tuple(rng.sample(role.columns, count_shown))
        return Table(role, rows, shown), _grid(rng, rows, shown)
    template = expand(rng, rng.choice(role.rows))
    shown = tuple(slots(template))
    lines = [fill(template, {column: row[column].text for column in shown}) for row in rows]
    if not block:
        joint = rng.choice((", ", "; ", "; ")) if "," not in template else "; "
        last = rng.choice((joint, joint, " and "))
        shown_text = joint.join(lines[:-1]) + last + lines[-1] if len(lines) > 1 else lines[0]
        return Table(role, rows, shown), shown_text
    mark = rng.choice(("- ", "* ", "  ", "", "", "#"))
    numbered = [f"{i}) {line}" if mark == "#" else mark + line for i, line in enumerate(lines, 1)]
    return Table(role, rows, shown), "\n".join(numbered)


def _grid(rng: random.Random, rows: tuple[dict[str, Value], ...], shown: tuple[str, ...]) -> str:
    """Markdown, CSV, tabs, aligned columns, or a block of ``key: value`` lines for each row."""
    spelling = rng.choice(("plain", "plain", style(rng)))
    heads: list[str] = []
    for column in shown:
        free = [name for name in column_names(column) if spelled(rng, spelling, name) not in heads]
        heads.append(spelled(rng, spelling, rng.choice(free or [column])))
    if spelling == "plain" and rng.random() < 0.6:
        heads = [head.capitalize() for head in heads]
    cells = [[row[column].text for column in shown] for row in rows]
    kind = rng.randrange(5)
    if kind == 0:
        rule = "|" + "|".join("---" for _ in shown) + "|"
        return "\n".join(
            ["| " + " | ".join(heads) + " |", rule, *("| " + " | ".join(line) + " |" for line in cells)]
        )
    if kind == 1 or kind == 2:
        mark = (
            ";"
            if any("," in cell for line in cells for cell in line)
            else rng.choice((",", ";", " | ", "\t"))
        )
        return "\n".join(mark.join(line) for line in [heads, *cells])
    if kind == 3:
        widths = [max(len(line[i]) for line in [heads, *cells]) + 2 for i in range(len(shown))]
        return "\n".join(
            "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in [heads, *cells]
        )
    joint = rng.choice(("\n", ", "))
    gap = "\n\n" if joint == "\n" else "\n"
    return gap.join(
        joint.join(f"{head}: {cell}" for head, cell in zip(heads, line, strict=True)) for line in cells
    )


def form_of(rng: random.Random, first: Value) -> int:
    """Which form to ask for; the same one for all elements of a column."""
    weights = [weight for _, _, weight in first.forms]
    return rng.choices(range(len(weights)), weights)[0]


def asked(rng: random.Random, table: Table) -> tuple[dict[str, Any], list[Any]]:
    """Schema and value of a table, with some of the columns the text shows."""
    columns = list(table.shown)
    count = rng.choice((1, len(columns), len(columns), 2, 3))
    columns = rng.sample(columns, min(count, len(columns)))
    spelling = style(rng)
    properties: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = [{} for _ in table.rows]
    used: set[str] = set()
    for column in columns:
        names = [name for name in column_names(column) if name not in used]
        if not names:
            continue
        name = spelled(rng, spelling, rng.choice(names))
        used.update(names)
        first = table.rows[0][column]
        form = form_of(rng, first)
        properties[name] = dict(first.forms[form][0])
        for row, values in zip(rows, table.rows, strict=True):
            row[name] = values[column].forms[form][1]
    required = list(properties)
    items: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    return {"type": "array", "items": items}, rows
