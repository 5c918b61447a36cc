"""What tests share: the small model, one engine in this process, one server, and the order they run in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import small_model
from tests.real.plugin_fixture import plugin_server
from tests.real.server_fixture import vllm_server

if TYPE_CHECKING:
    from raif_integrations import EmbeddedEngine

__all__ = ["plugin_server", "vllm_server"]

# Cheap tests first: those that load a model come last.
_SLOW_FOLDERS = ("real", "docs", "benchmarks")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the folders that need an engine at the end, in the order given above."""
    tests = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(tests).parts[0]
        return _SLOW_FOLDERS.index(folder) + 1 if folder in _SLOW_FOLDERS else 0

    items.sort(key=rank)


@pytest.fixture(scope="session")
def model_path() -> Path:
    """Folder of the small model: ``RAIF_TEST_MODEL``, else the cache; prepared if it is not there yet."""
    given = os.environ.get("RAIF_TEST_MODEL")
    if not given:
        return small_model.prepare()
    path = Path(given).resolve()
    if not small_model.is_complete(path):
        pytest.fail(f"RAIF_TEST_MODEL={given} is not a whole model folder.")
    return path


@pytest.fixture(scope="session")
def adapter_path() -> Path:
    """Folder of the RAIF adapter for the small model."""
    return small_model.ADAPTER


@pytest.fixture(scope="session")
def adapter_name(adapter_path: Path) -> str:
    """The name requests ask the adapter by."""
    return adapter_path.name


@pytest.fixture(scope="session")
def engine_args() -> dict[str, Any]:
    """Arguments for vLLM's engine: small, and the same wherever a test needs the model."""
    return {"max_model_len": 2048, "max_num_seqs": 32}


@pytest.fixture(scope="session")
def embedded_engine(
    model_path: Path, adapter_path: Path, adapter_name: str, engine_args: dict[str, Any]
) -> Iterator[EmbeddedEngine]:
    """The one engine of the test session, loaded when the first test needs it.

    It is a shared engine: a framework's model object made with ``model=str(model_path)``,
    ``adapter=str(adapter_path)`` and ``engine_args=engine_args`` gets this one.
    """
    from raif_integrations import EmbeddedEngine

    adapters = {adapter_name: str(adapter_path)}
    with EmbeddedEngine.shared(str(model_path), adapters=adapters, engine_args=engine_args) as engine:
        engine.start()
        yield engine
