"""Exercises from objects you have: real arguments of function calls, records of your domain."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from train_adapter.invented_tools import invent, tidy
from train_adapter.items import Item
from train_adapter.roles import ROLES, Role
from train_adapter.wording import listed

_LONGEST = 420
"""Characters of JSON; longer objects are left out."""

_BY_NAME: dict[str, Role] = {}
for _one in ROLES.values():
    for _name in _one.names:
        _BY_NAME.setdefault(_name.replace(" ", "_"), _one)


def read_objects(path: Path) -> list[dict[str, Any]]:
    """Reads a file of JSON lines.

    Args:
        path: Each line is an object, or a chat example (``messages``) whose last message is RAIF text.

    Raises:
        ValueError: A line is neither; the message names it.
    """
    found: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            data = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number} is not JSON: {error}. Give one object a line.") from None
        if not isinstance(data, dict):
            raise ValueError(f"{path}, line {number} is no object. Give one object a line.")
        if isinstance(data.get("messages"), list):
            data = _decoded(str(data["messages"][-1].get("content")))
        if data and len(json.dumps(data)) <= _LONGEST and _is_plain(data):
            found.append(data)
    return found


def _decoded(text: str) -> dict[str, Any]:
    from raif import decode

    try:
        value = decode(text)["value"]
    except (ValueError, KeyError, TypeError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_plain(value: Any) -> bool:
    """Whether a schema can be told from a value: no null, no empty container, lists of one type."""
    if isinstance(value, dict):
        return bool(value) and all(key.strip() == key and key and _is_plain(v) for key, v in value.items())
    if isinstance(value, list):
        kinds = {_type(element) for element in value}
        flat = not value or not isinstance(value[0], list)
        keys = {tuple(sorted(element)) for element in value if isinstance(element, dict)}
        return len(kinds) == 1 and len(keys) < 2 and flat and all(_is_plain(element) for element in value)
    return value is not None and value != ""


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names[type(value)]


def schema_of(value: Any) -> dict[str, Any]:
    """The JSON Schema of which a value is an example."""
    if isinstance(value, dict):
        properties = {key: schema_of(below) for key, below in value.items()}
        return {"type": "object", "properties": properties, "required": list(properties)}
    if isinstance(value, list):
        return {"type": "array", "items": schema_of(value[0])}
    return {"type": _type(value)}


def from_object(rng: random.Random, value: dict[str, Any]) -> Item:
    """A request that says an object, and the call that takes it."""
    keys = rng.sample(list(value), len(value))
    extra = {} if rng.random() < 0.6 else {rng.choice(("note", "limit", "locale", "tag")): {"type": "string"}}
    schema = schema_of({key: value[key] for key in keys})
    schema["properties"] |= {key: one for key, one in extra.items() if key not in schema["properties"]}
    if rng.random() < 0.3:
        schema["required"] = [key for key in schema["required"] if rng.random() < 0.6]
    plan = invent(rng)
    name = plan.names[0].replace(" ", "_")
    function = {"name": name, "description": plan.description, "parameters": schema}
    tool = {"type": "function", "function": function}
    choice = {"type": "function", "function": {"name": name}}
    messages = [{"role": "user", "content": _request(rng, plan.opening, value, keys)}]
    return Item(
        "tool", messages, tools=[tool], tool_choice=choice, calls=[{"name": name, "arguments": value}]
    )


def _request(rng: random.Random, opening: str, value: dict[str, Any], keys: list[str]) -> str:
    if rng.random() < 0.12:
        return rng.choice(("", "Payload:\n", "Use these:\n", "Body: ")) + json.dumps(
            value, ensure_ascii=False
        )
    start = tidy(rng, opening)
    way = rng.randrange(4)
    if way == 0:
        lines = [f"{label}: {text}" for label, text in _flat(rng, value, keys)]
        mark = rng.choice(("", "- ", "* "))
        return rng.choice(("", f"{start}\n", "Details:\n")) + "\n".join(mark + line for line in lines)
    if way == 1:
        body = listed(rng, [f"{label} {text}" for label, text in _flat(rng, value, keys)])
        return f"{start}{rng.choice((' with ', ': ', ', '))}{body}{rng.choice(('.', '', ', please'))}"
    if way == 2:
        flat = _flat(rng, value, keys)
        return (
            start
            + ". "
            + " ".join(f"{rng.choice(('The', 'Its'))} {label} is {text}." for label, text in flat)
        )
    parts = []
    for key in keys:
        role = _BY_NAME.get(key)
        flat = _flat(rng, value, [key])
        if role is not None and role.phrases and len(flat) == 1:
            parts.append(rng.choice(role.phrases).replace("<v>", flat[0][1]))
        else:
            parts += [f"{rng.choice(('with ', '', 'and '))}{label} {text}" for label, text in flat]
    return f"{start} {' '.join(parts)}{rng.choice(('.', '', '?', ', thanks'))}"


def _flat(rng: random.Random, value: dict[str, Any], keys: list[str]) -> list[tuple[str, str]]:
    """Labels and texts of an object's leaves."""
    return [pair for key in keys for pair in _leaves(rng, key.replace("_", " "), value[key])]


def _leaves(rng: random.Random, label: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _leaves(rng, f"{label} {key.replace('_', ' ')}", below)
    elif isinstance(value, list) and isinstance(value[0], dict):
        rows = [", ".join(f"{k.replace('_', ' ')} {_shown(v)}" for k, v in row.items()) for row in value]
        yield label, "; ".join(rows)
    elif isinstance(value, list):
        texts = [_shown(element) for element in value]
        yield label, ", ".join(texts) if any(" and " in text for text in texts) else listed(rng, texts)
    else:
        yield label, _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)
