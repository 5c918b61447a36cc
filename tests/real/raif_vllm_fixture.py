"""The server of the tests that runs raif-vllm 0.2.0 on vLLM 0.19, in an environment of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real.server_fixture import API_KEY
from tests.support.server_process import ServerProcess

PYTHON_VARIABLE = "RAIF_VLLM_019_PYTHON"


def raif_vllm_python() -> Path:
    """The interpreter of that environment, which ``scripts/install-raif-vllm`` makes if none is named."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    venv = os.environ.get("RAIF_VLLM_019_VENV") or cache / "raif-integrations" / "raif-vllm-019"
    python = Path(os.environ.get(PYTHON_VARIABLE) or Path(venv, "bin", "python"))
    if not python.exists():
        pytest.fail(f"There is no {python}: run scripts/install-raif-vllm, or set {PYTHON_VARIABLE}.")
    return python


def raif_vllm_process(model: Path, adapter: Path, log: Path) -> ServerProcess:
    """A server, not yet started, that offers ``smollm2`` and the adapter ``raif`` to ``API_KEY``."""
    return ServerProcess(
        model,
        log,
        adapters={"raif": adapter},
        api_key=API_KEY,
        python=raif_vllm_python(),
        arguments=[
            "--enable-auto-tool-choice",
            *("--tool-call-parser", "raif"),
            *("--reasoning-parser", "raif"),
        ],
        environment={"VLLM_CPU_KVCACHE_SPACE": "1"},
    )
