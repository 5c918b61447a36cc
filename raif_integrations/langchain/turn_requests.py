"""From LangChain's call (messages, stop strings, bound keyword arguments) to a turn's request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from raif_integrations.langchain.messages import message_dicts
from raif_integrations.langchain.tools import tool_dicts
from raif_integrations.openai_format import output_from_response_format, tool_choice_from, tools_from_dicts
from raif_integrations.sampling import merge_sampling
from raif_integrations.turn import TurnOptions, TurnRequest

# Keyword arguments that only core or the binding read.
_NOT_SENT = frozenset({"ls_structured_output_format", "stream", "strict", "structured_output_format"})

_OPTIONS = ("prompting", "constrain", "repair_attempts")


def turn_request(
    messages: Sequence[BaseMessage],
    *,
    defaults: Mapping[str, Any],
    sampling: Mapping[str, Any],
    stop: Sequence[str] | None,
    kwargs: Mapping[str, Any],
) -> TurnRequest:
    """Makes the request of one call.

    Args:
        messages: The conversation.
        defaults: The model object's settings: ``model``, ``wire``, ``prompting``, ``constrain``,
            ``repair_attempts``, ``timeout`` and ``chat_template_kwargs``.
        sampling: The model object's sampling settings.
        stop: Stop strings of the call.
        kwargs: Keyword arguments of the call and of what was bound; each setting of ``defaults`` may be
            given here for one call.

    Raises:
        ConfigurationError: An argument is unknown or out of range.
        RequestError: The messages cannot be sent.
        SchemaError: A schema is not a JSON Schema.
    """
    given = {name: value for name, value in kwargs.items() if name not in _NOT_SENT}
    setting = {**defaults, **{name: given.pop(name) for name in list(given) if name in defaults}}
    tools = tools_from_dicts(tool_dicts(given.pop("tools", None) or ()), wire=setting["wire"])
    choice = given.pop("tool_choice", None)
    parallel = given.pop("parallel_tool_calls", None)
    output = output_from_response_format(given.pop("response_format", None), wire=setting["wire"])
    return TurnRequest(
        messages=message_dicts(messages),
        sampling=merge_sampling(sampling, given, stop=stop),
        model=setting["model"],
        tools=tools,
        tool_choice=tool_choice_from(choice if tools else None, [tool.name for tool in tools]),
        parallel_tool_calls=True if parallel is None else bool(parallel),
        output=output,
        options=TurnOptions(
            **{name: setting[name] for name in _OPTIONS}, server_decoding=setting["wire"] == "server"
        ),
        timeout=setting["timeout"],
        chat_template_kwargs=setting["chat_template_kwargs"] or {},
    )
