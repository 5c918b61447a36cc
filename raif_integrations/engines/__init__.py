"""Who generates: one protocol, and the engines behind it.

* ``base``: the protocol :class:`~raif_integrations.engines.base.Engine` and its requests and replies;
* ``embedded``: vLLM in this process; the only part of the package that imports vLLM;
* ``server``: a vLLM server over HTTP; the only part that imports the OpenAI SDK.

An engine knows nothing of RAIF, tools or frameworks: messages in, text out. The engines load on first
use, so importing this package imports neither vLLM nor the OpenAI SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raif_integrations.engines.embedded import EmbeddedEngine
    from raif_integrations.engines.server import ServerEngine

__all__ = ["EmbeddedEngine", "ServerEngine"]

_HOMES = {"EmbeddedEngine": "embedded", "ServerEngine": "server"}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
