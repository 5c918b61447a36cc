"""From a request's sampling settings and constraint to vLLM's sampling parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from raif_integrations.engines.base import Constraint, GrammarConstraint, JsonConstraint, Sampling
from raif_integrations.engines.embedded.arguments import check_names
from raif_integrations.errors import ContextLengthError, RequestError

_NAMED: Final = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "seed",
    "frequency_penalty",
    "presence_penalty",
)
_RESERVED: Final = frozenset({*_NAMED, "stop", "n", "output_kind", "structured_outputs", "skip_clone"})


def sampling_parameters(
    sampling: Sampling, defaults: Mapping[str, Any], *, known: Collection[str]
) -> dict[str, Any]:
    """Puts a request's settings over the model's own defaults.

    Args:
        sampling: The request's settings.
        defaults: The model's defaults (``generation_config.json``), as vLLM's server applies them.
        known: Names of the sampling parameters this vLLM has.

    Returns:
        Sampling parameters by name, without ``max_tokens`` if neither side sets it.

    Raises:
        RequestError: ``extra`` has an unknown name, or one of a named setting.
    """
    for name in sampling.extra:
        if name in _RESERVED:
            raise RequestError(f"`extra` of the sampling settings has {name!r}, which it cannot set.")
    check_names(sampling.extra, known, "vLLM's sampling (`extra`)", RequestError)
    named = {name: getattr(sampling, name) for name in _NAMED}
    chosen = {name: value for name, value in named.items() if value is not None}
    stop = {"stop": list(sampling.stop)} if sampling.stop else {}
    return {**defaults, **chosen, **stop, **sampling.extra}


def limit_tokens(
    parameters: dict[str, Any], *, asked: int | None, prompt_tokens: int, max_model_len: int
) -> None:
    """Sets ``max_tokens``: what was asked for, else the model's default, at most the room left.

    Args:
        parameters: Sampling parameters, changed in place.
        asked: ``max_tokens`` of the request itself.
        prompt_tokens: Length of the prompt.
        max_model_len: Length of the model's context.

    Raises:
        ContextLengthError: The prompt, alone or with the reply asked for, is longer than the context.
        RequestError: No token was asked for.
    """
    if asked is not None and asked < 1:
        raise RequestError(f"max_tokens is {asked}.", hint="Ask for at least 1 token, or leave it out.")
    room = max_model_len - prompt_tokens
    if room < 1:
        raise ContextLengthError(
            f"The prompt has {prompt_tokens} tokens, and the model's context holds {max_model_len}.",
            hint="Shorten the messages, or raise max_model_len in `engine_args` if the model allows it.",
        )
    if asked is not None and asked > room:
        raise ContextLengthError(
            f"The prompt has {prompt_tokens} tokens and max_tokens={asked}; "
            f"together they exceed the model's context of {max_model_len}.",
            hint=f"Ask for at most {room} tokens, or leave max_tokens out to use all the room.",
        )
    parameters["max_tokens"] = min(room, parameters.get("max_tokens") or room)


def constraint_arguments(constraint: Constraint) -> dict[str, Any]:
    """Names a constraint the way vLLM's structured outputs do."""
    match constraint:
        case GrammarConstraint(ebnf):
            return {"grammar": ebnf}
        case JsonConstraint(schema):
            return {"json": dict(schema)}
