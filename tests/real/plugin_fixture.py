"""The vLLM server of the tests that runs the plugin of this package."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from raif_integrations.vllm_plugin.flags import server_flags
from tests.real.server_fixture import API_KEY
from tests.support.server_process import ServerProcess

ROOT = Path(__file__).parents[2]
GROUP = "vllm.general_plugins"
NAME = "raif_integrations"
VALUE = "raif_integrations.vllm_plugin:register"


def python_path(folder: Path) -> str:
    """A ``PYTHONPATH`` under which vLLM finds the plugin.

    An installed package brings its entry point along. Where the tests run from a checkout that is not
    installed, the metadata that an installation would write is written to ``folder``.
    """
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    if not any(point.name == NAME for point in entry_points(group=GROUP)):
        metadata = folder / "raif_integrations-0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: raif-integrations\nVersion: 0\n")
        (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{NAME} = {VALUE}\n")
        paths.insert(0, str(folder))
    return os.pathsep.join(paths)


@pytest.fixture(scope="session")
def plugin_server(
    model_path: Path, adapter_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """A running server with the plugin: ``smollm2`` and the adapter ``raif``, for ``API_KEY``."""
    folder = tmp_path_factory.mktemp("plugin")
    server = ServerProcess(
        model_path,
        folder / "server.log",
        adapters={"raif": adapter_path},
        api_key=API_KEY,
        arguments=server_flags(),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", python_path(folder / "metadata"))
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        server.start()
    yield server
    server.stop()
