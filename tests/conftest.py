"""Where the tests find the small model, and in which order they run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import small_model

ROOT = Path(__file__).parents[1]

# Cheap tests first: those that load a model come last.
_SLOW_FOLDERS = ("docs", "real")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the folders that need an engine at the end, in the order given above."""

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(ROOT / "tests").parts[0]
        return _SLOW_FOLDERS.index(folder) + 1 if folder in _SLOW_FOLDERS else 0

    items.sort(key=rank)


@pytest.fixture(scope="session")
def model_path() -> Path:
    """Folder of the small model: ``RAIF_TEST_MODEL``, else the cache; prepared if it is not there yet."""
    given = os.environ.get("RAIF_TEST_MODEL")
    if not given:
        return small_model.prepare()
    path = Path(given)
    if not (path / "config.json").is_file():
        pytest.fail(f"RAIF_TEST_MODEL={given} is not a model folder: it has no config.json.")
    return path


@pytest.fixture(scope="session")
def adapter_path() -> Path:
    """Folder of the RAIF adapter for the small model."""
    return small_model.ADAPTER
