"""The three kinds of server that the same tests run against, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.raif_vllm_fixture import raif_vllm_process
from tests.real.servers import KINDS, Served


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests that are parametrised with a kind of server last, one kind after the other."""

    def rank(item: pytest.Item) -> int:
        kind = item.callspec.params.get("served") if hasattr(item, "callspec") else None
        return KINDS.index(kind) + 1 if kind in KINDS else 0

    items.sort(key=rank)


@pytest.fixture(scope="session")
def served(
    request: pytest.FixtureRequest,
    model_path: Path,
    adapter_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    """A running server of the kind a test is parametrised with; see :mod:`tests.real.servers`.

    The tests of one kind run together, in whatever files they are. The server that nobody else needs
    ends with them, so that there is room for the next.
    """
    kind = request.param
    if kind == "raif-vllm":
        log = tmp_path_factory.mktemp("raif-vllm") / "server.log"
        with raif_vllm_process(model_path, adapter_path, log) as process:
            yield Served(kind, process)
    else:
        fixture = {"bare": "vllm_server", "plugin": "plugin_server"}[kind]
        yield Served(kind, request.getfixturevalue(fixture))
