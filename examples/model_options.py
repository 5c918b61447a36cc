"""The options that say which model an example asks, and what a model object is made of then."""

from __future__ import annotations

import argparse
from typing import Any

import small_model
from raif_integrations.engines.base import Engine


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Adds ``--model``, ``--adapter`` and ``--base-url``."""
    parser.add_argument("--model", help="model folder or hub name (default: the prepared small model)")
    parser.add_argument("--adapter", help="its RAIF adapter (default: the small model's; '' for none)")
    parser.add_argument("--base-url", help="a vLLM server to ask, such as http://localhost:8000/v1")


def model_settings(options: argparse.Namespace, engine: Engine | None = None) -> dict[str, Any]:
    """The settings that ``ChatRaifVLLM`` and ``RaifVLLM`` both take, as the options ask for them.

    Args:
        options: What :func:`add_model_options` read.
        engine: An engine to use in place of one of its own.
    """
    if engine is not None:
        return {"engine": engine, "adapter": options.adapter or None, "temperature": 0}
    if options.base_url:
        return {
            "base_url": options.base_url,
            "model": options.model,
            "adapter": options.adapter or None,
            "temperature": 0,
        }
    adapter = str(small_model.ADAPTER) if options.adapter is None and not options.model else options.adapter
    return {
        "model": options.model or str(small_model.prepare()),
        "adapter": adapter or None,
        "temperature": 0,
    }
