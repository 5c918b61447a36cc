"""Whether vLLM drafts, and the argument that says so."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from importlib.machinery import PathFinder
from typing import Any, Final, Literal, TypeAlias

from raif_integrations.errors import ConfigurationError

Speculation: TypeAlias = Literal["auto", "on", "off"]
"""``auto`` drafts where vLLM can and drafts are known to pay, ``on`` makes it an error where it cannot."""

DEFAULT_SPECULATION: Final[Speculation] = "auto"
"""Drafts change no reply, only when it is there."""

DRAFT_TOKENS: Final = 10
"""Most tokens of a draft: a line of a reply, from the second token of a value to the next one's key."""

PROPOSER: Final = "raif_integrations.engines.speculation.proposer.RaifProposer"
"""Where vLLM finds the class that drafts."""

_SEAM: Final = ("vllm", "v1", "spec_decode", "custom_class_proposer")
_LOGITS_PLUGINS: Final = "vllm.logits_processors"
_CONFLICTING: Final = ("logits_processors", "async_scheduling")
_NOT_WITH_DRAFTS: Final = ("min_p", "logit_bias")


def speculative_config(
    speculation: Speculation = "auto",
    *,
    tokens: int = DRAFT_TOKENS,
    engine_args: Mapping[str, Any] | None = None,
    cpu: bool = True,
) -> dict[str, Any] | None:
    """The ``speculative_config`` to start vLLM with, an engine or a server.

    Args:
        speculation: What the user wants.
        tokens: Most tokens of a draft.
        engine_args: The other arguments vLLM is started with, by name. With ``auto``, those that vLLM does
            not take together with drafts switch them off.
        cpu: The model runs without a GPU. With ``auto`` it drafts only there: no figures from GPUs are
            known, and vLLM schedules ahead on them only without drafts.

    Returns:
        The argument, or ``None`` for none: the user's own ``speculative_config`` is never replaced.

    Raises:
        ConfigurationError: ``speculation`` is unknown, ``tokens`` is no positive number, or drafts are
            wanted ``on`` and the installed vLLM has no place for them.
    """
    check_speculation(speculation, engine_args or {})
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
        raise ConfigurationError(f"tokens is {tokens!r}.", hint="Give the most tokens of a draft, 1 or more.")
    given = engine_args or {}
    if speculation == "off" or given.get("speculative_config") is not None:
        return None
    if speculation == "auto" and "speculative_config" in given:
        return None  # the user's own None: no drafts
    if speculation == "auto" and not (cpu and has_seam() and not conflicts(given)):
        return None
    if not has_seam():
        raise ConfigurationError(
            "speculation='on': the installed vLLM does not load drafting classes of others.",
            hint="Install vLLM 0.32, or leave speculation at 'auto'.",
        )
    return {"method": "custom_class", "model": PROPOSER, "num_speculative_tokens": tokens}


def check_speculation(speculation: object, engine_args: Mapping[str, Any]) -> None:
    """Checks the setting, as far as that goes without looking for vLLM.

    Args:
        speculation: What the user wants.
        engine_args: The other arguments vLLM is started with, by name.

    Raises:
        ConfigurationError: It is unknown, or contradicts ``engine_args``.
    """
    if speculation not in ("auto", "on", "off"):
        raise ConfigurationError(f"speculation is {speculation!r}.", hint="Give 'auto', 'on' or 'off'.")
    if speculation == "on" and engine_args.get("speculative_config") is not None:
        raise ConfigurationError(
            "speculation='on' is given beside a speculative_config for vLLM.", hint="Remove one of the two."
        )


@cache
def has_seam() -> bool:
    """Whether the installed vLLM loads drafting classes of others; looked up without importing it."""
    try:
        spec = importlib.util.find_spec(_SEAM[0])
    except ValueError:  # Imported already, by a stand-in that has no spec.
        return False
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    for part in _SEAM[1:]:
        found = PathFinder.find_spec(part, places)
        if found is None:
            return False
        places = list(found.submodule_search_locations or ())
    return True


def conflicts(engine_args: Mapping[str, Any]) -> bool:
    """Whether vLLM would refuse, or silently drop, something because of drafts.

    With them it has no logits processors beside its own, no asynchronous scheduling, and refuses every
    request with ``min_p`` or ``logit_bias`` (vLLM 0.32: ``build_logitsprocs``, ``VllmConfig``,
    ``SamplingParams``).

    Args:
        engine_args: Arguments vLLM is started with.
    """
    from importlib.metadata import entry_points

    defaults = engine_args.get("override_generation_config") or {}
    return (
        any(engine_args.get(name) for name in _CONFLICTING)
        or refused_sampling(defaults if isinstance(defaults, Mapping) else {})
        or bool(entry_points(group=_LOGITS_PLUGINS))
    )


def refused_sampling(sampling: Mapping[str, Any]) -> bool:
    """Whether vLLM refuses sampling parameters where it drafts."""
    return any(sampling.get(name) for name in _NOT_WITH_DRAFTS)
