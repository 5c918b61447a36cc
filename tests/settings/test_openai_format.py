"""OpenAI's request fields as a turn's."""

import pytest

from raif_integrations.conversation.tools import NamedTool
from raif_integrations.errors import ConfigurationError, SchemaError
from raif_integrations.openai_format import (
    output_from_response_format,
    tool_choice_from,
    tools_from_dicts,
)

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def _tool(**function):
    return {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA, **function}}


def test_a_tool_keeps_name_description_and_schema():
    (tool,) = tools_from_dicts([_tool(description="Tells it.")])
    assert (tool.name, tool.description) == ("get_weather", "Tells it.")
    assert tool.contract.schema == SCHEMA


def test_contracts_are_made_once():
    one, two = tools_from_dicts([_tool()]), tools_from_dicts([_tool(parameters=dict(SCHEMA))])
    assert one[0].contract is two[0].contract
    assert tools_from_dicts([_tool()], wire="json")[0].contract is not one[0].contract


@pytest.mark.parametrize(
    "parameters",
    [None, {}, {"type": "object"}, {"type": "object", "properties": {}, "required": [], "title": "x"}],
)
def test_a_tool_without_parameters_has_none(parameters):
    (tool,) = tools_from_dicts([_tool(parameters=parameters)])
    assert tool.contract.tree.root.properties == ()
    assert tool.contract.tree.root.additional is None


def test_a_tool_that_takes_any_keys_keeps_them():
    (tool,) = tools_from_dicts([_tool(parameters={"type": "object", "additionalProperties": True})])
    assert tool.contract.tree.root.additional is not None


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ({"type": "web_search"}, r"tools\[0\] is not a function tool"),
        ({"type": "function"}, r"tools\[0\] is not a function tool"),
        (_tool(name=""), r"tools\[0\] has no name"),
        (_tool(name=None), r"tools\[0\] has no name"),
    ],
)
def test_what_is_not_a_function_tool_is_refused(tool, message):
    with pytest.raises(ConfigurationError, match=message):
        tools_from_dicts([tool])


def test_parameters_that_are_not_a_json_schema_are_refused():
    with pytest.raises(SchemaError):
        tools_from_dicts([_tool(parameters={"type": "objekt"})])
    with pytest.raises(SchemaError):
        tools_from_dicts([_tool(parameters={"type": "object", "properties": {"a": {1, 2}}})])


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, "auto"),
        (False, "auto"),
        ("auto", "auto"),
        (True, "required"),
        ("any", "required"),
        ("required", "required"),
        ("none", "none"),
        ("add", NamedTool("add")),
        ({"type": "function", "function": {"name": "add"}}, NamedTool("add")),
        ({"type": "tool", "name": "add"}, NamedTool("add")),
        ({"type": "any"}, "required"),
    ],
)
def test_every_form_of_a_choice(choice, expected):
    assert tool_choice_from(choice, ["add", "sub"]) == expected


def test_a_tool_may_be_named_like_a_word():
    assert tool_choice_from("any", ["any"]) == NamedTool("any")


@pytest.mark.parametrize("choice", ["mul", {"type": "function", "function": {"name": "mul"}}])
def test_an_unknown_tool_is_refused_and_the_known_ones_are_named(choice):
    with pytest.raises(ConfigurationError, match=r"'mul'.*Known tools: add, sub"):
        tool_choice_from(choice, ["add", "sub"])


@pytest.mark.parametrize("choice", [3, {"type": None}, {}])
def test_another_form_is_refused(choice):
    with pytest.raises(ConfigurationError, match="tool_choice is"):
        tool_choice_from(choice, ["add"])


def test_response_formats():
    asked = {"type": "json_schema", "json_schema": {"name": "City", "schema": SCHEMA}}
    contract = output_from_response_format(asked)
    assert contract is not None
    assert (contract.name, contract.wire) == ("City", "raif")
    assert output_from_response_format(asked, wire="json").wire == "json"
    assert output_from_response_format({"type": "json_object"}).wire == "json"
    assert output_from_response_format({"type": "text"}) is None
    assert output_from_response_format(None) is None


@pytest.mark.parametrize("given", [{}, {"type": "json_schema"}, {"type": "xml"}, "json", SCHEMA])
def test_another_response_format_is_refused(given):
    with pytest.raises(ConfigurationError, match="response_format is"):
        output_from_response_format(given)
