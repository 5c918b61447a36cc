"""The chat model that an example's options ask for."""

from __future__ import annotations

import argparse

from model_options import add_model_options, model_settings
from raif_integrations import ChatRaifVLLM
from raif_integrations.engines.base import Engine

__all__ = ["add_model_options", "chat_model"]


def chat_model(options: argparse.Namespace, engine: Engine | None = None) -> ChatRaifVLLM:
    """The chat model that the options ask for; it neither loads a model nor asks a server yet.

    Args:
        options: What :func:`model_options.add_model_options` read.
        engine: An engine to use in place of one of its own.
    """
    return ChatRaifVLLM(**model_settings(options, engine))
