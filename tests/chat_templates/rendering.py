"""Renders a packaged template as transformers does: its Jinja settings and its helper functions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from jinja2 import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

from raif_integrations import chat_template, chat_template_names

NAMES = chat_template_names()
TODAY = datetime(2026, 2, 1)


@functools.cache
def compiled(name: str) -> Template:
    """A packaged template."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["strftime_now"] = TODAY.strftime
    return environment.from_string(chat_template(name))


def render(name: str, messages: Sequence[dict[str, Any]], **variables: Any) -> str:
    """The prompt for a conversation, with a generation prompt unless told otherwise."""
    variables = {"add_generation_prompt": True, "bos_token": "<|begin_of_text|>", **variables}
    return compiled(name).render(messages=messages, **variables)
