"""Kinds of server, and how a client may talk to each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from raif_integrations.turn import Wire
from tests.support.server_process import ServerProcess

KINDS = ("raif-vllm", "bare", "plugin")
"""raif-vllm 0.2.0 on vLLM 0.19; a current vLLM without a plugin; the same with this package's plugin."""

DECODING = ("raif-vllm", "plugin")
"""The kinds on which a plugin decodes."""


@dataclass(frozen=True, slots=True)
class Served:
    """A running server and its kind."""

    kind: str
    process: ServerProcess

    def settings(self, **settings: Any) -> dict[str, Any]:
        """Settings of a model object for the adapter on this server; greedy."""
        base = {
            "base_url": self.process.base_url,
            "api_key": self.process.api_key,
            "adapter": "raif",
            "temperature": 0,
            "max_tokens": 100,
        }
        return base | settings


def ways(*pairs: tuple[str, Wire]) -> pytest.MarkDecorator:
    """Runs a test on each kind of server with each way of talking to it."""
    ids = [f"{kind}, wire={wire}" for kind, wire in pairs]
    return pytest.mark.parametrize(("served", "wire"), pairs, indirect=["served"], ids=ids, scope="session")


WAYS: tuple[tuple[str, Wire], ...] = (
    *((kind, "auto") for kind in KINDS),
    *((kind, "server") for kind in DECODING),
)

every_way = ways(*WAYS)
"""Decoded here on every kind of server, and by the server where a plugin does it."""

every_choosing_way = ways(*(way for way in WAYS if way != ("raif-vllm", "server")))
"""The same without raif-vllm's, which calls no tool where several are offered, and always the only one."""

every_server = pytest.mark.parametrize("served", KINDS, indirect=True)
"""Each kind of server."""
