"""What the benchmarks share: ratios and their goals, sides that take turns, tables for the documentation."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import figures
import measuring


@pytest.mark.parametrize(
    ("goal", "value", "met", "said"),
    [
        ({}, 3.0, None, "x 3.00"),
        ({"at_most": 2}, 1.5, True, "x 1.50 (goal: at most 2)"),
        ({"at_most": 2}, 2.5, False, "x 2.50 (goal: at most 2, missed)"),
        ({"at_least": 0.95}, 0.97, True, "x 0.97 (goal: at least 0.95)"),
        ({"at_least": 0.95}, 0.9, False, "x 0.90 (goal: at least 0.95, missed)"),
    ],
)
def test_a_ratio_says_whether_it_meets_its_goal(
    goal: dict[str, float], value: float, met: bool | None, said: str
) -> None:
    ratio = measuring.Ratio("x", value, **goal)
    assert ratio.met is met
    assert str(ratio) == said


def test_sides_take_turns_after_a_call_to_warm_up() -> None:
    calls: list[str] = []
    clock = iter(range(1000))
    sides = {name: lambda name=name: calls.append(name) for name in ("a", "b")}  # type: ignore[misc]
    times = measuring.in_turn(sides, rounds=2, calls=2, clock=lambda: float(next(clock)))
    assert calls == ["a", "b", *["a", "a", "b", "b"] * 2]
    assert times == {"a": [0.5, 0.5], "b": [0.5, 0.5]}


def test_the_median_of_the_ratios_counts() -> None:
    assert measuring.median_ratio([2.0, 30.0, 4.0], [1.0, 2.0, 2.0]) == 2.0


def test_progress_hands_everything_on() -> None:
    assert list(measuring.progress(iter("abc"), "letters")) == ["a", "b", "c"]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with the result of one benchmark."""
    monkeypatch.setattr(sys, "argv", ["benchmarks/speed.py"])
    options = argparse.Namespace(smoke=False, json=tmp_path / "results" / "speed.json")
    ratio = measuring.Ratio("a to b", 1.25, at_most=2.0, details={"a_us": 1234.5, "kind": "text"})
    measuring.report(options, "How fast?", [ratio])
    assert capsys.readouterr().out == "speed: a to b 1.25 (goal: at most 2)\n"
    return tmp_path / "results"


def test_a_page_is_filled_in(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Before\n<!-- figures: speed -->\nold\n<!-- end -->\n<!-- figures: other -->\nstays\n<!-- end -->\n"
        "<!-- figures: machine -->\n<!-- end -->\nAfter\n"
    )
    monkeypatch.setattr(sys, "argv", ["figures.py", str(results), "--update", str(page)])
    figures.main()
    text = page.read_text()
    assert "| a to b | 1.25 | ≤ 2 | a_us 1,234.5, kind text |" in text
    assert "old" not in text
    assert "<!-- figures: other -->\nstays\n<!-- end -->" in text
    assert "cores, Python" in text
    assert text.startswith("Before\n")
    assert text.endswith("After\n")
    figures.main()
    assert page.read_text() == text


def test_smoke_runs_do_not_go_into_the_documentation(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result: dict[str, Any] = json.loads((results / "speed.json").read_text())
    (results / "speed.json").write_text(json.dumps(result | {"smoke": True}))
    page = tmp_path / "page.md"
    page.write_text("<!-- figures: speed -->\nold\n<!-- end -->\n")
    monkeypatch.setattr(sys, "argv", ["figures.py", str(results), "--update", str(page)])
    with pytest.raises(SystemExit):
        figures.main()
    assert "old" in page.read_text()
