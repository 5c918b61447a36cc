"""OpenAI's request fields as a turn's: ``tools``, ``tool_choice`` and ``response_format``.

Both frameworks bind these fields in OpenAI's format, which can be traced, cached and serialised;
contracts are made from them here, once for each schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from raif_integrations.conversation.tools import NamedTool, Tool, ToolChoice
from raif_integrations.errors import ConfigurationError
from raif_integrations.turn.types import Wire

if TYPE_CHECKING:
    from raif_integrations.contract import OutputContract

_WORDS: dict[str, ToolChoice] = {
    "auto": "auto",
    "any": "required",
    "required": "required",
    "none": "none",
}

_CHOICE_HINT = "Give 'auto', 'any', 'required', 'none', a tool's name, or OpenAI's dict with the name."

_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

_SAY_NOTHING = frozenset({"$schema", "description", "properties", "required", "title", "type"})

JSON_OBJECT_SCHEMA: Mapping[str, Any] = {"type": "object"}
"""What ``{"type": "json_object"}`` asks for."""


def contract_for(schema: Mapping[str, Any], *, name: str, wire: Wire = "auto") -> OutputContract:
    """The contract of a JSON Schema, made once for each schema, name and wire.

    Args:
        schema: The JSON Schema.
        name: What the model calls it.
        wire: What the value is written in.

    Raises:
        SchemaError: It is not a JSON Schema, or ``wire="raif"`` and RAIF cannot carry it.
    """
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError):  # not JSON data: let the contract say what is wrong with it
        return _new_contract(schema, name, wire)
    return _contract(text, name, wire)


@lru_cache(maxsize=1024)
def _contract(text: str, name: str, wire: Wire) -> OutputContract:
    return _new_contract(json.loads(text), name, wire)


def _new_contract(schema: Mapping[str, Any], name: str, wire: Wire) -> OutputContract:
    """Contracts bring JSON Schema's validators with them, so they are loaded when one is made."""
    from raif_integrations.contract import OutputContract

    return OutputContract.from_json_schema(schema, name=name, wire="auto" if wire == "server" else wire)


def tools_from_dicts(tools: Sequence[Mapping[str, Any]], *, wire: Wire = "auto") -> tuple[Tool, ...]:
    """Makes a turn's tools from OpenAI tool dicts.

    Args:
        tools: ``{"type": "function", "function": {"name", "description", "parameters"}}`` each.
        wire: What the arguments are written in.

    Raises:
        ConfigurationError: A dict is not a function tool, or has no name.
        SchemaError: A tool's parameters are not a JSON Schema.
    """
    return tuple(_tool(tool, index, wire) for index, tool in enumerate(tools))


def _tool(tool: Mapping[str, Any], index: int, wire: Wire) -> Tool:
    function = tool.get("function") if tool.get("type") == "function" else None
    if not isinstance(function, Mapping):
        raise ConfigurationError(
            f"tools[{index}] is not a function tool (type {tool.get('type')!r}).",
            hint="Only functions can be called; tools a provider runs on its side are not available here.",
        )
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"tools[{index}] has no name.", hint="Give function['name'].")
    contract = contract_for(_parameters(function.get("parameters")), name=name, wire=wire)
    return Tool(name=name, description=str(function.get("description") or ""), contract=contract)


def _parameters(given: Any) -> Any:
    """The parameters, where an object that says nothing of its keys has none: no tool takes just anything."""
    if given is None:
        return _NO_PARAMETERS
    says_nothing = isinstance(given, Mapping) and given.keys() <= _SAY_NOTHING and not given.get("properties")
    return _NO_PARAMETERS if says_nothing and given.get("type", "object") == "object" else given


def tool_choice_from(choice: Any, names: Sequence[str]) -> ToolChoice:
    """Reads a tool choice in any of its usual forms.

    Args:
        choice: ``None`` or ``False`` (the model decides), ``True``, a word, a tool's name, or a dict in
            OpenAI's or Anthropic's form.
        names: Names of the tools there are.

    Raises:
        ConfigurationError: The choice has an unknown form or names no tool of ``names``.
    """
    if choice is None or choice is False:
        return "auto"
    if choice is True:
        return "required"
    name = _named(choice) if isinstance(choice, Mapping) else choice
    if not isinstance(name, str):
        raise ConfigurationError(f"tool_choice is {choice!r}.", hint=_CHOICE_HINT)
    if name in names:
        return NamedTool(name)
    if name in _WORDS:
        return _WORDS[name]
    known = ", ".join(names) or "none"
    raise ConfigurationError(f"tool_choice names {name!r}, which is no tool.", hint=f"Known tools: {known}.")


def _named(choice: Mapping[str, Any]) -> Any:
    function = choice.get("function")
    if isinstance(function, Mapping):
        return function.get("name")
    return choice.get("name") or choice.get("type")


def output_from_response_format(response_format: Any, *, wire: Wire = "auto") -> OutputContract | None:
    """Makes the contract of a ``response_format``.

    Args:
        response_format: OpenAI's dict, or ``None``.
        wire: What the value is written in.

    Returns:
        The contract, or ``None`` for plain text.

    Raises:
        ConfigurationError: The dict has an unknown form.
        SchemaError: Its schema is not a JSON Schema.
    """
    if response_format is None:
        return None
    kind = response_format.get("type") if isinstance(response_format, Mapping) else None
    if kind == "text":
        return None
    if kind == "json_object":
        return contract_for(JSON_OBJECT_SCHEMA, name="object", wire="json")
    described = response_format.get("json_schema") if kind == "json_schema" else None
    schema = described.get("schema") if isinstance(described, Mapping) else None
    if not isinstance(described, Mapping) or not isinstance(schema, Mapping):
        raise ConfigurationError(
            f"response_format is {response_format!r}.",
            hint="Give {'type': 'json_schema', 'json_schema': {'name': ..., 'schema': {...}}}.",
        )
    return contract_for(schema, name=str(described.get("name") or "output"), wire=wire)
