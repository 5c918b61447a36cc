"""``examples/extraction.py`` on a scripted engine: what a run leaves, and where the next goes on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import extraction
from raif_integrations.engines.base import Request
from tests.support.scripted_engine import ScriptedEngine, ScriptLine

NAMES = ["a.txt", "b.txt", "c.txt", "d.txt"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in NAMES:
        (texts / name).write_text(f"Invoice {name}", encoding="utf-8")
    return texts


def invoice(request: Request) -> str:
    number = request.messages[-1]["content"].split()[1]
    return f"company=Åsgård\ninvoice_number={number}\nitems::item,price,quantity\nitems[0]=pen,1.5,2\ntotal=3"


def failing(fails: Callable[[Request], ScriptLine | BaseException | None]) -> ScriptedEngine:
    """An engine that answers as it should where ``fails`` gives ``None``."""

    def reply(request: Request) -> ScriptLine:
        failure = fails(request)
        if isinstance(failure, BaseException):
            raise failure
        return invoice(request) if failure is None else failure

    return ScriptedEngine(reply, model="raif")


def run(folder: Path, engine: ScriptedEngine) -> tuple[int, list[str]]:
    """Runs the example; returns the number of failures and the sources in the file, sorted."""
    output = folder.parent / "out.jsonl"
    failed = extraction.main([str(folder), str(output), "--width", "1"], engine)
    return failed, sources(output)


def sources(output: Path) -> list[str]:
    return sorted(json.loads(line)["source"] for line in output.read_text(encoding="utf-8").splitlines())


def test_every_text_becomes_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, ScriptedEngine(invoice, model="raif")) == (0, NAMES)
    lines = (folder.parent / "out.jsonl").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if json.loads(line)["source"] == "a.txt"]
    assert json.loads(line)["value"] == {
        "invoice_number": "a.txt",
        "company": "Åsgård",
        "items": [{"item": "pen", "quantity": 2, "price": 1.5}],
        "total": 3.0,
    }
    assert "Åsgård" in line
    printed = capsys.readouterr()
    assert printed.err.count("\r[") == len(NAMES) + 1
    assert "4/4" in printed.err
    assert "4 of 4 texts" in printed.out


def test_what_is_in_the_file_is_not_asked_again(folder: Path) -> None:
    run(folder, ScriptedEngine(invoice, model="raif"))
    (folder / "e.txt").write_text("Invoice e.txt", encoding="utf-8")
    engine = ScriptedEngine(invoice, model="raif")
    assert run(folder, engine) == (0, [*NAMES, "e.txt"])
    assert len(engine.requests) == 1


def test_an_interrupted_run_loses_nothing(folder: Path) -> None:
    asked = itertools.count(1)
    with pytest.raises(KeyboardInterrupt):
        run(folder, failing(lambda request: KeyboardInterrupt() if next(asked) == 3 else None))
    assert len(sources(folder.parent / "out.jsonl")) == 2
    engine = ScriptedEngine(invoice, model="raif")
    assert run(folder, engine) == (0, NAMES)
    assert len(engine.requests) == 2


def test_a_line_that_was_cut_off_is_written_anew(folder: Path) -> None:
    run(folder, ScriptedEngine(invoice, model="raif"))
    output = folder.parent / "out.jsonl"
    output.write_text(output.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    engine = ScriptedEngine(invoice, model="raif")
    assert run(folder, engine) == (0, NAMES)
    assert len(engine.requests) == 1


def test_a_text_without_an_object_is_named_and_tried_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = failing(lambda request: "no" if "b.txt" in str(request.messages) else None)
    assert run(folder, engine) == (1, ["a.txt", "c.txt", "d.txt"])
    printed = capsys.readouterr()
    assert "b.txt: No Invoice came back" in printed.err
    assert "3 of 4 texts" in printed.out
    assert run(folder, ScriptedEngine(invoice, model="raif")) == (0, NAMES)
