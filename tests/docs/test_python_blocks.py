"""Every Python block of the README and of docs/ runs as it stands, and prints what it says.

Two things differ from a reader's machine, and nothing else: the engine is the one of the test session,
and the server's port is the one of the test server.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from raif_integrations import EmbeddedEngine
from tests.docs.markdown import ROOT, Block, blocks
from tests.support.server_process import ServerProcess

pytestmark = pytest.mark.real

RUN = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(page, block, id=f"{page.name}-line-{block.line}")
    for page in RUN
    for block in blocks(page, "python")
]
PORT_IN_PAGES = "http://localhost:8000/v1"


@pytest.fixture(scope="module")
def reader(
    embedded_engine: EmbeddedEngine,
    vllm_server: ServerProcess,
    model_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[Path, dict[str, Any]]]:
    """A reader's session for each page: what a block defines, the next one can use."""
    home = tmp_path_factory.mktemp("home")
    cache = home / ".cache" / "raif-integrations"
    cache.mkdir(parents=True)
    (cache / "SmolLM2-135M-Instruct").symlink_to(model_path)

    def shared(model: str, **arguments: Any) -> EmbeddedEngine:
        asked = EmbeddedEngine(model, **arguments)._settings
        here = embedded_engine._settings
        assert asked.model == here.model
        assert asked.adapters == here.adapters
        return embedded_engine

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("HOME", str(home))
        patch.setenv("VLLM_API_KEY", vllm_server.api_key or "")
        patch.setattr(EmbeddedEngine, "shared", shared)
        modules = {page: ModuleType(f"page_{page.stem}") for page in RUN}
        for module in modules.values():
            patch.setitem(sys.modules, module.__name__, module)
        yield {page: vars(module) for page, module in modules.items()}


@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_block_runs_and_prints_what_it_says(
    page: Path,
    block: Block,
    reader: dict[Path, dict[str, Any]],
    vllm_server: ServerProcess,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = block.code.replace(PORT_IN_PAGES, vllm_server.base_url)
    exec(compile(code, f"{page.name}:{block.line}", "exec", dont_inherit=True), reader[page])
    printed = capsys.readouterr().out.splitlines()
    if block.prints:
        assert printed == block.prints
    else:
        assert printed
