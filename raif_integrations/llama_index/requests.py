"""A call of ``chat`` as a turn request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from pydantic import BaseModel

from raif_integrations.errors import ConfigurationError
from raif_integrations.llama_index.messages import to_message_dicts
from raif_integrations.llama_index.tools import tool_dict
from raif_integrations.openai_format import output_from_response_format, tool_choice_from, tools_from_dicts
from raif_integrations.sampling import merge_sampling
from raif_integrations.turn import TurnOptions, TurnRequest

_OPTIONS = ("prompting", "constrain", "repair_attempts")


def turn_request(
    messages: Sequence[ChatMessage],
    arguments: Mapping[str, Any],
    *,
    defaults: Mapping[str, Any],
    sampling: Mapping[str, Any],
) -> TurnRequest:
    """Builds the turn for one call.

    Args:
        messages: The conversation; not changed.
        arguments: Keyword arguments of the call; each setting of ``defaults`` may be given there.
        defaults: The model object's ``model``, ``wire``, ``prompting``, ``constrain``, ``repair_attempts``,
            ``timeout`` and ``chat_template_kwargs``.
        sampling: The model object's sampling settings.

    Returns:
        The turn request.

    Raises:
        ConfigurationError: An argument is unknown or makes no sense.
        SchemaError: A tool's schema or the response format is not a JSON Schema.
    """
    rest = dict(arguments)
    setting = {name: rest.pop(name, default) for name, default in defaults.items()}
    tools = tools_from_dicts(
        [tool_dict(tool) for tool in rest.pop("tools", None) or ()], wire=setting["wire"]
    )
    wanted = rest.pop("response_format", None)
    if isinstance(wanted, type):
        wanted = output_format(wanted)
    return TurnRequest(
        messages=to_message_dicts(messages),
        model=setting["model"],
        tools=tools,
        tool_choice=tool_choice_from(rest.pop("tool_choice", None), [tool.name for tool in tools]),
        parallel_tool_calls=rest.pop("parallel_tool_calls", None) not in (False, 0),
        output=output_from_response_format(wanted, wire=setting["wire"]),
        options=TurnOptions(
            **{name: setting[name] for name in _OPTIONS}, server_decoding=setting["wire"] == "server"
        ),
        timeout=setting["timeout"],
        chat_template_kwargs=setting["chat_template_kwargs"] or {},
        sampling=merge_sampling(sampling, rest, stop=rest.pop("stop", None)),
    )


def output_format(output_class: type[BaseModel]) -> dict[str, Any]:
    """A Pydantic class as OpenAI's ``response_format``: plain data, so that events can be stored.

    Args:
        output_class: The class.

    Returns:
        ``{"type": "json_schema", "json_schema": {"name", "schema"}}``.

    Raises:
        ConfigurationError: ``output_class`` is not a Pydantic class.
    """
    if not (isinstance(output_class, type) and issubclass(output_class, BaseModel)):
        raise ConfigurationError(
            f"The output class is {output_class!r}.", hint="Give a subclass of pydantic.BaseModel."
        )
    schema = output_class.model_json_schema()
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.get("title", output_class.__name__), "schema": schema},
    }
