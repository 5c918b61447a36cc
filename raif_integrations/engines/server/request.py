"""An engine request as the body of ``POST /v1/chat/completions``."""

from __future__ import annotations

from typing import Any

from raif_integrations.engines.base import (
    GrammarConstraint,
    JsonConstraint,
    Request,
    Sampling,
    ServerDecoding,
)
from raif_integrations.errors import ConfigurationError, RequestError

_OWN_FIELDS = frozenset({"model", "messages", "stream", "stream_options", "chat_template_kwargs"})
_OTHER_CONSTRAINTS = frozenset({"structured_outputs", "response_format", "tools", "tool_choice"})


def chat_body(request: Request, model: str, *, stream: bool) -> dict[str, Any]:
    """Builds the request body. Only what is set is sent, so that the server's defaults stay in force.

    A constraint travels as vLLM's ``structured_outputs`` (vLLM 0.12 and later). ``tools`` and
    ``response_format`` are sent for a request that leaves decoding to the server, and for no other, so
    that every other body means the same on any vLLM server, whatever parser or plugin it runs.

    Args:
        request: What to generate.
        model: Name of the served model or adapter.
        stream: Ask for server-sent events, with the usage in the last one.

    Raises:
        RequestError: There are no messages, or the grammar is not EBNF.
        ConfigurationError: ``sampling.extra`` holds a field that is not a sampling parameter.
    """
    if not request.messages:
        raise RequestError("messages is empty.", hint="Give at least one message.")
    body: dict[str, Any] = {"model": model, "messages": list(request.messages)}
    body.update(_sampling_fields(request.sampling))
    constraint = _constraint_field(request)
    if constraint is not None:
        body["structured_outputs"] = constraint
    if request.server_decoding is not None:
        body.update(_decoding_fields(request.server_decoding))
    if request.chat_template_kwargs:
        body["chat_template_kwargs"] = dict(request.chat_template_kwargs)
    if stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return body


def _decoding_fields(decoding: ServerDecoding) -> dict[str, Any]:
    fields = {
        "tools": list(decoding.tools) or None,
        "tool_choice": decoding.tool_choice,
        "parallel_tool_calls": decoding.parallel_tool_calls,
        "response_format": decoding.response_format,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _sampling_fields(sampling: Sampling) -> dict[str, Any]:
    for name in sampling.extra:
        _check_extra(name)
    fields = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "max_tokens": sampling.max_tokens,
        "stop": list(sampling.stop) or None,
        "seed": sampling.seed,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
    }
    return {name: value for name, value in fields.items() if value is not None} | dict(sampling.extra)


def _check_extra(name: str) -> None:
    if name in _OWN_FIELDS:
        raise ConfigurationError(f"sampling.extra[{name!r}] is not a sampling parameter: the engine sets it.")
    # vLLM answers "guided_json" and its kin with 200 and an unconstrained reply since 0.12.
    if name in _OTHER_CONSTRAINTS or name.startswith("guided_"):
        raise ConfigurationError(
            f"sampling.extra[{name!r}] is a constraint, not a sampling parameter.",
            hint="Give the request a constraint instead.",
        )
    if name == "n":
        raise ConfigurationError("sampling.extra['n']: a request has one reply.", hint="Use generate_many.")


def _constraint_field(request: Request) -> dict[str, Any] | None:
    match request.constraint:
        case None:
            return None
        case JsonConstraint(schema=schema):
            return {"json": dict(schema)}
        case GrammarConstraint(ebnf=ebnf):
            # vLLM takes a grammar without "::=" for Lark, whose failure stops the engine of vLLM 0.19.
            if "::=" not in ebnf:
                raise RequestError("constraint.ebnf has no rule.", hint="Write rules as 'root ::= ...'.")
            return {"grammar": ebnf}
