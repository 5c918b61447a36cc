"""Contracts are built once, kept in bounds, and shared between threads."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pydantic

from raif_integrations.contract import OutputContract, contract
from raif_integrations.contract.memory import IdentityMemory, Memory

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "t": {"type": "array", "items": {"type": "string"}}},
}


def test_equal_schemas_share_a_contract() -> None:
    first = OutputContract.from_json_schema(SCHEMA, name="x")
    assert OutputContract.from_json_schema({**SCHEMA}, name="x") is first
    assert OutputContract.from_json_schema(SCHEMA, name="y") is not first
    assert OutputContract.from_json_schema(SCHEMA, name="x", wire="json") is not first


def test_changing_a_schema_afterwards_changes_nothing() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    first = OutputContract.from_json_schema(schema)
    schema["properties"]["a"]["type"] = "string"
    assert first.cue() == "a:n?"
    assert OutputContract.from_json_schema(schema).cue() == "a:s?"


def test_models_share_a_contract_while_they_live() -> None:
    class Model(pydantic.BaseModel):
        a: int

    assert OutputContract.from_pydantic(Model) is OutputContract.from_pydantic(Model)


def test_a_tool_that_changes_gets_another_contract() -> None:
    class Tool:
        name = "a"
        description = "b"
        args_schema: Any = SCHEMA

    tool = Tool()
    first = OutputContract.from_tool(tool)
    tool.description = "c"
    second = OutputContract.from_tool(tool)
    assert (first.description, second.description) == ("b", "c")


def test_the_memory_is_bounded() -> None:
    memory: Memory[int] = Memory(3)
    for number in range(10):
        memory.put(number, number)
        memory.get(7)
    assert len(memory) == 3
    assert memory.get(7) == 7
    assert memory.get(0) is None


def test_dead_objects_are_not_mixed_up() -> None:
    class Thing:
        pass

    memory: IdentityMemory[str] = IdentityMemory(100)
    for number in range(200):
        thing = Thing()
        assert memory.get(thing) is None
        memory.put(thing, entry=str(number))
        assert memory.get(thing) == str(number)
        del thing
        gc.collect(0)


def test_building_many_contracts_keeps_the_memory_small() -> None:
    for number in range(600):
        OutputContract.from_json_schema({"type": "object", "properties": {f"k{number}": {"type": "integer"}}})
    assert len(contract._BUILT) <= 512


def test_undeclared_keys_do_not_fill_the_memory() -> None:
    free = OutputContract.from_json_schema({"type": "object"})
    for number in range(3000):
        free.decode(f"k{number}=1")
    assert len(free.book._places) == 0


def test_threads_share_one_contract() -> None:
    shared = OutputContract.from_json_schema({**SCHEMA, "title": "shared"})
    value = {"a": 1, "t": ["x", "y"]}
    text = shared.encode(value)

    def work(number: int) -> bool:
        decoder = shared.decoder()
        for character in text:
            decoder.push(character)
        one_shot = shared.decode(f"a={number}")
        return bool(decoder.finish().value == value and one_shot.value == {"a": number})

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))
