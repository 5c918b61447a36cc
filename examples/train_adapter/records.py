"""Exercises of the kind "here is a text, fill this schema": schemas with random fields, names and nesting."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from train_adapter import tables, texts
from train_adapter.documents import Document, document
from train_adapter.items import Item
from train_adapter.roles import MULTILINE, ROLES, Role, role_of
from train_adapter.tables import LISTS, TABLES
from train_adapter.values import Value
from train_adapter.wording import expand, spelled, style
from train_adapter.words import invented, pick

Schema = dict[str, Any]

_MISSING = object()


@dataclass(slots=True)
class _Field:
    """A field of the schema to be: where the value is absent, it is ``_MISSING``."""

    name: str
    schema: Schema
    value: Any
    theme: str = ""


_THEMES = {
    "address": ("street", "zip", "city", "country"),
    "contact": ("email", "phone", "contact", "website"),
    "customer": ("customer", "customer_id", "email", "phone", "city"),
    "period": ("start_date", "end_date", "start_time", "end_time", "duration"),
    "stay": ("check_in", "check_out", "nights", "room_type"),
    "payment": ("total", "tax", "payment", "tip", "subtotal", "shipping", "due_date"),
    "trip": ("origin", "destination", "departure_time", "arrival_time", "flight"),
    "device": ("device_name", "version", "battery", "ip", "host_name"),
    "vitals": ("temperature", "pulse", "weight", "height"),
    "position": ("latitude", "longitude", "distance_m"),
}
_GROUPS = ("details", "info", "data", "meta", "header", "general", "main", "summary", "record", "extra")
_MANY = ("item", "entry", "row")


def record(rng: random.Random, split: str = "train") -> Item:
    """One exercise."""
    needs = rng.choices(("", "table", "list", "multiline"), (56, 24, 14, 6))[0]
    while True:
        source = document(rng, split, needs=needs)
        if len(source.text) > 1100:
            continue
        fields = _fields(rng, source, needs)
        if fields:
            break
    spelling = style(rng)
    nested = rng.random() < (0.3 if len(fields) > 2 else 0.06)
    schema, value = _nest(rng, fields, spelling) if nested else _object(rng, fields, spelling)
    schema["title"] = pick(rng, "nouns").capitalize()
    return Item(_kind(source, schema, value, nested=nested), messages(rng, source.text), schema, value)


def messages(rng: random.Random, text: str) -> list[dict[str, Any]]:
    """The conversation around a text: with or without a system message and a request."""
    said: list[dict[str, Any]] = []
    if rng.random() < 0.2:
        said.append({"role": "system", "content": expand(rng, rng.choice(texts.phrases("record_system")))})
    if rng.random() < 0.62:
        ask = expand(rng, rng.choice(texts.phrases("record_requests")))
        joint = rng.choice(("\n\n", "\n", "\n")) if "\n" in text else rng.choice((" ", "\n", "\n\n"))
        text = f"{text}{joint}{ask.rstrip(':')}" if rng.random() < 0.2 else f"{ask}{joint}{text}"
    said.append({"role": "user", "content": text})
    return said


def _fields(rng: random.Random, source: Document, needs: str) -> list[_Field]:
    chosen: list[_Field] = []
    taken: set[str] = set()
    scalars = list(source.scalars)
    rng.shuffle(scalars)
    if needs == "multiline":
        scalars.sort(key=lambda key: key not in MULTILINE)
    most = rng.choice((1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8))
    if needs in ("table", "list"):
        most = rng.choice((0, 1, 2, 2, 3, 3, 4))
    for key in scalars[:most]:
        name = _name(rng, source, key, taken)
        if name is not None:
            schema, value = source.scalars[key].choose(rng)
            name = _longer(rng, name, key, source.scalars[key].unit if schema["type"] != "string" else "")
            chosen.append(_Field(name, _described(rng, schema, role_of(key)), value, key))
    for list_key, elements in source.lists.items():
        if needs == "list" or rng.random() < 0.5:
            _add(rng, chosen, taken, LISTS[list_key], *_list(rng, elements))
    for table_key, table in source.tables.items():
        if needs == "table" or rng.random() < 0.5:
            _add(rng, chosen, taken, TABLES[table_key].names, *tables.asked(rng, table))
    if chosen and rng.random() < 0.4:
        _add_absent(rng, source, chosen, taken)
    if chosen and rng.random() < 0.05:
        _add_empty(rng, source, chosen, taken)
    return chosen


def _add(
    rng: random.Random,
    chosen: list[_Field],
    taken: set[str],
    names: Sequence[str],
    schema: Schema,
    value: Any,
) -> None:
    free = [name for name in names if name not in taken]
    if free:
        name = rng.choice(free)
        taken.add(name)
        chosen.append(_Field(name, schema, value))


def _name(rng: random.Random, source: Document, key: str, taken: set[str]) -> str | None:
    """A name for a field that fits this role and no other one in the text."""
    role = role_of(key)
    others: set[str] = set(taken)
    for other in source.scalars:
        if other != key:
            others.update(role_of(other).names + role_of(other).short)
            others.add(source.labels.get(other, ""))
    if key in source.labels and rng.random() < 0.7 and source.labels[key] not in taken:
        taken.add(source.labels[key])
        return source.labels[key]
    if key in source.labels and source.labels[key] not in role.names:
        return None
    pool = role.short if role.short and rng.random() < 0.25 else role.names
    free = [name for name in pool if name not in others]
    if not free:
        return None
    name = rng.choice(free)
    taken.add(name)
    return name


_OWNERS = (
    "customer",
    "contact",
    "client",
    "user",
    "guest",
    "shipping",
    "billing",
    "company",
    "home",
    "event",
)


def _longer(rng: random.Random, name: str, key: str, unit: str) -> str:
    """A name with what schemas like to add: the unit of a number, whose address it is."""
    if unit and rng.random() < 0.3:
        return f"{name} {unit}"
    if key in (*_THEMES["address"], "email", "phone", "website") and rng.random() < 0.2:
        return f"{rng.choice(_OWNERS)} {name}"
    return name


def _described(rng: random.Random, schema: Schema, role: Role) -> Schema:
    if rng.random() < 0.3:
        schema["description"] = expand(rng, "{The |}" + rng.choice(role.names)).capitalize()
    return schema


def _list(rng: random.Random, elements: list[Value]) -> tuple[Schema, list[Any]]:
    if not elements[0].forms:
        return {"type": "array", "items": {"type": "string"}}, [element.text for element in elements]
    form = tables.form_of(rng, elements[0])
    schema = dict(elements[0].forms[form][0])
    return {"type": "array", "items": schema}, [element.forms[form][1] for element in elements]


def _add_absent(rng: random.Random, source: Document, chosen: list[_Field], taken: set[str]) -> None:
    """Fields that the text does not answer: optional ones are left out, nullable ones are null."""
    present: set[str] = set()
    for key in source.scalars:
        present.update(role_of(key).names + role_of(key).short)
    for list_key in source.lists:
        present.update(LISTS[list_key])
    pool = [key for key in source.absent if key not in source.scalars]
    if rng.random() < 0.3 or not pool:
        pool = [key for key in rng.sample(sorted(ROLES), 6) if key not in source.scalars]
    for key in rng.sample(pool, min(len(pool), rng.choice((1, 1, 2, 3)))):
        free = [name for name in ROLES[key].names if name not in present and name not in taken]
        if not free:
            continue
        name = rng.choice(free)
        taken.add(name)
        schema, _ = ROLES[key].make(rng).choose(rng)
        chosen.append(_Field(name, _described(rng, schema, ROLES[key]), _MISSING))


def _add_empty(rng: random.Random, source: Document, chosen: list[_Field], taken: set[str]) -> None:
    """A list the text has nothing for."""
    key = rng.choice([key for key in LISTS if key not in source.lists])
    clash = {name for table in source.tables.values() for name in table.role.names}
    free = [name for name in LISTS[key] if name not in clash and name not in taken]
    if free and not source.tables and not source.lists:
        taken.add(free[0])
        chosen.append(_Field(free[0], {"type": "array", "items": {"type": "string"}}, []))


def _object(rng: random.Random, fields: list[_Field], spelling: str) -> tuple[Schema, dict[str, Any]]:
    """A flat object of fields; which are optional is chance, but absent ones always are."""
    share = rng.choice((0.0, 0.0, 0.0, 0.3, 0.6))
    properties: dict[str, Schema] = {}
    required: list[str] = []
    value: dict[str, Any] = {}
    for one in rng.sample(fields, len(fields)):
        name = spelled(rng, spelling, one.name)
        if name in properties:
            continue
        schema = dict(one.schema)
        absent = one.value is _MISSING
        null = absent and rng.random() < 0.3
        if null or (not absent and share and rng.random() < 0.15 and "enum" not in schema):
            if isinstance(schema.get("type"), str) and "enum" not in schema:
                schema["type"] = [schema["type"], "null"]
            elif null:
                null = False
        if null:
            value[name] = None
        elif not absent:
            value[name] = one.value
        if (null and rng.random() < 0.7) or (not absent and rng.random() >= share):
            required.append(name)
        properties[name] = schema
    made: Schema = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    if rng.random() < 0.3:
        made["additionalProperties"] = False
    return made, value


def _nest(rng: random.Random, fields: list[_Field], spelling: str) -> tuple[Schema, dict[str, Any]]:
    """Some fields below a key of their own, by theme if there is one."""
    groups: list[tuple[str, list[_Field]]] = []
    left = list(fields)
    for theme in rng.sample(sorted(_THEMES), len(_THEMES)):
        members = [one for one in left if one.theme in _THEMES[theme]]
        if len(members) > 1:
            groups.append((theme, members))
            left = [one for one in left if one not in members]
    if not groups:
        count = min(len(left), rng.choice((1, 2, 2, 3)))
        members = rng.sample(left, count)
        groups.append((rng.choice(_GROUPS), members))
        left = [one for one in left if one not in members]
    if left and rng.random() < 0.25:
        groups.append((invented(rng), [left.pop()]))
    outer = list(left)
    for name, members in groups:
        if any(one.name == name for one in outer):
            name = f"{name} {rng.choice(_MANY)}"
        schema, value = _object(rng, members, spelling)
        outer.append(_Field(name, schema, value if value or rng.random() < 0.1 else _MISSING))
    if len(outer) == 1 and rng.random() < 0.3:
        schema, value = _object(rng, outer, spelling)
        outer = [_Field(rng.choice(_GROUPS), schema, value)]
    made, whole = _object(rng, outer, spelling)
    return made, whole


def _kind(source: Document, schema: Schema, value: Any, *, nested: bool) -> str:
    shown = str(schema)
    if "'items': {'type': 'object'" in shown:
        return "table"
    if "'array'" in shown:
        return "list"
    if any(isinstance(one, str) and "\n" in one for one in value.values()):
        return "multiline"
    if nested:
        return "nested"
    if len(value) < len(schema["properties"]) or None in value.values():
        return "optional"
    if "'enum'" in shown:
        return "enum"
    digits = [one for one in value.values() if isinstance(one, str) and one.isdigit()]
    return "digits" if digits else "record"
