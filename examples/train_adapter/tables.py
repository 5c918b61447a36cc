"""Lists and tables in texts: their columns, what a field for them is called, and how they are written."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from train_adapter import words
from train_adapter.roles import ROLES
from train_adapter.values import Value
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


def _table(names: str, columns: str, *rows: str) -> TableRole:
    return TableRole(tuple(names.split("|")), tuple(columns.split()), rows)


TABLES: dict[str, TableRole] = {
    "items": _table(
        "items|lines|products|line items|articles|positions",
        "product quantity price sku",
        "<quantity> x <product> {at|@} <price>{ each|}",
        "<product> (<quantity>){:| -} <price>",
        "<quantity> <product>, <price>{ each|}",
        "<product>, <quantity> pcs, <price>",
        "<sku> <product> <quantity> {x|×} <price>",
        "<product>{ ... | .... | - |: }<price>",
        "<quantity>x <product>",
        "{item |art. |}<sku>: <quantity> of <product>",
    ),
    "order_lines": _table(
        "items|order items|cart|basket|goods",
        "product colour size quantity",
        "<quantity> {x |}<product>, <colour>, <size>",
        "<product> ({in |}<colour>), {qty|quantity} <quantity>",
        "<quantity> <colour> <product>",
        "<product> - <size> - <quantity>",
    ),
    "people": _table(
        "people|participants|attendees|members|contacts|team|staff",
        "contact job email phone",
        "<contact>, <job>",
        "<contact> (<job>)",
        "<contact> (<email>)",
        "<contact>: <phone>",
        "<contact>, <job>, <email>",
        "<job>: <contact>",
    ),
    "schedule": _table(
        "schedule|sessions|agenda|program|slots|talks",
        "time event host room_name",
        "<time> <event>",
        "<time> - <event> ({with |}<host>)",
        "{at |}<time>: <event> in <room_name>",
        "<event>, <time>, {room |}<room_name>",
        "<event> by <host>",
    ),
    "tasks": _table(
        "tasks|action items|todos|actions|assignments",
        "task assignee due_date priority",
        "<assignee>: <task>{ by| until|, due} <due_date>",
        "<task> ({owner: |}<assignee>)",
        "<task> - <assignee> - <due_date>",
        "[ ] <task> {@|}<assignee>",
        "<assignee> {will take|takes care of|to do} <task> {by|before} <due_date>",
        "<task>, priority <priority>",
    ),
    "legs": _table(
        "legs|flights|stops|segments|trips|connections",
        "flight origin destination departure_time",
        "<flight> {from |}<origin> {to|-|→} <destination>{ at|,} <departure_time>",
        "<origin> {to|-|→} <destination>, <departure_time>",
        "<flight>: <origin> - <destination>",
    ),
    "readings": _table(
        "readings|measurements|samples|sensors|values|data points",
        "device_name temperature humidity timestamp",
        "<timestamp> <device_name> <temperature>",
        "<device_name>: <temperature>{,| /} <humidity>",
        "<device_name>=<temperature>",
        "<timestamp>, <temperature>, <humidity>",
        "{sensor |}<device_name> {reads|reported|shows} <temperature>",
    ),
    "lab": _table(
        "tests|results|lab results|labs|analytes",
        "code_word lab_value sentiment",
        "<code_word>{:|} <lab_value>",
        "<code_word> <lab_value> (<sentiment>)",
        "<code_word>: <sentiment>",
    ),
    "ingredient_rows": _table(
        "ingredients|components|shopping list",
        "ingredient weight",
        "<weight> {of |}<ingredient>",
        "<ingredient>{,|:| -} <weight>",
        "<ingredient> (<weight>)",
    ),
    "expenses": _table(
        "expenses|transactions|payments|charges|costs|bookings",
        "date shop price department",
        "<date> <shop> <price>",
        "<shop>: <price>",
        "<price> at <shop>{ on|,} <date>",
        "<date>, <shop>, <price>",
        "<department>: <price>",
    ),
    "scores": _table(
        "scores|results|standings|grades|players|ranking",
        "user score city",
        "<user>{:| -|} <score>{ points|}",
        "<user> ({from |}<city>), <score>",
        "<score> - <user>",
        "<user> {got|scored|has} <score>",
    ),
    "events": _table(
        "log entries|events|entries|logs|errors|incidents",
        "timestamp log_level service status_code",
        "<timestamp> <log_level> <service> {status=|}<status_code>",
        "<timestamp> [<log_level>] <service>",
        "<service> {returned|->|answered} <status_code>",
        "<log_level>: <service> (<status_code>)",
    ),
    "drugs": _table(
        "medications|medicines|prescriptions|drugs",
        "drug dose frequency",
        "<drug> <dose> <frequency>",
        "<drug> (<dose>)",
        "<dose> {of |}<drug>, <frequency>",
        "<drug>: <frequency>",
    ),
    "jobs": _table(
        "jobs|experience|positions|employment|work history",
        "job employer start_date end_date",
        "<job> at <employer>, <start_date> {-|to|until} <end_date>",
        "<employer>: <job>{ since| from} <start_date>",
        "<start_date> - <end_date>: <job>, <employer>",
        "<job>, <employer>",
    ),
    "stock": _table(
        "stock|inventory|parts|materials|goods",
        "part sku quantity_left warehouse",
        "<sku> <part>{:| -} <quantity_left>",
        "<part>, <quantity_left> {left|in stock|on hand}",
        "<quantity_left> {x |}<part> {in|at} <warehouse>",
        "<part> (<sku>), <warehouse>",
    ),
    "cities_rows": _table(
        "cities|offices|locations|branches|sites|places",
        "city country phone population",
        "<city>, <country>",
        "<city> (<country>){:|,} <phone>",
        "<city>: <population>",
        "<city> - <population> - <country>",
    ),
    "books": _table(
        "books|titles|works|loans|reading list",
        "book author year",
        "<book> by <author> (<year>)",
        "<author>{:|,} <book>",
        "'<book>', <year>",
    ),
}

_LISTS: dict[str, tuple[str, Callable[[random.Random], Value]]] = {
    "topics": ("topics|tags|subjects|keywords|categories|themes", ROLES["topic"].make),
    "skills": ("skills|qualifications|competencies|strengths", lambda rng: Value(pick(rng, words.SKILLS), ())),
    "languages": ("languages|spoken languages", ROLES["language"].make),
    "names": ("names|participants|attendees|guests|members|present", ROLES["contact"].make),
    "cities": ("cities|stops|places|destinations|locations", ROLES["city"].make),
    "colours": ("colors|colours|available colors", ROLES["colour"].make),
    "ingredients": ("ingredients|shopping list|needed", lambda rng: Value(pick(rng, words.INGREDIENTS), ())),
    "allergens": ("allergens|allergies|exclude|dietary restrictions", lambda rng: Value(pick(rng, words.INGREDIENTS), ())),
    "codes": ("codes|skus|article numbers|ids", ROLES["sku"].make),
    "emails": ("emails|recipients|cc|invitees|to", ROLES["email"].make),
    "files": ("files|attachments|documents|paths", ROLES["file"].make),
    "products": ("products|items|articles|things", ROLES["product"].make),
    "symptoms": ("symptoms|complaints|findings", ROLES["symptom"].make),
    "numbers": ("numbers|values|readings|data|scores", ROLES["score"].make),
    "prices": ("prices|amounts|bids|payments", ROLES["price"].make),
    "labels": ("labels|tags|flags|features", ROLES["code_word"].make),
    "weekdays": ("days|weekdays|open days|available days", ROLES["weekday"].make),
    "steps": ("steps|notes|remarks|comments|findings", ROLES["remark"].make),
    "services": ("services|modules|affected services", ROLES["service"].make),
}

LISTS = {key: tuple(names.split("|")) for key, (names, _) in _LISTS.items()}


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
    return "\n".join(f"{index}. {line}" if mark == "#" else mark + line for index, line in enumerate(texts, 1))


def _cell(rng: random.Random, column: str) -> Value:
    if column == "ingredient":
        chosen = pick(rng, words.INGREDIENTS)
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
    heads = [spelled(rng, spelling, rng.choice(column_names(column))) for column in shown]
    if spelling == "plain" and rng.random() < 0.6:
        heads = [head.capitalize() for head in heads]
    cells = [[row[column].text for column in shown] for row in rows]
    kind = rng.randrange(5)
    if kind == 0:
        rule = "|" + "|".join("---" for _ in shown) + "|"
        return "\n".join(["| " + " | ".join(heads) + " |", rule, *("| " + " | ".join(line) + " |" for line in cells)])
    if kind == 1 or kind == 2:
        mark = ";" if any("," in cell for line in cells for cell in line) else rng.choice((",", ";", " | ", "\t"))
        return "\n".join(mark.join(line) for line in [heads, *cells])
    if kind == 3:
        widths = [max(len(line[i]) for line in [heads, *cells]) + 2 for i in range(len(shown))]
        return "\n".join(
            "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in [heads, *cells]
        )
    joint = rng.choice(("\n", ", "))
    gap = "\n\n" if joint == "\n" else "\n"
    return gap.join(joint.join(f"{head}: {cell}" for head, cell in zip(heads, line, strict=True)) for line in cells)


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
