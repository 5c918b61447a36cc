"""Tools, tool choice and tool selections between LlamaIndex and a turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ToolCallBlock
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.tools.function_tool import FunctionTool
from llama_index.core.tools.types import AsyncBaseTool, BaseTool, ToolMetadata, ToolOutput
from pydantic import BaseModel, RootModel

from raif_integrations.errors import ConfigurationError, OutputError
from raif_integrations.llama_index.messages import legacy_tool_call
from raif_integrations.llama_index.results import plain_tool_call
from raif_integrations.llama_index.validity import excerpt, to_instance

_OUTPUT_FUNCTION = f"{get_function_tool.__qualname__}.<locals>."


def is_output_tool(tool: BaseTool) -> bool:
    """Tells whether a tool stands for an output class, as core's programs make them.

    Such a tool does nothing: calling it builds an instance of its class from the arguments.
    """
    if isinstance(tool, FunctionTool):
        # A partial, or an object that can be called, has no such name.
        return str(getattr(tool.real_fn, "__qualname__", "")).startswith(_OUTPUT_FUNCTION)
    return isinstance(tool, OutputTool)


def tool_dict(tool: BaseTool | Mapping[str, Any]) -> dict[str, Any]:
    """A tool as an OpenAI tool dict.

    Unlike core's ``to_openai_tool`` it keeps the name as it is (core looks calls up by that name, and
    a generic model's has brackets) and the whole schema (core drops ``additionalProperties`` and
    everything of a ``RootModel``).

    Args:
        tool: A LlamaIndex tool, or a tool dict, which is returned as it is.

    Returns:
        ``{"type": "function", "function": {"name", "description", "parameters"}}``.
    """
    if isinstance(tool, Mapping):
        return dict(tool)
    if not isinstance(tool, BaseTool):
        raise ConfigurationError(
            f"A tool is a {type(tool).__name__}.",
            hint="Give LlamaIndex tools (FunctionTool.from_defaults(fn)) or OpenAI tool dicts.",
        )
    metadata = tool.metadata
    if not metadata.name:
        raise ConfigurationError("A tool has no name.", hint="Give ToolMetadata(name=...).")
    return {
        "type": "function",
        "function": {
            "name": metadata.name,
            "description": _description(tool),
            "parameters": _parameters(metadata),
        },
    }


def _description(tool: BaseTool) -> str:
    """When to use the tool, without what core adds: a signature repeats what the cue says.

    For an output class that is its docstring; core would describe its own helper function.
    """
    metadata = tool.metadata
    if is_output_tool(tool) and metadata.fn_schema is not None:
        return str(metadata.fn_schema.model_json_schema().get("description") or "")
    description = metadata.description or ""
    signature, _, rest = description.partition("\n")
    return rest if rest.strip() and signature.startswith(f"{metadata.name}(") else description


def _parameters(metadata: ToolMetadata) -> dict[str, Any]:
    schema = metadata.fn_schema
    if schema is None:
        return metadata.get_parameters_dict()
    parameters = schema.model_json_schema()
    if not issubclass(schema, RootModel):
        return parameters
    definitions = parameters.pop("$defs", None)
    wrapped = {"type": "object", "properties": {"root": parameters}, "required": ["root"]}
    return {**wrapped, "$defs": definitions} if definitions else wrapped


def resolved_choice(
    choice: str | Mapping[str, Any] | None, tools: Sequence[BaseTool | Mapping[str, Any]], *, required: bool
) -> str | dict[str, Any]:
    """What ``tool_choice`` and ``tool_required`` mean together.

    An explicit choice wins. Without one, a call is demanded if ``required`` is set, and also if the
    only tool stands for an output class: there is nothing else to do than to fill it, and core's
    streaming programs forget to say so.

    Args:
        choice: ``None``, ``auto``, ``required``, ``any``, ``none``, a tool's name, or OpenAI's dict.
        tools: The tools.
        required: LlamaIndex's ``tool_required``.

    Returns:
        A choice for :meth:`RaifVLLM.chat`.
    """
    if choice is not None:
        return choice if isinstance(choice, str) else dict(choice)
    only_output = len(tools) == 1 and isinstance(tools[0], BaseTool) and is_output_tool(tools[0])
    return "required" if required or only_output else "auto"


def joined_history(
    user_message: str | ChatMessage | None, history: Sequence[ChatMessage] | None
) -> list[ChatMessage]:
    """The history and the new message as one new list."""
    messages = list(history or ())
    if isinstance(user_message, str):
        messages.append(ChatMessage(content=user_message))
    elif user_message is not None:
        messages.append(user_message)
    return messages


def selections(response: ChatResponse, *, demand: bool) -> list[ToolSelection]:
    """The tool calls of a response.

    Args:
        response: A response of ours, or one that went through JSON.
        demand: No call is an error.

    Returns:
        A selection for each call; empty if there are none.

    Raises:
        OutputError: There is no call but ``demand``, or a call's arguments are not an object.
    """
    message = response.message
    calls = [
        (block.tool_call_id or "", block.tool_name, block.tool_kwargs)
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ] or [legacy_tool_call(call) for call in message.additional_kwargs.get("tool_calls") or ()]
    if demand and not calls:
        raise OutputError(
            f"The model called no tool; it wrote: {excerpt(message.content)}.",
            text=message.content or "",
            hint="Set tool_required=True, or pass error_on_no_tool_call=False to accept an answer in text.",
        )
    return [
        ToolSelection(tool_id=call_id, tool_name=name, tool_kwargs=_arguments(name, arguments))
        for call_id, name, arguments in calls
    ]


def _arguments(name: str, arguments: dict[str, Any] | str) -> dict[str, Any]:
    """Arguments as a dict; text that is not a JSON object is an error, not an empty call."""
    if isinstance(arguments, dict):
        return arguments
    try:
        value = json.loads(arguments) if arguments.strip() else {}
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise OutputError(
            f"The arguments of the call of {name!r} are not a JSON object: {excerpt(arguments)}.",
            text=arguments,
        )
    return value


def only_first_call(response: ChatResponse) -> None:
    """Drops all calls but the first, from the blocks and from ``additional_kwargs``."""
    message = response.message
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if len(calls) < 2:
        return
    message.blocks = [block for block in message.blocks if block not in calls[1:]]
    message.additional_kwargs["tool_calls"] = [plain_tool_call(calls[0])]


def shielded(tool: BaseTool) -> BaseTool:
    """An output class's tool as an :class:`OutputTool`; any other tool as it is."""
    return OutputTool(tool) if is_output_tool(tool) and not isinstance(tool, OutputTool) else tool


class OutputTool(AsyncBaseTool):
    """Core's tool for an output class, called without core's pitfalls.

    Core's own calling code passes the arguments as keywords, which fails on a field named ``self``,
    and reads ``properties`` of the schema, which a ``RootModel`` does not have.

    Args:
        tool: A tool for which :func:`is_output_tool` holds.
    """

    def __init__(self, tool: BaseTool) -> None:
        schema = tool.metadata.fn_schema
        if schema is None:
            raise ConfigurationError("An output tool has no schema.")
        self._output_class: type[BaseModel] = schema
        self._metadata = _OutputToolMetadata(
            description=tool.metadata.description, name=tool.metadata.name, fn_schema=schema
        )

    @property
    def metadata(self) -> ToolMetadata:
        """The tool's name, description and schema."""
        return self._metadata

    def __call__(self, /, *inputs: Any, **arguments: Any) -> ToolOutput:
        """Builds an instance of the output class from keywords or from one dict."""
        return _build(self._output_class, self._metadata.get_name(), inputs[0] if inputs else arguments)

    def call(self, /, *inputs: Any, **arguments: Any) -> ToolOutput:
        """Builds an instance of the output class from keywords or from one dict."""
        return self(*inputs, **arguments)

    async def acall(self, /, *inputs: Any, **arguments: Any) -> ToolOutput:
        """Builds an instance of the output class from keywords or from one dict."""
        return self(*inputs, **arguments)


class _OutputToolMetadata(ToolMetadata):
    """Metadata that never makes core unpack a single argument."""

    def get_parameters_dict(self) -> dict[str, Any]:
        """A description without properties; core's calling code only counts them."""
        return {"type": "object", "properties": {}}


def _build(output_class: type[BaseModel], name: str, arguments: dict[str, Any]) -> ToolOutput:
    value = arguments["root"] if issubclass(output_class, RootModel) else arguments
    instance = to_instance(output_class, value, text=json.dumps(value, ensure_ascii=False))
    return ToolOutput(tool_name=name, content=str(instance), raw_input=arguments, raw_output=instance)
