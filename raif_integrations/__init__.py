"""Tool calls and structured output from self-hosted models, over the compact RAIF format.

Every public name is loaded on first use, so that importing the package costs a few milliseconds
and needs no framework and no engine.
"""

from __future__ import annotations

TYPE_CHECKING = False  # Type checkers take it for true; importing typing would cost more than all else here.

if TYPE_CHECKING:
    from typing import Any

    from raif_integrations.chat_templates import chat_template, chat_template_names, chat_template_path
    from raif_integrations.contract import OutputContract
    from raif_integrations.engines.embedded import EmbeddedEngine
    from raif_integrations.engines.server import ServerEngine
    from raif_integrations.errors import RaifIntegrationsError
    from raif_integrations.langchain import ChatRaifVLLM
    from raif_integrations.llama_index import RaifVLLM

__version__ = "0.1.0"

__all__ = [
    "ChatRaifVLLM",
    "EmbeddedEngine",
    "OutputContract",
    "RaifIntegrationsError",
    "RaifVLLM",
    "ServerEngine",
    "__version__",
    "chat_template",
    "chat_template_names",
    "chat_template_path",
]

# Public name -> the module that defines it.
_HOMES = {
    "ChatRaifVLLM": "langchain",
    "EmbeddedEngine": "engines.embedded",
    "OutputContract": "contract",
    "RaifIntegrationsError": "errors",
    "RaifVLLM": "llama_index",
    "ServerEngine": "engines.server",
    "chat_template": "chat_templates",
    "chat_template_names": "chat_templates",
    "chat_template_path": "chat_templates",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
