"""The one-way imports of docs/architecture.md."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs import-linter on the package in ``folder``."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_the_package_keeps_them() -> None:
    outcome = lint(ROOT)
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize(
    ("module", "line", "rule"),
    [
        ("contract/report.py", "import raif_integrations.turn", "Imports point one way"),
        ("contract/report.py", "import openai", "The contract is pure"),
        ("engines/base.py", "import raif_integrations.conversation", "Imports point one way"),
        ("turn/types.py", "import vllm", "Only the embedded engine imports vLLM"),
        ("turn/types.py", "import openai", "Only the server engine imports openai"),
        ("turn/types.py", "import langchain_core", "Each framework is imported by its own folder only"),
        ("langchain/tools.py", "import raif_integrations.llama_index", "Imports point one way"),
    ],
)
def test_a_breach_is_found(tmp_path: Path, module: str, line: str, rule: str) -> None:
    shutil.copytree(ROOT / "raif_integrations", tmp_path / "raif_integrations")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "raif_integrations" / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    outcome = lint(tmp_path)
    assert outcome.returncode == 1
    assert f"{rule} BROKEN" in outcome.stdout
