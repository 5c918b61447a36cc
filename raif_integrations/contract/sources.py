"""Where contracts come from: Pydantic models, tools of every shape, plain functions.

Everything becomes a name, a description and a JSON Schema. Frameworks are recognised by their
attributes, never imported.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from raif_integrations.contract.dialect import JsonSchema
from raif_integrations.errors import SchemaError


@dataclass(frozen=True, slots=True)
class Source:
    """A schema with what is said about it.

    Attributes:
        schema: The JSON Schema.
        name: What the model calls it.
        description: What it is for.
    """

    schema: JsonSchema
    name: str | None = None
    description: str | None = None


def from_type(model: Any) -> Source:
    """The schema of a Pydantic model (v1 or v2), ``TypedDict``, dataclass or any annotated type.

    Raises:
        SchemaError: Pydantic cannot describe the type.
    """
    name = getattr(model, "__name__", None)
    if _is_pydantic_v1(model):
        return Source(model.schema(), name, _doc(model))
    import pydantic

    try:
        schema = pydantic.TypeAdapter(_portable(model)).json_schema()
    except (pydantic.PydanticUserError, pydantic.errors.PydanticSchemaGenerationError) as error:
        raise SchemaError(
            f"{name or model!r} has no JSON Schema: {error.message.splitlines()[0]}",
            hint="Use types that Pydantic can describe, or give a JSON Schema.",
        ) from error
    description = schema.get("description")
    return Source(schema, name, description if isinstance(description, str) else None)


def from_tool(tool: Any) -> Source:
    """The arguments of a tool.

    Args:
        tool: An OpenAI tool (``{"type": "function", "function": {...}}`` or the function alone), a tool
            with ``input_schema``, ``inputSchema`` or ``args_schema``, a LangChain tool, a LlamaIndex tool
            (``metadata``), a Pydantic model, or a function.

    Raises:
        SchemaError: It is none of these.
    """
    if isinstance(tool, Mapping):
        return _from_tool_dict(tool)
    if inspect.isclass(tool):
        return from_type(tool)
    metadata = getattr(tool, "metadata", None)
    if metadata is not None and hasattr(metadata, "fn_schema"):
        return _from_arguments(metadata.fn_schema, metadata.name, metadata.description)
    if hasattr(tool, "args_schema") and hasattr(tool, "name"):
        arguments = getattr(tool, "tool_call_schema", None) or tool.args_schema
        return _from_arguments(arguments, tool.name, getattr(tool, "description", None))
    if callable(tool):
        return from_callable(tool)
    raise SchemaError(
        f"A tool of type {type(tool).__name__} is not understood.",
        hint="Give an OpenAI tool dict, a tool with input_schema, a LangChain tool, a model or a function.",
    )


def from_callable(function: Callable[..., Any]) -> Source:
    """The parameters of a function, by its signature and annotations.

    Unannotated parameters may hold anything; ``self`` and ``cls`` of a bound method are not parameters;
    ``**kwargs`` opens the object to other keys.

    Raises:
        SchemaError: A parameter is positional-only or ``*args``: a tool is called by keywords.
    """
    import pydantic

    name = getattr(function, "__name__", type(function).__name__)
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    try:
        hints = get_type_hints(target, include_extras=True)
    except (NameError, TypeError):
        hints = {}
    fields: dict[str, Any] = {}
    extra: Any = "forbid"
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = "allow"
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise SchemaError(
                f"The parameter {parameter.name!r} of {name} cannot be given by keyword.",
                hint="Make it an ordinary or keyword-only parameter.",
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints.get(parameter.name, Any), default)
    aliased = {
        f"field_{index}": (annotation, pydantic.Field(default, alias=parameter))
        for index, (parameter, (annotation, default)) in enumerate(fields.items())
    }
    config = pydantic.ConfigDict(extra=extra, arbitrary_types_allowed=False)
    try:
        create: Any = pydantic.create_model
        model = create(name, __config__=config, **aliased)
        schema = model.model_json_schema()
    except (pydantic.PydanticUserError, pydantic.errors.PydanticSchemaGenerationError) as error:
        raise SchemaError(
            f"The parameters of {name} have no JSON Schema: {error.message.splitlines()[0]}",
            hint="Annotate them with types that Pydantic can describe.",
        ) from error
    return Source(schema, name, inspect.getdoc(function))


def face(origin: Any) -> tuple[Any, ...]:
    """What an object says of itself that may change while it lives: the same face, the same source."""
    metadata = getattr(origin, "metadata", None)
    return tuple(
        value if isinstance(value, str) else id(value)
        for value in (
            getattr(origin, "name", None),
            getattr(origin, "description", None),
            getattr(origin, "args_schema", None),
            getattr(metadata, "name", None),
            getattr(metadata, "description", None),
            getattr(metadata, "fn_schema", None),
        )
    )


def _from_tool_dict(tool: Mapping[str, Any]) -> Source:
    body = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
    for keyword in ("parameters", "input_schema", "inputSchema", "args_schema", "schema"):
        schema = body.get(keyword)
        if isinstance(schema, (Mapping, bool)):
            return Source(schema, body.get("name"), body.get("description"))
        if schema is not None and keyword != "schema":
            return _from_arguments(schema, body.get("name"), body.get("description"))
    if isinstance(body.get("name"), str) and "properties" not in body:
        return Source({"type": "object", "properties": {}}, body["name"], body.get("description"))
    if "type" in body or "properties" in body or "$ref" in body:
        title = body.get("title")
        return Source(dict(body), title if isinstance(title, str) else None, body.get("description"))
    raise SchemaError(
        f"The tool has neither parameters nor input_schema; its keys are {sorted(map(str, body))}.",
        hint='Give {"type": "function", "function": {"name": ..., "parameters": {...}}}.',
    )


def _from_arguments(arguments: Any, name: Any, description: Any) -> Source:
    """A schema, a model or nothing, under a tool's own name and description."""
    if arguments is None:
        schema: JsonSchema = {"type": "object", "properties": {}}
    elif isinstance(arguments, (Mapping, bool)):
        schema = arguments
    else:
        schema = from_type(arguments).schema
    return Source(
        schema,
        name if isinstance(name, str) else None,
        description if isinstance(description, str) else None,
    )


def _is_pydantic_v1(model: Any) -> bool:
    """Whether a class is a model of Pydantic 1 or of ``pydantic.v1``; neither is imported for it."""
    for module in ("pydantic.v1", "pydantic"):
        base = getattr(sys.modules.get(module), "BaseModel", None)
        if inspect.isclass(base) and inspect.isclass(model) and issubclass(model, base):
            return not hasattr(base, "model_json_schema")
    return False


def _portable(annotation: Any) -> Any:
    """A type that Pydantic takes: before Python 3.12 it refuses ``typing.TypedDict``."""
    if sys.version_info >= (3, 12):
        return annotation
    if is_typeddict(annotation) and type(annotation).__module__ == "typing":
        import typing_extensions

        hints = get_type_hints(annotation, include_extras=True)
        fields = {
            name: typing_extensions.Required[_portable(hint)]
            if name in annotation.__required_keys__
            else typing_extensions.NotRequired[_portable(hint)]
            for name, hint in hints.items()
        }
        make: Any = typing_extensions.TypedDict
        portable = make(annotation.__name__, fields)
        portable.__doc__ = annotation.__doc__
        return portable
    arguments = get_args(annotation)
    if not arguments or get_origin(annotation) is Literal:
        return annotation
    changed = tuple(_portable(argument) for argument in arguments)
    if all(new is old for new, old in zip(changed, arguments, strict=True)):
        return annotation
    if isinstance(annotation, types.UnionType):
        return functools.reduce(operator.or_, changed)
    if hasattr(annotation, "copy_with"):
        return annotation.copy_with(changed)
    return get_origin(annotation)[changed]


def _doc(model: Any) -> str | None:
    return inspect.getdoc(model) if model.__doc__ else None
