"""The real engine the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raif_integrations.engines.embedded import EmbeddedEngine


@pytest.fixture(scope="session")
def engine_args() -> dict[str, Any]:
    """Arguments for vLLM's engine: small, and the same wherever a test needs the model."""
    return {"max_model_len": 2048, "max_num_seqs": 32}


@pytest.fixture(scope="session")
def adapter_name(adapter_path: Path) -> str:
    """The name requests ask the adapter by."""
    return adapter_path.name


@pytest.fixture(scope="session")
def embedded_engine(
    model_path: Path, adapter_path: Path, adapter_name: str, engine_args: dict[str, Any]
) -> Iterator[EmbeddedEngine]:
    """The embedded engine, loaded once for the whole session.

    It is a shared engine: a framework's model object made with ``model=str(model_path)``,
    ``adapter=str(adapter_path)`` and ``engine_args=engine_args`` gets this one.
    """
    with EmbeddedEngine.shared(
        str(model_path), adapters={adapter_name: str(adapter_path)}, engine_args=engine_args
    ) as engine:
        engine.start()
        yield engine
