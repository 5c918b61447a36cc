"""The options that say which model an example asks, and the chat model they make."""

from __future__ import annotations

import argparse

import small_model
from raif_integrations import ChatRaifVLLM
from raif_integrations.engines.base import Engine


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Adds ``--model``, ``--adapter`` and ``--base-url``."""
    parser.add_argument("--model", help="model folder or hub name (default: the prepared small model)")
    parser.add_argument("--adapter", help="its RAIF adapter (default: the small model's; '' for none)")
    parser.add_argument("--base-url", help="a vLLM server to ask, such as http://localhost:8000/v1")


def chat_model(options: argparse.Namespace, engine: Engine | None = None) -> ChatRaifVLLM:
    """The chat model that the options ask for; it neither loads a model nor asks a server yet.

    Args:
        options: What :func:`add_model_options` read.
        engine: An engine to use in place of one of its own.
    """
    if engine is not None:
        return ChatRaifVLLM(engine=engine, adapter=options.adapter or None, temperature=0)
    if options.base_url:
        return ChatRaifVLLM(
            base_url=options.base_url, model=options.model, adapter=options.adapter or None, temperature=0
        )
    model = options.model or str(small_model.prepare())
    adapter = str(small_model.ADAPTER) if options.adapter is None and not options.model else options.adapter
    return ChatRaifVLLM(model=model, adapter=adapter or None, temperature=0)
