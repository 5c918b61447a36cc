"""The command as a whole: what it says, how it ends, and that it starts at once."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable

import pytest

import raif_integrations
from raif_integrations.cli import main, template
from raif_integrations.errors import ConfigurationError, EngineConnectionError

COMMANDS = ("serve", "doctor", "template", "report")
HEAVY = ("langchain_core", "llama_index", "openai", "pydantic", "raif", "torch", "transformers", "vllm")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"raif-integrations {raif_integrations.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], *([command, "--help"] for command in COMMANDS)])
def test_help_goes_to_standard_output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    said = capsys.readouterr()
    assert said.out.startswith("usage: raif-integrations")
    assert said.err == ""


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    assert all(f"  {command} " in said for command in COMMANDS)


@pytest.mark.parametrize("arguments", [[], ["serv"], ["template", "--wrong"]])
def test_a_wrong_command_line_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["template"], ["doctor", "--help"]])
def test_help_and_templates_load_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from raif_integrations.cli import main\n"
        "try:\n"
        f"    main({arguments!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        f"sys.stderr.write(repr([name for name in {HEAVY} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]"


def failing(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(arguments: argparse.Namespace) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigurationError("--port is 'x'.", hint="Give a number."), 2),
        (EngineConnectionError("Nobody answers.", hint="Start it."), 1),
        (ImportError("vllm is not installed; do this"), 1),
        (PermissionError(13, "Permission denied", "/model"), 1),
    ],
)
def test_an_expected_error_is_a_sentence_and_no_traceback(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(template, "run", failing(error))
    assert main(["template"]) == code
    said = capsys.readouterr()
    assert said.err == f"raif-integrations: error: {error}\n"
    assert said.out == ""


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "run", failing(KeyboardInterrupt()))
    assert main(["template"]) == 130


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "run", failing(AssertionError("a bug")))
    with pytest.raises(AssertionError, match="a bug"):
        main(["template"])


def test_a_reader_that_leaves_is_no_error() -> None:
    reader = f"{sys.executable} -m raif_integrations.cli template | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", reader], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
