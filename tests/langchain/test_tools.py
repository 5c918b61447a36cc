"""Everything that can be bound as a tool."""

import enum
from typing import Annotated, NotRequired, TypedDict

import pytest
from langchain_core.tools import InjectedToolArg, StructuredTool, Tool, tool
from pydantic import BaseModel, Field
from pydantic.v1 import BaseModel as BaseModelV1

from raif_integrations.errors import ConfigurationError
from raif_integrations.langchain.tools import tool_dicts


class Node(BaseModel):
    """A node of a tree."""

    name: str = Field(description="The name")
    kids: list["Node"] = []


class OldPoint(BaseModelV1):
    """A point."""

    x: int


class Point(TypedDict):
    """A point."""

    x: Annotated[int, ..., "to the right"]
    label: Annotated[str | None, None, "a name"]
    note: NotRequired[str]


def add(a: int, b: int = 2) -> int:
    """Adds.

    Args:
        a: the first
        b: the second
    """
    return a + b


@tool
def weather(city: str, user: Annotated[str, InjectedToolArg]) -> str:
    """Tells the weather."""
    return f"{city} {user}"


def _function(given):
    (found,) = tool_dicts([given])
    assert found["type"] == "function"
    return found["function"]


def test_a_function_gives_name_description_and_documented_arguments():
    function = _function(add)
    assert (function["name"], function["description"]) == ("add", "Adds.")
    assert function["parameters"]["required"] == ["a"]
    assert function["parameters"]["properties"]["a"] == {
        "description": "the first",
        "title": "A",
        "type": "integer",
    }
    assert function["parameters"]["properties"]["b"]["default"] == 2


def test_injected_arguments_are_not_shown():
    assert list(_function(weather)["parameters"]["properties"]) == ["city"]


def test_a_recursive_class_keeps_its_recursion():
    function = _function(Node)
    assert (function["name"], function["description"]) == ("Node", "A node of a tree.")
    definition = function["parameters"]["$defs"]["Node"]
    assert definition["properties"]["kids"]["items"] == {"$ref": "#/$defs/Node"}
    assert function["parameters"]["$ref"] == "#/$defs/Node"


def test_a_class_of_pydantic_1():
    function = _function(OldPoint)
    assert (function["name"], function["description"]) == ("OldPoint", "A point.")
    assert function["parameters"]["properties"]["x"]["type"] == "integer"


def test_a_typed_dict_with_langchains_annotations():
    function = _function(Point)
    assert (function["name"], function["description"]) == ("Point", "A point.")
    parameters = function["parameters"]
    assert parameters["required"] == ["x"]
    assert parameters["properties"]["x"]["description"] == "to the right"
    assert parameters["properties"]["label"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert parameters["properties"]["note"] == {"title": "Note", "type": "string"}


def test_a_tool_with_a_json_schema_for_arguments():
    schema = {"title": "x", "type": "object", "properties": {"a": {"type": "integer"}}}
    made = StructuredTool(name="plus", description="Adds.", args_schema=schema, func=print)
    function = _function(made)
    assert function == {
        "name": "plus",
        "description": "Adds.",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    }


def test_a_tool_of_one_string():
    function = _function(Tool(name="search", description="Searches.", func=print))
    assert function["parameters"]["required"] == ["__arg1"]


@pytest.mark.parametrize(
    "given",
    [
        {
            "type": "function",
            "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}},
        },
        {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}},
        {"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {}}},
        {"title": "f", "description": "d", "type": "object", "properties": {}},
    ],
    ids=["openai tool", "openai function", "anthropic", "json schema"],
)
def test_dicts_of_every_usual_form(given):
    assert _function(given) == {
        "name": "f",
        "description": "d",
        "parameters": {"type": "object", "properties": {}},
    }


def test_strict_is_passed_on():
    assert tool_dicts([add], strict=True)[0]["function"]["strict"] is True
    assert "strict" not in tool_dicts([add])[0]["function"]


def test_converting_again_gives_the_same_dict():
    assert tool_dicts([add, weather, Node])[1] is tool_dicts([weather])[0]


def test_a_changed_tool_is_converted_again():
    made = StructuredTool.from_function(add)
    before = _function(made)
    made.description = "Adds two numbers."
    assert before["description"] == "Adds." or before["description"].startswith("Adds.")
    assert _function(made)["description"] == "Adds two numbers."


def test_the_cache_does_not_keep_tools_alive():
    import gc
    import weakref

    made = StructuredTool.from_function(add)
    tool_dicts([made])
    reference = weakref.ref(made)
    del made
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"type": "function", "function": {"parameters": {}}}, "no name"),
        ({"type": "object", "properties": {}}, "no name"),
        ({"type": "web_search"}, "type 'web_search'"),
        (3, "A int was given as a tool"),
    ],
)
def test_what_is_not_a_tool_is_refused(given, message):
    with pytest.raises(ConfigurationError, match=message):
        tool_dicts([given])


def test_an_enum_is_no_tool():
    with pytest.raises(TypeError, match="Color is an Enum"):
        tool_dicts([enum.Enum("Color", "RED BLUE")])
