"""Everything that can be bound as a tool, as OpenAI tool dicts.

LangChain's own ``convert_to_openai_tool`` replaces every ``$ref`` by its target and loses recursive
parts on the way (``list["Node"]`` becomes ``{"items": {}}``). Here the whole JSON Schema goes into
``parameters``, so that a contract made from the dict is complete.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeAlias, cast

from langchain_core.tools import BaseTool, create_schema_from_function
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_core.utils.pydantic import is_basemodel_subclass
from typing_extensions import is_typeddict

from raif_integrations.errors import ConfigurationError
from raif_integrations.langchain.typed_dicts import typed_dict_model

ToolLike: TypeAlias = "BaseTool | Callable[..., Any] | type | Mapping[str, Any]"
"""What can be bound: a tool, a function, a Pydantic class, a TypedDict, or a dict in a usual form."""


def tool_dicts(tools: Sequence[ToolLike], *, strict: bool | None = None) -> list[dict[str, Any]]:
    """Converts tools.

    Repeated conversion of the same tools costs next to nothing: agents bind tools at every step.

    Args:
        tools: What to bind.
        strict: Put into each dict as OpenAI's ``strict``; arguments always fit the schema anyway.

    Returns:
        ``{"type": "function", "function": {"name", "description", "parameters"}}`` each.

    Raises:
        ConfigurationError: Something is not a tool, or has no name.
    """
    found = [_cached(tool) for tool in tools]
    if strict is None:
        return found
    return [{**tool, "function": {**tool["function"], "strict": strict}} for tool in found]


def tool_name(tool: Mapping[str, Any]) -> str:
    """Name of an OpenAI tool dict."""
    return str(tool["function"]["name"])


# id of a tool object -> a reference that tells whether it is still that object, what the conversion
# depends on, and the dict. Tools are not hashable, so they cannot be keys themselves.
_converted: dict[int, tuple[weakref.ref[Any], object, dict[str, Any]]] = {}


def _cached(tool: ToolLike) -> dict[str, Any]:
    key, stamp = id(tool), _stamp(tool)
    held = _converted.get(key)
    if held is not None and held[0]() is tool and held[1] == stamp:
        return held[2]
    found = _convert(tool)
    try:
        reference = weakref.ref(tool, lambda _: _converted.pop(key, None))
    except TypeError:  # dicts cannot be referred to weakly; converting them is cheap
        return found
    _converted[key] = (reference, stamp, found)
    return found


def _stamp(tool: ToolLike) -> object:
    """What may change on the same object and changes its dict."""
    if isinstance(tool, BaseTool):
        return tool.name, tool.description, id(tool.args_schema)
    if isinstance(tool, type):
        return id(tool.__dict__.get("__pydantic_core_schema__"))
    return getattr(tool, "__doc__", None)


def _convert(tool: ToolLike) -> dict[str, Any]:
    if isinstance(tool, Mapping):
        return _from_mapping(tool)
    if isinstance(tool, BaseTool):
        return _from_tool(tool)
    if isinstance(tool, type) and issubclass(tool, Enum):
        raise TypeError(f"{tool.__name__} is an Enum and cannot be a tool; use it as the type of a field.")
    if isinstance(tool, type) and is_basemodel_subclass(tool):
        return _from_schema(_model_schema(tool))
    if is_typeddict(tool):
        return _from_schema(_model_schema(typed_dict_model(cast(Any, tool))))
    if callable(tool):
        return _from_function(tool)
    raise ConfigurationError(
        f"A {type(tool).__name__} was given as a tool.",
        hint="Give a BaseTool, a function, a Pydantic class, a TypedDict or a tool dict.",
    )


def _from_mapping(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A dict in OpenAI's, Anthropic's or Bedrock's form, or a JSON Schema with a title."""
    if "function" not in tool and ("properties" in tool or "$defs" in tool) and "name" not in tool:
        return _from_schema(dict(tool))
    if tool.get("type") == "function" and isinstance(tool.get("function"), Mapping):
        found: dict[str, Any] = {"type": "function", "function": dict(tool["function"])}
    else:
        found = convert_to_openai_tool(dict(tool))
    if not isinstance(found.get("function"), Mapping):
        raise ConfigurationError(
            f"A tool dict has the type {found.get('type')!r}.",
            hint="Only functions can be called; tools a provider runs on its side are not available here.",
        )
    if not found["function"].get("name"):
        raise ConfigurationError("A tool dict has no name.", hint="Give function['name'].")
    return found


def _from_tool(tool: BaseTool) -> dict[str, Any]:
    schema = tool.tool_call_schema
    if tool.args_schema is None and not isinstance(schema, dict) and type(tool).__name__ == "Tool":
        return convert_to_openai_tool(tool)
    parameters = dict(schema) if isinstance(schema, dict) else _model_schema(schema)
    parameters.pop("title", None)
    parameters.pop("description", None)
    return _tool(tool.name, tool.description, parameters)


def _from_function(function: Callable[..., Any]) -> dict[str, Any]:
    name = getattr(function, "__name__", None)
    if not name:
        raise ConfigurationError(f"The tool {function!r} has no name.", hint="Give a named function.")
    model = create_schema_from_function(
        name,
        function,
        filter_args=(),
        parse_docstring=True,
        error_on_invalid_docstring=False,
        include_injected=False,
    )
    return _from_schema(_model_schema(model), name=name)


def _from_schema(schema: dict[str, Any], *, name: str | None = None) -> dict[str, Any]:
    parameters = dict(schema)
    title, description = parameters.pop("title", None), parameters.pop("description", None)
    root = _referenced_root(schema)
    name = name or title or root.get("title")
    if not name:
        raise ConfigurationError(
            "A JSON Schema was given as a tool, but it has no name.", hint="Give it a 'title'."
        )
    return _tool(str(name), str(description or root.get("description") or ""), parameters)


def _referenced_root(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The definition a schema consists of, if it is only a ``$ref`` to one of its own (recursive classes)."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return {}
    found: Any = schema
    for part in reference[2:].split("/"):
        found = found.get(part, {}) if isinstance(found, Mapping) else {}
    return found if isinstance(found, Mapping) else {}


def _tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def _model_schema(model: Any) -> dict[str, Any]:
    """JSON Schema of a Pydantic class of version 2 or 1."""
    if hasattr(model, "model_json_schema"):
        return dict(model.model_json_schema())
    return dict(model.schema())
