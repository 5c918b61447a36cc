"""Exercises with tools: the arguments of a call, and which tool to call."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from train_adapter import tables, texts
from train_adapter.invented_tools import ToolPlan, invent, look_alikes, tidy
from train_adapter.items import Item
from train_adapter.roles import ROLES
from train_adapter.smalltalk import smalltalk
from train_adapter.tables import LISTS, TABLES
from train_adapter.wording import expand, fill, slots, spelled
from train_adapter.words import pick

_HELD_BACK = 8
"""Every eighth tool by hand is kept for the validation split."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool, a request for it, and the arguments the request gives."""

    tool: dict[str, Any]
    request: str
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the tool."""
        return str(self.tool["function"]["name"])


def plans(split: str) -> list[ToolPlan]:
    """The tools by hand of a split: ``train`` or ``validation``."""
    kept = split == "validation"
    chosen = [tool for i, tool in enumerate(texts.blocks("toolbox.txt")) if (i % _HELD_BACK == 3) == kept]
    return [ToolPlan(tuple(names.split("|")), does, tuple(asks)) for names, does, *asks in chosen]


def ask(rng: random.Random, plan: ToolPlan) -> Asked:
    """A request for a tool, with the tool as it must then look."""
    request = tidy(rng, rng.choice(plan.requests))
    spelling = rng.choices(("snake", "camel", "kebab", "pascal"), (70, 22, 4, 4))[0]
    properties: dict[str, Any] = {}
    arguments: dict[str, Any] = {}
    texts: dict[str, str] = {}
    required: list[str] = []
    used = slots(request)
    taken: set[str] = set()
    for slot in used:
        texts[slot], schema, value, names = _value(rng, slot)
        name = spelled(rng, spelling, _free(rng, names, taken))
        if name in properties:
            continue
        properties[name], arguments[name] = schema, value
        if rng.random() < 0.75:
            required.append(name)
    others = [slot for template in plan.requests for slot in slots(template)] + list(plan.fallback)
    for slot in dict.fromkeys(others):
        if slot in used or rng.random() < 0.25:
            continue
        _, schema, _, names = _value(rng, slot)
        name = spelled(rng, spelling, _free(rng, names, taken))
        properties.setdefault(name, schema)
    shuffled = {name: properties[name] for name in rng.sample(list(properties), len(properties))}
    parameters: dict[str, Any] = {"type": "object", "properties": shuffled}
    if required:
        parameters["required"] = required
    function = {
        "name": spelled(
            rng, rng.choices(("snake", "camel", "kebab"), (75, 20, 5))[0], rng.choice(plan.names)
        ),
        "description": expand(rng, plan.description) + rng.choice(("", "", ".")),
        "parameters": parameters,
    }
    return Asked({"type": "function", "function": function}, fill(request, texts), arguments)


def _free(rng: random.Random, names: tuple[str, ...], taken: set[str]) -> str:
    free = [name for name in names if name not in taken] or [names[0] + " 2"]
    chosen = rng.choice(free[: rng.choice((1, 2, 6))])
    taken.update(names)
    return chosen


def _value(rng: random.Random, slot: str) -> tuple[str, dict[str, Any], Any, tuple[str, ...]]:
    """Text, schema, value and possible names for what stands in a slot."""
    key = slot.rstrip("*")
    if key in LISTS:
        elements = tables.list_values(rng, key)
        schema: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
        return tables.list_text(rng, elements, block=False), schema, [e.text for e in elements], LISTS[key]
    if key in TABLES:
        table, text = tables.make_table(rng, key, block=False)
        schema, rows = tables.asked(rng, table)
        return text, schema, rows, TABLES[key].names
    role = ROLES[key]
    made = role.make(rng)
    schema, value = made.choose(rng)
    if rng.random() < 0.4:
        schema["description"] = rng.choice(role.names).capitalize()
    return made.text, schema, value, role.names + role.short


def any_plan(rng: random.Random, split: str) -> ToolPlan:
    """A tool by hand or an invented one."""
    return rng.choice(plans(split)) if rng.random() < 0.6 else invent(rng)


def call(rng: random.Random, split: str = "train") -> Item:
    """A request, and the arguments of the one tool that answers it."""
    asked = ask(rng, any_plan(rng, split))
    while not asked.arguments or len(asked.request) > 700:
        asked = ask(rng, any_plan(rng, split))
    choice = {"type": "function", "function": {"name": asked.name}}
    messages: list[dict[str, Any]] = [{"role": "user", "content": _spoken(rng, asked.request)}]
    if rng.random() < 0.15:
        messages.insert(0, _system(rng))
    return Item("tool", messages, tools=[asked.tool], tool_choice=choice, calls=[_called_with(asked)])


def plan(rng: random.Random, split: str = "train") -> Item:
    """Which tool, which tools, or none."""
    return _names_only(_choice(rng, split))


def _names_only(item: Item) -> Item:
    return replace(item, calls=[{"name": call["name"]} for call in item.calls])


def _choice(rng: random.Random, split: str) -> Item:
    way = rng.choices(("one", "alike", "reply", "several", "then"), (42, 20, 20, 11, 7))[0]
    count = {"alike": rng.randint(2, 4), "several": 2, "then": 2}.get(way, 1)
    wanted = look_alikes(rng, count) if way == "alike" else _different(rng, split, count)
    asked = [ask(rng, one) for one in wanted]
    right = asked[:1] if way in ("one", "alike") else asked
    tools = _offered(rng, asked, wanted, split)
    if not tools or any(len(one.request) > 400 for one in asked):
        return _choice(rng, split)
    if way == "reply":
        return Item("plan", [{"role": "user", "content": smalltalk(rng)}], tools=tools, calls=[])
    if way == "several":
        text = _joined(rng, right, "joined_requests")
        return _plan_item(rng, text, tools, right)
    if way == "then":
        text = _joined(rng, right, "sequenced_requests")
        return _plan_item(rng, text, tools, right[:1])
    return _plan_item(rng, right[0].request, tools, right)


def one_pass(rng: random.Random, split: str = "train") -> Item:
    """Which tools with what arguments, or an answer, in one generation."""
    item = _after_result(rng, split) if rng.random() < 0.2 else _choice(rng, split)
    return replace(item, kind="one_pass", one_pass=True)


def _plan_item(rng: random.Random, text: str, tools: list[dict[str, Any]], right: list[Asked]) -> Item:
    messages: list[dict[str, Any]] = [{"role": "user", "content": _spoken(rng, text)}]
    if rng.random() < 0.12:
        messages.insert(0, _system(rng))
    if rng.random() < 0.12:
        earlier = [{"role": "user", "content": smalltalk(rng)}, {"role": "assistant", "content": _ANSWER}]
        at = 1 if messages[0]["role"] == "system" else 0
        messages[at:at] = earlier
    return Item("plan", messages, tools=tools, calls=[_called_with(one) for one in right])


def _called_with(asked: Asked) -> dict[str, Any]:
    return {"name": asked.name, "arguments": asked.arguments}


_ANSWER = "How can I help you?"


def _different(rng: random.Random, split: str, count: int, *besides: ToolPlan) -> list[ToolPlan]:
    """Tools of which no two do the same."""
    chosen: list[ToolPlan] = []
    while len(chosen) < count:
        one = any_plan(rng, split)
        if all(one.description != other.description for other in (*chosen, *besides)):
            chosen.append(one)
    return chosen


def _offered(
    rng: random.Random, asked: list[Asked], wanted: list[ToolPlan], split: str
) -> list[dict[str, Any]]:
    """The tools of the requests among others; nothing if two have the same name."""
    others = _different(rng, split, rng.choice((0, 1, 2, 2, 3, 4, 5)), *wanted)
    tools = [one.tool for one in asked] + [ask(rng, one).tool for one in others]
    rng.shuffle(tools)
    return tools if len({tool["function"]["name"] for tool in tools}) == len(tools) else []


def after_result(rng: random.Random, split: str = "train") -> Item:
    """A call and its result stand in the history: answer, or go on with the next call."""
    return _names_only(_after_result(rng, split))


def _after_result(rng: random.Random, split: str) -> Item:
    wanted = _different(rng, split, 2)
    first, second = (ask(rng, one) for one in wanted)
    tools = _offered(rng, [first, second], wanted, split)
    if not tools or len(first.request) > 400:
        return _after_result(rng, split)
    result, reply = _result(rng)
    more = rng.random() < 0.2
    text = first.request
    if more:
        text = _joined(rng, [first, second], "sequenced_requests")
    messages = [{"role": "user", "content": text}, *_called(rng, first, result)]
    if more and rng.random() < 0.4:
        result, reply = _result(rng)
        messages += _called(rng, second, result)
        more = False
    calls = [_called_with(second)] if more else []
    return Item("after_result", messages, tools=tools, calls=calls, reply=None if more else reply)


def _called(rng: random.Random, asked: Asked, result: str) -> list[dict[str, Any]]:
    call_id = f"call_{rng.randint(1000, 9999)}"
    return [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": call_id, "type": "function", "function": _called_with(asked)}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


def _result(rng: random.Random) -> tuple[str, str]:
    """What a tool returns, and the answer that tells it."""
    if rng.random() < 0.16:
        return _plain_result(rng)
    facts = [
        (rng.choice(ROLES[key].names), ROLES[key].make(rng).text)
        for key in rng.sample(texts.pool("result_roles"), rng.choice((1, 1, 2, 2, 3)))
    ]
    spelling = rng.choice(("snake", "snake", "camel", "plain"))
    way = rng.randrange(4)
    if way < 2:
        inner = ", ".join(f'"{spelled(rng, spelling, name)}": "{text}"' for name, text in facts)
        shown = "{" + inner + "}"
    elif way == 2:
        shown = rng.choice(("\n", ", ", "; ")).join(
            f"{spelled(rng, spelling, name)}: {text}" for name, text in facts
        )
    else:
        shown = rng.choice((", ", ". ")).join(f"{name} {text}" for name, text in facts)
    said = [f"{name} is {text}" for name, text in facts]
    if len(facts) == 1 and way == 3:
        return facts[0][1], f"{rng.choice(('The result is', 'It is', 'I found'))} {facts[0][1]}."
    start = rng.choice(
        ("The ", "The ", "The ", "Your ", "Here you go: the ", "Done. The ", "I checked: the ")
    )
    return shown, start + " and the ".join(said) + "."


def _plain_result(rng: random.Random) -> tuple[str, str]:
    if rng.random() < 0.5:
        error = rng.choice(
            ("not found", "permission denied", "timeout", "no seats left", "invalid date", "out of stock")
        )
        return (
            f"Error: {error}",
            f"{rng.choice(('Sorry, that did not work', 'That failed', 'I could not do it'))}: {error}.",
        )
    word = rng.choice(("ok", "done", "success", "sent", "created", "true", "accepted"))
    return rng.choice((word, f'{{"status": "{word}"}}')), rng.choice(("That is done.", "Done.", "It worked."))


def _system(rng: random.Random) -> dict[str, Any]:
    return {"role": "system", "content": expand(rng, rng.choice(texts.phrases("tool_system")))}


def _spoken(rng: random.Random, text: str) -> str:
    """Now and then a greeting, a reason or thanks around a request."""
    if rng.random() < 0.8:
        return text
    around = expand(rng, rng.choice(texts.phrases("around_requests"))).replace(
        "#person", pick(rng, "first_names")
    )
    return around.replace("~", text)


def _joined(rng: random.Random, asked: list[Asked], way: str) -> str:
    """Several requests as one."""
    joint = expand(rng, rng.choice(texts.phrases(way)))
    joint += "" if joint.endswith("\n") else " "
    return joint.join(one.request.rstrip(".?! ") for one in asked)
