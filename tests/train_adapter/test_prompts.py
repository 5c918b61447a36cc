"""What the model is trained on is what the package sends, to the last character."""

from __future__ import annotations

from typing import Any

import pytest
from vllm.renderers import ChatParams

from raif_integrations.conversation.one_pass import OnePass
from raif_integrations.conversation.one_pass_reader import OnePassReader
from raif_integrations.turn import run_turn
from raif_integrations.vllm_plugin.plan import make_plan
from raif_integrations.vllm_plugin.renderer import shown
from tests.support.scripted_engine import ScriptedEngine
from train_adapter.generate import items
from train_adapter.items import Item
from train_adapter.prompts import examples_of, in_order, request_of

EXERCISES = list(items(5, 300))


def test_prompts_are_the_ones_of_a_turn() -> None:
    compared = 0
    for item in EXERCISES:
        found = examples_of(item)
        if not found or item.one_pass:
            continue
        engine = ScriptedEngine(
            lambda request, found=found, sent=[]: _next_answer(found, sent), model="small-raif"
        )
        run_turn(engine, request_of(item))
        sent = engine.requests[: len(found)]
        assert [request.messages for request in sent] == [example.messages for example in found]
        compared += len(found)
    assert compared > 250


def _next_answer(found: list[Any], sent: list[None]) -> str:
    """The right answers in turn; where the exercise knows no more of them, an empty one."""
    sent.append(None)
    return found[len(sent) - 1].target if len(sent) <= len(found) else ""


def test_several_calls_and_their_arguments() -> None:
    def tool(name: str) -> dict[str, Any]:
        parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}

    item = Item(
        "plan",
        [{"role": "user", "content": "Weather and time in Oslo?"}],
        tools=[tool("weather"), tool("clock")],
        calls=[{"name": n, "arguments": {"city": "Oslo"}} for n in ("weather", "clock")],
    )
    plan, *arguments = examples_of(item)
    assert plan.is_plan
    assert plan.target == "weather\nclock"
    assert plan.messages[-1]["content"].endswith("reply — Answer the user directly\n</tools>")
    assert [one.target for one in arguments] == ["city=Oslo", "city=Oslo"]
    assert all(one.messages[-1]["content"].endswith("<schema>\ncity:s\n</schema>") for one in arguments)


def test_json_is_asked_for_with_its_schema_and_written_in_its_order() -> None:
    schema = {
        "type": "object",
        "properties": {"b": {"type": "integer"}, "a": {"type": "object", "properties": {"y": {}, "x": {}}}},
    }
    item = Item("record", [{"role": "user", "content": "text"}], schema, {"a": {"x": 1, "y": 2}, "b": 3})
    (example,) = examples_of(item, "json")
    assert "JSON Schema" in example.messages[-1]["content"]
    assert example.target.index('"b"') < example.target.index('"a"')
    assert example.target.index('"y"') < example.target.index('"x"')


@pytest.mark.parametrize(
    ("value", "schema", "wanted"),
    [
        ({"x": 1, "a": 2}, {"properties": {"a": {}}}, ["a", "x"]),
        ({"x": 1}, True, ["x"]),
        ({"b": 1, "a": 2}, {"properties": {"c": {}, "a": {}, "b": {}}}, ["a", "b"]),
    ],
)
def test_order_of_keys(value: dict[str, int], schema: Any, wanted: list[str]) -> None:
    assert list(in_order(value, schema)) == wanted
    assert in_order(value, schema) == value


def test_an_answer_after_a_result_comes_after_the_plan() -> None:
    answered = [item for item in EXERCISES if item.kind == "after_result" and item.reply]
    assert answered
    for item in answered:
        plan, reply = examples_of(item)
        assert plan.is_plan
        assert plan.target == "reply"
        assert reply.target == item.reply
        assert "<tools>" not in reply.messages[-1]["content"]
        assert reply.messages[-1]["content"].endswith("</tool_response>")


def test_prompts_in_one_pass_are_the_ones_of_the_plugin() -> None:
    items_in_one_pass = [item for item in EXERCISES if item.one_pass]
    assert len(items_in_one_pass) > 5
    for item in items_in_one_pass:
        (example,) = examples_of(item)
        plan = make_plan(
            tools=item.tools, tool_choice="auto", parallel=True, response_format=None, trained=True
        )
        turns, _ = shown(plan, item.messages, ChatParams())
        assert turns == example.messages


def test_targets_in_one_pass_are_read_as_the_calls_or_the_answer() -> None:
    seen: set[tuple[int, bool]] = set()
    for item in items(6, 1500):
        if not item.one_pass:
            continue
        (example,) = examples_of(item)
        reader = OnePassReader(OnePass(request_of(item).tools))
        reader.push(example.target)
        _, read = reader.finish(finished=example.ends)
        calls = [{"name": call.name, "arguments": call.decoded.value} for call in read.calls]
        assert calls == item.calls
        assert all(call.is_whole for call in read.calls)
        assert read.text == (item.reply or "") if not item.calls else not read.text
        assert example.ends == bool(item.calls or item.reply)
        seen.add((len(item.calls), bool(item.reply)))
    assert seen == {(0, False), (0, True), (1, False), (2, False)}
