"""Sampling settings from a framework's keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from raif_integrations.engines.base import Sampling
from raif_integrations.errors import ConfigurationError

_NAMED = frozenset(field.name for field in fields(Sampling)) - {"extra", "stop"}

# Further sampling parameters of vLLM (vllm/sampling_params.py and its OpenAI protocol).
_FURTHER = frozenset(
    {
        "allowed_token_ids",
        "bad_words",
        "ignore_eos",
        "include_stop_str_in_output",
        "length_penalty",
        "logit_bias",
        "min_p",
        "min_tokens",
        "repetition_penalty",
        "skip_special_tokens",
        "spaces_between_special_tokens",
        "stop_token_ids",
        "truncate_prompt_tokens",
    }
)

_ALIASES = {"max_completion_tokens": "max_tokens", "max_new_tokens": "max_tokens"}

_RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, float("inf")),
    "top_p": (0, 1),
    "max_tokens": (1, float("inf")),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
}


def merge_sampling(
    defaults: Mapping[str, Any],
    overrides: Mapping[str, Any],
    *,
    stop: Sequence[str] | None = None,
) -> Sampling:
    """Joins a model object's sampling settings with those of one call.

    Args:
        defaults: Settings of the model object; ``extra`` holds further vLLM sampling parameters, unchecked.
        overrides: Settings of the call, by name. ``None`` leaves the default in force.
        stop: The call's stop strings, added to those of ``defaults``.

    Returns:
        The sampling of the request.

    Raises:
        ConfigurationError: A name is unknown or a value out of range.
    """
    named = {name: value for name, value in defaults.items() if name in _NAMED}
    extra = dict(defaults.get("extra") or {})
    for given, value in overrides.items():
        name = _ALIASES.get(given, given)
        if value is None:
            continue
        if name in _NAMED:
            named[name] = value
        elif name in _FURTHER:
            extra[name] = value
        else:
            raise _unknown(given)
    for name, (low, high) in _RANGES.items():
        value = named.get(name)
        if value is not None and not low <= value <= high:
            raise ConfigurationError(f"{name} is {value}.", hint=f"Give a value from {low} to {high}.")
    return Sampling(**named, stop=_stops(defaults.get("stop"), stop), extra=extra)


def _stops(*given: str | Sequence[str] | None) -> tuple[str, ...]:
    """All stop strings, each once, in the order given; a call's ``None`` never erases the model's own."""
    found: dict[str, None] = {}
    for group in given:
        found.update(dict.fromkeys([group] if isinstance(group, str) else group or ()))
    return tuple(text for text in found if text)


def _unknown(name: str) -> ConfigurationError:
    close = get_close_matches(name, _NAMED | _FURTHER, n=1)
    guess = f"Did you mean {close[0]!r}? " if close else ""
    return ConfigurationError(
        f"{name!r} is not an argument of a call.",
        hint=f"{guess}Further vLLM sampling parameters go into the model's own extra settings.",
    )
