"""Settings of the server as a whole, from environment variables."""

from __future__ import annotations

import logging
import os
from functools import lru_cache
from typing import cast

from raif_integrations.turn.types import Prompting, is_raif_name

PROMPTING_VARIABLE = "RAIF_PROMPTING"
"""``trained``, ``primer`` or ``auto`` (the default), for all models of a server."""

_WORDS = ("auto", "trained", "primer")


def prompting() -> Prompting:
    """How models are shown a schema, as the environment says; ``auto`` where it says something unknown."""
    return _setting(os.environ.get(PROMPTING_VARIABLE, "").strip().lower() or "auto")


@lru_cache
def _setting(word: str) -> Prompting:
    """Checks the word; cached, so that a wrong one is told once and not with each request."""
    if word not in _WORDS:
        logging.getLogger("vllm.raif_integrations").warning(
            "%s=%r is unknown; using 'auto'. Give one of %s.", PROMPTING_VARIABLE, word, ", ".join(_WORDS)
        )
        return "auto"
    return cast("Prompting", word)


def is_trained(setting: Prompting, model: str | None, base_names: tuple[str, ...]) -> bool:
    """Whether a model knows RAIF's bare cue.

    Args:
        setting: What the server was told.
        model: The name a request asks for; ``None`` is the server's own model.
        base_names: The names of the server's own model and its path.
    """
    if setting != "auto":
        return setting == "trained"
    names = base_names if model is None or model in base_names else (model,)
    return any(is_raif_name(name) for name in names)
