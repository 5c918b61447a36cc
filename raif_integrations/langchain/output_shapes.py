"""What ``with_structured_output`` was given: a JSON Schema, and the way from a value to the user's object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, cast

from langchain_core.utils.pydantic import is_basemodel_subclass
from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from typing_extensions import is_typeddict

from raif_integrations.errors import ConfigurationError
from raif_integrations.langchain.tools import tool_dicts
from raif_integrations.langchain.typed_dicts import typed_dict_model

DEFAULT_NAME = "output"
"""Name of a schema that has none."""


@dataclass(frozen=True, slots=True)
class OutputShape:
    """What a structured call returns.

    Attributes:
        name: Name of the schema; also the tool's name with ``method="function_calling"``.
        schema: JSON Schema of the value.
        traced: What LangSmith is told of the schema; core converts it.
        build: Makes the user's object of decoded JSON data, or ``None`` where the data itself is returned.
    """

    name: str
    schema: dict[str, Any]
    traced: Any
    build: Callable[[Any], Any] | None = None

    @property
    def is_object(self) -> bool:
        """Whether the value can only be an object, as the arguments of a tool must be."""
        return self.schema.get("type") == "object" or "properties" in self.schema or "$ref" in self.schema


JSON_OBJECT = OutputShape("object", {"type": "object"}, {"type": "object", "title": "object"})
"""Any JSON object."""


def output_shape(schema: Any) -> OutputShape:
    """Reads a schema in any of the forms ``with_structured_output`` takes.

    Args:
        schema: A Pydantic class (version 2 or 1), a TypedDict, a dataclass, any type Pydantic knows
            (``list[Item]``, ``A | B``, ``int``), a function, a JSON Schema with or without a title, or a tool
            dict in OpenAI's or Anthropic's form.

    Raises:
        TypeError: The schema is an Enum, or a type without a JSON Schema.
        ConfigurationError: The schema is missing or empty.
    """
    if schema is None:
        raise ConfigurationError("schema is None.", hint="Give a Pydantic class or a JSON Schema.")
    if isinstance(schema, Mapping):
        return _from_mapping(schema)
    if isinstance(schema, type) and issubclass(schema, Enum):
        raise TypeError(
            f"{schema.__name__} is an Enum; a structured output has fields. Use it as the type of a field."
        )
    if is_typeddict(schema):
        return _named(typed_dict_model(schema).model_json_schema(), schema.__name__, traced=schema)
    if isinstance(schema, type) and is_basemodel_subclass(schema):
        return _from_model(schema)
    if isinstance(schema, type) or not callable(schema) or hasattr(schema, "__origin__"):
        return _from_type(schema)
    function = tool_dicts([schema])[0]["function"]
    return _named(function["parameters"], function["name"], traced=schema)


def _named(schema: Mapping[str, Any], name: str, *, traced: Any = None) -> OutputShape:
    clean = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or DEFAULT_NAME
    found = dict(schema)
    return OutputShape(clean, found, {**found, "title": clean} if traced is None else traced)


def _from_mapping(schema: Mapping[str, Any]) -> OutputShape:
    if not schema:
        raise ConfigurationError("schema is empty.", hint="Give a JSON Schema with 'type' and 'properties'.")
    described = schema.get("json_schema", schema)
    if isinstance(described, Mapping) and isinstance(described.get("schema"), Mapping):
        return _named(described["schema"], str(described.get("name") or DEFAULT_NAME))
    if "function" in schema or ("name" in schema and ("parameters" in schema or "input_schema" in schema)):
        function = tool_dicts([schema])[0]["function"]
        return _named(function.get("parameters") or {"type": "object"}, function["name"], traced=dict(schema))
    title = schema.get("title")
    if isinstance(title, str) and title:
        return _named(schema, title, traced=dict(schema))
    return _named(schema, DEFAULT_NAME)


def _from_model(model: type[Any]) -> OutputShape:
    if issubclass(model, BaseModel):
        shape = _named(model.model_json_schema(), model.__name__, traced=model)

        def build(value: Any) -> Any:
            # From JSON text, so that strict classes take a date or a tuple as JSON writes it.
            return model.model_validate_json(json.dumps(value))

    else:
        shape = _named(cast(Any, model).schema(), model.__name__, traced=model)
        build = cast(Any, model).parse_obj
    return replace(shape, build=build)


def _from_type(given: Any) -> OutputShape:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(given)
        schema = adapter.json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise TypeError(f"{given!r} has no JSON Schema: {error}") from error
    name = schema.get("title") or getattr(given, "__name__", None) or DEFAULT_NAME
    shape = _named(schema, str(name))
    return replace(shape, build=lambda value: adapter.validate_json(json.dumps(value)))
