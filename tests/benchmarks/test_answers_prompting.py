"""The forms of the prompt that are compared: two are the package's own, the others differ by one thing."""

from __future__ import annotations

from typing import Any

import pytest

import prompting
from answers_items import Item, load_items, parse_item
from answers_methods import Limits
from answers_runs import Records, run
from answers_scoring import Score
from prompting import CueForm, OrderForm, PlanForm, forms_of_objects, forms_of_plans, sorted_keys
from raif_integrations.contract.cue import CueStyle
from raif_integrations.engines.base import GrammarConstraint, JsonConstraint, Request
from raif_integrations.turn import Prompting, TurnOptions, TurnRequest, first_prompt
from tests.support.scripted_engine import ScriptedEngine

OBJECTS = {form.key: form for form in forms_of_objects(Limits())}
PLANS = {form.key: form for form in forms_of_plans(Limits())}
LAMP = parse_item(
    {
        "id": "enum-1",
        "kind": "enum",
        "messages": [{"role": "user", "content": "The lamp is off."}],
        "schema": {
            "title": "Lamp",
            "type": "object",
            "properties": {"state": {"enum": ["on", "off"]}, "kind": {"type": "string"}},
            "required": ["state", "kind"],
        },
        "value": {"state": "off", "kind": "lamp"},
    }
)


def own_prompt(item: Item, prompting_: Prompting) -> Any:
    request = TurnRequest(
        item.messages,
        tools=item.turn_tools("raif"),
        tool_choice=item.turn_choice(),
        output=item.contract("raif"),
        options=TurnOptions(prompting=prompting_),
    )
    return first_prompt(ScriptedEngine([]), request)


def asked(form: Any, item: Item, written: str) -> tuple[Request, Score]:
    engine = ScriptedEngine(lambda request: written)
    records = Records({})
    run(engine, [form], [item], records)
    return engine.last_request, records[form.key].answers[item.id].score


@pytest.mark.parametrize(
    ("key", "style"),
    [("adapter-bare", "trained"), ("base-described-primer", "described"), ("base-tags", "trained")],
)
def test_the_grammar_is_that_of_the_model_but_for_one_form(key: str, style: CueStyle) -> None:
    contract = LAMP.contract("raif")
    assert contract is not None
    assert list(OBJECTS[key].constraints(LAMP)) == [GrammarConstraint(contract.grammar(style))]


@pytest.mark.parametrize(
    ("key", "own"),
    [("adapter-bare", "trained"), ("base-described-primer", "primer")],
    ids=["trained", "primer"],
)
def test_two_cue_forms_are_what_the_package_sends(key: str, own: Prompting) -> None:
    for item in [LAMP, *load_items(kinds=("table", "nested"), limit=6)]:
        request, _ = asked(OBJECTS[key], item, "kind=lamp\nstate=off")
        assert request.messages == own_prompt(item, own)


def test_the_four_cue_forms_differ_in_cue_and_primer_only() -> None:
    shown = {key: asked(OBJECTS[f"base-{key}"], LAMP, "kind=lamp\nstate=off")[0] for key in
             ("bare", "bare-primer", "described", "described-primer")}  # fmt: skip
    texts = {key: request.messages[-1]["content"] for key, request in shown.items()}
    assert {key: "Answer only with lines" in text for key, text in texts.items()} == {
        "bare": False,
        "bare-primer": True,
        "described": False,
        "described-primer": True,
    }
    assert {key: '"on"' in text or "on|off" in text or "on, off" in text for key, text in texts.items()} == {
        "bare": False,
        "bare-primer": False,
        "described": True,
        "described-primer": True,
    }
    assert len({request.constraint for request in shown.values()}) == 1


def test_cue_forms_are_scored_as_all_answers_are() -> None:
    assert asked(OBJECTS["base-bare"], LAMP, "kind=lamp\nstate=off")[1] == Score(
        exact=True, fields=1.0, valid=True
    )
    assert asked(OBJECTS["base-bare"], LAMP, "kind=lamp\nstate=on")[1] == Score(
        exact=False, fields=0.5, valid=True
    )


@pytest.mark.parametrize(
    ("key", "own"),
    [("plan-adapter-bare", "trained"), ("plan-base-asked", "primer")],
    ids=["trained", "primer"],
)
def test_two_plan_forms_are_what_the_package_sends(key: str, own: Prompting) -> None:
    items = [
        item for item in load_items(kinds=("tool", "plan", "after_result")) if prompting._is_planned(item)
    ]
    assert len(items) >= 40
    for item in items:
        request, _ = asked(PLANS[key], item, "reply")
        assert request.messages == own_prompt(item, own)


def test_plans_are_scored_by_their_choice() -> None:
    item = next(item for item in load_items(kinds=("plan",)) if len(item.calls) == 2)
    first, second = (call.name for call in item.calls)
    form = PLANS["plan-base-bare"]
    assert asked(form, item, f"{first}\n{second}")[1] == Score(choice=True)
    assert asked(form, item, first)[1] == Score(choice=False)
    assert asked(form, item, "reply")[1] == Score(choice=False)


def test_the_order_of_keys_is_the_only_difference_of_the_orders() -> None:
    (declared, _), (ordered, _) = (
        asked(OBJECTS[f"order-{name}"], LAMP, '{"kind":"lamp","state":"off"}')
        for name in ("declared", "sorted")
    )
    assert isinstance(declared.constraint, JsonConstraint)
    assert isinstance(ordered.constraint, JsonConstraint)
    assert list(declared.constraint.schema["properties"]) == ["state", "kind"]
    assert list(ordered.constraint.schema["properties"]) == ["kind", "state"]
    assert declared.constraint.schema == ordered.constraint.schema


def test_keys_are_sorted_at_every_level() -> None:
    schema = {"properties": {"b": {"items": {"properties": {"d": {}, "c": {}}}}, "a": {}}}
    found = sorted_keys(schema)
    assert list(found["properties"]) == ["a", "b"]
    assert list(found["properties"]["b"]["items"]["properties"]) == ["c", "d"]
    assert found == schema


def test_every_pair_names_a_form() -> None:
    keys = OBJECTS.keys() | PLANS.keys()
    assert {key for pair in prompting.PAIRS for key in pair} <= keys
    assert {type(form) for form in OBJECTS.values()} == {CueForm, OrderForm}
    assert {type(form) for form in PLANS.values()} == {PlanForm}
