"""Exercises with tools: the arguments of a call, and which tool to call."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from train_adapter import tables, words
from train_adapter.invented_tools import ToolPlan, invent, look_alikes, tidy
from train_adapter.items import Item
from train_adapter.roles import ROLES
from train_adapter.smalltalk import smalltalk
from train_adapter.tables import LISTS, TABLES
from train_adapter.toolbox import TOOLBOX
from train_adapter.wording import expand, fill, slots, spelled
from train_adapter.words import pick

_HELD_BACK = 8
"""Every eighth tool by hand is kept for the validation split."""

_ALSO = ("{ and|, and| and also|; also,} ", ". {Also,|And|Besides,} ", ", {plus|and please} ", "\n")
_THEN = (", {then|and then|and after that} ", ". {Once that is done,|After that,|Then} ", " first, then ")


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
    chosen = [tool for i, tool in enumerate(TOOLBOX) if (i % _HELD_BACK == 3) == kept]
    return [ToolPlan(tuple(names.split("|")), description, asks) for names, description, asks in chosen]


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
        "name": spelled(rng, rng.choices(("snake", "camel", "kebab"), (75, 20, 5))[0], rng.choice(plan.names)),
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
    calls = [{"name": asked.name, "arguments": asked.arguments}]
    return Item("tool", messages, tools=[asked.tool], tool_choice=choice, calls=calls)


def plan(rng: random.Random, split: str = "train") -> Item:
    """Which tool, which tools, or none."""
    way = rng.choices(("one", "alike", "reply", "several", "then"), (42, 20, 20, 11, 7))[0]
    asked = [ask(rng, any_plan(rng, split))]
    if way == "alike":
        asked = [ask(rng, one) for one in look_alikes(rng, rng.randint(2, 4))]
    elif way in ("several", "then"):
        asked.append(ask(rng, any_plan(rng, split)))
    right = asked[:1] if way in ("one", "alike") else asked
    tools = _offered(rng, asked, split)
    names = {tool["function"]["name"] for tool in tools}
    if len(names) < len(tools) or any(len(one.request) > 400 for one in asked):
        return plan(rng, split)
    if way == "reply":
        return Item("plan", [{"role": "user", "content": smalltalk(rng)}], tools=tools, calls=[])
    if way == "several":
        text = expand(rng, rng.choice(_ALSO)).join(one.request.rstrip(".?! ") for one in right)
        return _plan_item(rng, text, tools, right)
    if way == "then":
        text = expand(rng, rng.choice(_THEN)).join(one.request.rstrip(".?! ") for one in right)
        return _plan_item(rng, text, tools, right[:1])
    return _plan_item(rng, right[0].request, tools, right)


def _plan_item(rng: random.Random, text: str, tools: list[dict[str, Any]], right: list[Asked]) -> Item:
    messages: list[dict[str, Any]] = [{"role": "user", "content": _spoken(rng, text)}]
    if rng.random() < 0.12:
        messages.insert(0, _system(rng))
    if rng.random() < 0.12:
        earlier = [{"role": "user", "content": smalltalk(rng)}, {"role": "assistant", "content": _ANSWER}]
        at = 1 if messages[0]["role"] == "system" else 0
        messages[at:at] = earlier
    return Item("plan", messages, tools=tools, calls=[{"name": one.name} for one in right])


_ANSWER = "How can I help you?"


def _offered(rng: random.Random, asked: list[Asked], split: str) -> list[dict[str, Any]]:
    """The tools of the requests among others."""
    tools = [one.tool for one in asked]
    tools += [ask(rng, any_plan(rng, split)).tool for _ in range(rng.choice((0, 1, 2, 2, 3, 4, 5)))]
    rng.shuffle(tools)
    return tools


def after_result(rng: random.Random, split: str = "train") -> Item:
    """A call and its result stand in the history: answer, or go on with the next call."""
    first = ask(rng, any_plan(rng, split))
    second = ask(rng, any_plan(rng, split))
    tools = _offered(rng, [first, second], split)
    if len({tool["function"]["name"] for tool in tools}) < len(tools) or len(first.request) > 400:
        return after_result(rng, split)
    result, reply = _result(rng)
    more = rng.random() < 0.2
    text = first.request
    if more:
        text = expand(rng, rng.choice(_THEN)).join(one.request.rstrip(".?! ") for one in (first, second))
    messages = [{"role": "user", "content": text}, *_called(rng, first, result)]
    if more and rng.random() < 0.4:
        result, reply = _result(rng)
        messages += _called(rng, second, result)
        more = False
    calls = [{"name": second.name}] if more else []
    return Item("after_result", messages, tools=tools, calls=calls, reply=None if more else reply)


def _called(rng: random.Random, asked: Asked, result: str) -> list[dict[str, Any]]:
    call_id = f"call_{rng.randint(1000, 9999)}"
    function = {"name": asked.name, "arguments": asked.arguments}
    return [
        {"role": "assistant", "content": "", "tool_calls": [{"id": call_id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


_RESULTS = (
    "temperature", "humidity", "order_status", "delivery_date", "booking_code", "total", "price", "duration",
    "distance", "quantity_left", "ticket_id", "invoice_id", "time", "date", "status_code", "balance", "score",
    "phone", "email", "city", "product", "hotel", "restaurant", "film", "song", "flight", "doctor", "due_date",
    "tracking", "progress", "rate", "amount", "remark", "departure_time", "gate", "room_no", "warehouse", "version",
)  # fmt: skip


def _result(rng: random.Random) -> tuple[str, str]:
    """What a tool returns, and the answer that tells it."""
    if rng.random() < 0.16:
        return _plain_result(rng)
    facts = [(rng.choice(ROLES[key].names), ROLES[key].make(rng).text) for key in rng.sample(_RESULTS, rng.choice((1, 1, 2, 2, 3)))]
    spelling = rng.choice(("snake", "snake", "camel", "plain"))
    way = rng.randrange(4)
    if way < 2:
        inner = ", ".join(f'"{spelled(rng, spelling, name)}": "{text}"' for name, text in facts)
        shown = "{" + inner + "}"
    elif way == 2:
        shown = rng.choice(("\n", ", ", "; ")).join(f"{spelled(rng, spelling, name)}: {text}" for name, text in facts)
    else:
        shown = rng.choice((", ", ". ")).join(f"{name} {text}" for name, text in facts)
    said = [f"{name} is {text}" for name, text in facts]
    if len(facts) == 1 and way == 3:
        return facts[0][1], f"{rng.choice(('The result is', 'It is', 'I found'))} {facts[0][1]}."
    start = rng.choice(("The ", "The ", "The ", "Your ", "Here you go: the ", "Done. The ", "I checked: the "))
    return shown, start + " and the ".join(said) + "."


def _plain_result(rng: random.Random) -> tuple[str, str]:
    if rng.random() < 0.5:
        error = rng.choice(("not found", "permission denied", "timeout", "no seats left", "invalid date", "out of stock"))
        return f"Error: {error}", f"{rng.choice(('Sorry, that did not work', 'That failed', 'I could not do it'))}: {error}."
    word = rng.choice(("ok", "done", "success", "sent", "created", "true", "accepted"))
    return rng.choice((word, f'{{"status": "{word}"}}')), rng.choice(("That is done.", "Done.", "It worked."))


def _system(rng: random.Random) -> dict[str, Any]:
    return {"role": "system", "content": expand(rng, rng.choice(_SYSTEM))}


_SYSTEM = (
    "You are a helpful assistant{ with tools|}.",
    "You {help|assist} the customers of {a shop|a bank|a hotel|an airline}{. Use tools when needed.|.}",
    "{Today is|It is} {Monday|Wednesday|Friday}. {Be brief.|Answer in English.|Use the tools.}",
    "{Use|Call} a tool {if|when} one fits{, else answer yourself|}.",
)


def _spoken(rng: random.Random, text: str) -> str:
    """Now and then a greeting, a reason or thanks around a request."""
    if rng.random() < 0.8:
        return text
    around = expand(rng, rng.choice(_AROUND)).replace("#person", pick(rng, words.FIRST_NAMES))
    return around.replace("#", text)


_AROUND = (
    "{Hi|Hello|Good morning|Hey there}{,|!} #",
    "# {Thanks|Thank you|Cheers}{!|.|}",
    "{My phone is nearly empty, so quickly:|I'm in a hurry.|Quick one:} #",
    "#person asked me for this. #",
    "# {It's for #person.|That's all for now.|No rush.}",
    "{ok|okay|right|so}, #",
)
