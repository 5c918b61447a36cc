"""Every benchmark runs, in its smallest size, and gives its result in the common form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"

LIGHT = ("client_overhead", "drafting", "grammar_compile", "import_time", "streaming", "tokens")
WITH_ENGINE = ("embedded_throughput", "speculation", "wall_time")
OF_ANSWERS = ("answers", "prompting")


def run(name: str, model: Path, result: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a benchmark as a person does, from the root of the repository."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "examples")))
    environment = os.environ | {"PYTHONPATH": paths, "RAIF_TEST_MODEL": str(model)}
    command = [sys.executable, f"benchmarks/{name}.py", "--smoke", "--json", str(result), *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=1100
    )


def check(result: dict[str, Any], name: str) -> None:
    """The common form: a question, the machine, and ratios above 0 that say whether they meet their goal."""
    assert result["benchmark"] == name
    assert result["question"].endswith("?")
    assert result["smoke"] is True
    assert result["machine"]["cores"] >= 1
    assert result["ratios"]
    measured_beside = result.keys() - {"benchmark", "question", "smoke", "machine", "ratios"}
    for ratio in result["ratios"]:
        assert ratio["value"] > 0, ratio
        assert ratio["details"] or measured_beside, ratio
        has_goal = ratio["at_most"] is not None or ratio["at_least"] is not None
        assert (ratio["met"] is not None) is has_goal


@pytest.mark.parametrize("name", LIGHT)
def test_a_benchmark_runs(name: str, model_path: Path, tmp_path: Path) -> None:
    outcome = run(name, model_path, tmp_path / "result.json")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.startswith(f"{name}: ")
    assert outcome.stdout.count("\n") == 1
    check(json.loads((tmp_path / "result.json").read_text()), name)


@pytest.mark.real
@pytest.mark.timeout(1200)  # some load three engines
@pytest.mark.parametrize("name", WITH_ENGINE)
def test_a_benchmark_with_an_engine_runs(name: str, model_path: Path, tmp_path: Path) -> None:
    arguments = [] if name == "embedded_throughput" else [str(model_path)]
    outcome = run(name, model_path, tmp_path / "result.json", *arguments)
    assert outcome.returncode == 0, outcome.stderr[-4000:]
    check(json.loads((tmp_path / "result.json").read_text()), name)


@pytest.mark.real
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", OF_ANSWERS)
def test_a_benchmark_of_answers_runs(name: str, model_path: Path, tmp_path: Path) -> None:
    outcome = run(name, model_path, tmp_path / "result.json")
    assert outcome.returncode == 0, outcome.stderr[-4000:]
    asked = [
        row for part in json.loads((tmp_path / "result.json").read_text())["results"] for row in part["rows"]
    ]
    assert len(asked) >= 4
    assert all(row["items"] for row in asked)
    assert all(row["rates"] for row in asked)


def test_every_benchmark_is_run() -> None:
    listed = next(
        line for line in (ROOT / "scripts" / "bench").read_text().splitlines() if line.startswith("all=")
    )
    named = set(listed.partition("=")[2].strip('"').split())
    assert named == {*LIGHT, *WITH_ENGINE}
