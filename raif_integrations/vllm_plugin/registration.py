"""The entry point that vLLM calls in each of its processes."""

from __future__ import annotations

import logging

from raif_integrations.vllm_plugin.flags import PARSER_NAME

_LOGGER = logging.getLogger("vllm.raif_integrations")
"""A child of vLLM's logger, so that its handlers and levels apply."""

_PACKAGE = "raif_integrations.vllm_plugin"


def register() -> None:
    """Makes the parsers and the renderer known to vLLM. Safe to call anywhere and more than once.

    An error is logged and goes no further: vLLM does not guard the call (``vllm.plugins``,
    ``load_general_plugins``), and a server without RAIF is better than none.
    """
    try:
        _register()
    except Exception:
        _LOGGER.exception(
            "raif-integrations could not be registered; this server runs without RAIF. "
            "Run `raif-integrations doctor` or set VLLM_PLUGINS to leave the plugin out."
        )


def _register() -> None:
    from raif_integrations.vllm_plugin.vllm_api import missing_seams, register_parsers, register_renderer

    missing = missing_seams()
    if missing:
        _LOGGER.warning(
            "This vLLM has no %s, so raif-integrations takes no part in it. Its plugin needs vLLM 0.29 or "
            "newer; for vLLM 0.19 there is raif-vllm 0.2.0. Clients of this package work with any server.",
            ", ".join(missing),
        )
        return
    register_parsers(
        PARSER_NAME,
        tool_parser=(f"{_PACKAGE}.tool_parser", "RaifToolParser"),
        reasoning_parser=(f"{_PACKAGE}.reasoning_parser", "RaifReasoningParser"),
    )
    register_renderer(f"{_PACKAGE}.renderer", "make_renderer")
