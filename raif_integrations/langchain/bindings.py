"""What ``bind_tools`` and ``with_structured_output`` bind: OpenAI dicts, to be traced and cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from raif_integrations.conversation.tools import NamedTool
from raif_integrations.errors import ConfigurationError
from raif_integrations.langchain.output_shapes import OutputShape, output_shape
from raif_integrations.langchain.tools import tool_name
from raif_integrations.openai_format import output_from_response_format, tool_choice_from


def plain_choice(choice: Any, tools: Sequence[Mapping[str, Any]]) -> str | dict[str, Any]:
    """A tool choice in OpenAI's form.

    Args:
        choice: Any form that :func:`raif_integrations.openai_format.tool_choice_from` takes.
        tools: The bound tool dicts.

    Raises:
        ConfigurationError: The choice names none of the tools.
    """
    found = tool_choice_from(choice, [tool_name(tool) for tool in tools])
    if isinstance(found, NamedTool):
        return {"type": "function", "function": {"name": found.name}}
    return found


def response_format_dict(given: Any) -> dict[str, Any]:
    """A ``response_format`` in OpenAI's form, from that form, a class or a JSON Schema.

    Raises:
        TypeError: A class has no JSON Schema.
        ConfigurationError: A dict has an unknown form.
        SchemaError: A dict's schema is not a JSON Schema.
    """
    if isinstance(given, Mapping) and given.get("type") in ("json_schema", "json_object", "text"):
        output_from_response_format(given)
        return dict(given)
    return shape_format(output_shape(given), strict=None)


def shape_format(shape: OutputShape, *, strict: bool | None) -> dict[str, Any]:
    """The ``response_format`` that asks for a shape."""
    described: dict[str, Any] = {"name": shape.name, "schema": shape.schema}
    if strict is not None:
        described["strict"] = strict
    return {"type": "json_schema", "json_schema": described}


def schema_tool(shape: OutputShape) -> dict[str, Any]:
    """The tool whose arguments are a shape.

    Raises:
        ConfigurationError: The shape is not an object.
    """
    if not shape.is_object:
        raise ConfigurationError(
            "method='function_calling' needs a schema of type object.", hint="Use method='raif'."
        )
    description = str(shape.schema.get("description") or "")
    function = {"name": shape.name, "description": description, "parameters": shape.schema}
    return {"type": "function", "function": function}
