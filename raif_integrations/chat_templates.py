"""The packaged chat templates: plain conversations, one file per base family.

They ignore ``tools``: what a model must know of its tools is already in the messages. A tool result
becomes a user turn ``<tool_response>``. Without tools each renders what the family's own template renders.
"""

from __future__ import annotations

from pathlib import Path

from raif_integrations.errors import ConfigurationError

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
