"""The vLLM server of the tests: the small model and its adapter, with a key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.server_process import ServerProcess

API_KEY = "test-key"


def server_process(model: Path, adapter: Path, log: Path) -> ServerProcess:
    """A server, not yet started, that offers ``smollm2`` and the adapter ``raif`` to ``API_KEY``.

    It loads no plugin, also where this package is installed beside vLLM.
    """
    return ServerProcess(
        model, log, adapters={"raif": adapter}, api_key=API_KEY, environment={"VLLM_PLUGINS": ""}
    )


@pytest.fixture(scope="session")
def vllm_server(
    model_path: Path, adapter_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """A running server that tests share and leave as it is."""
    with server_process(model_path, adapter_path, tmp_path_factory.mktemp("vllm") / "server.log") as server:
        yield server
