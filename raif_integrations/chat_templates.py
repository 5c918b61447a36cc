"""The packaged chat templates: plain conversations, one file per base family.

They ignore ``tools``: what a model must know of its tools is already in the messages. A tool result
becomes a user turn ``<tool_response>``. Without tools each renders what the family's own template renders.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from raif_integrations.errors import ConfigurationError

_FAMILIES = {
    "chatml": "models that speak ChatML without a default system message (Hermes, many fine-tunes)",
    "llama3.2": "Llama 3.1 and 3.2 Instruct",
    "qwen2.5": "Qwen2.5 Instruct",
    "qwen3": "Qwen3",
}

_INSTALLED = Path(__file__).with_name("_chat_templates")
_CHECKOUT = Path(__file__).parent.with_name("chat_templates")


def _folder() -> Path:
    """The templates' folder: inside an installed wheel, or beside the package in a checkout."""
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


def chat_template_names() -> tuple[str, ...]:
    """Names of the packaged templates, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("*.jinja")))


def chat_template_path(name: str) -> Path:
    """Where a packaged template lies, for ``--chat-template`` of a vLLM server.

    Args:
        name: One of :func:`chat_template_names`.

    Raises:
        ConfigurationError: There is no template of that name.
    """
    names = chat_template_names()
    if name not in names:
        raise ConfigurationError(
            f"There is no packaged chat template {name!r}.", hint=f"Choose one of: {', '.join(names)}."
        )
    return _folder() / f"{name}.jinja"


def chat_template(name: str) -> str:
    """The text of a packaged template, for an engine's ``chat_template``.

    Args:
        name: One of :func:`chat_template_names`.

    Raises:
        ConfigurationError: There is no template of that name.
    """
    return chat_template_path(name).read_text(encoding="utf-8")


def served_families(name: str) -> str:
    """The models a packaged template is made for, in a few words.

    Args:
        name: One of :func:`chat_template_names`.
    """
    return _FAMILIES[name]


def fitting_chat_template(model_type: str, special_tokens: Collection[str]) -> str | None:
    """The packaged template a model without a template of its own can be given.

    Args:
        model_type: ``model_type`` of the model's ``config.json``.
        special_tokens: Tokens its tokenizer never splits.

    Returns:
        The template's name, or ``None`` if none of them fits.
    """
    speaks_chatml = "<|im_start|>" in special_tokens
    if model_type.startswith("qwen3") and speaks_chatml:
        return "qwen3"
    if model_type.startswith("qwen2") and speaks_chatml:
        return "qwen2.5"
    if "<|start_header_id|>" in special_tokens:
        return "llama3.2"
    return "chatml" if speaks_chatml else None
