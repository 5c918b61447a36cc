"""``raif-integrations doctor --embedded``: a model in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raif_integrations.cli import main
from raif_integrations.cli.diagnosis import installation
from raif_integrations.cli.diagnosis.findings import Finding
from raif_integrations.engines.base import GrammarConstraint, Request
from raif_integrations.errors import EngineError
from raif_integrations.settings import EngineSettings
from tests.support.scripted_engine import ScriptedEngine

SECTION = "RAIF there and back"


def answer(request: Request) -> str:
    """What a good model writes for the doctor's questions."""
    asked = str(request.messages[-1]["content"])
    if isinstance(request.constraint, GrammarConstraint) and '"zq"' in request.constraint.ebnf:
        return "zq543-tam"
    if "Lagos" in asked:
        return "age=34\ncity=Lagos\nname=Ada Okoye"
    return "city=Oslo" if "city" in asked else "Hello."


@pytest.fixture(autouse=True)
def _no_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_import_vllm", lambda: Finding("ok", "vLLM's import", "works"))


def findings(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    report = json.loads(capsys.readouterr().out)["findings"]
    return {finding["subject"]: finding for finding in report if finding["section"] == SECTION}


def test_a_model_in_this_process_is_tried_and_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = ScriptedEngine(answer, adapters=["my-raif"])
    made: list[EngineSettings] = []

    def create(settings: EngineSettings) -> ScriptedEngine:
        made.append(settings)
        return engine

    monkeypatch.setattr(EngineSettings, "create", create)
    assert main(["doctor", "--json", "--embedded", "--model", "m", "--adapter", "place/my-raif"]) == 0
    assert {finding["level"] for finding in findings(capsys).values()} == {"ok"}
    assert [(settings.model, settings.adapter, settings.base_url) for settings in made] == [
        ("m", "place/my-raif", None)
    ]
    assert {request.model for request in engine.requests} == {"my-raif"}
    assert engine.closed


def test_a_model_that_does_not_load_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = ScriptedEngine([EngineError("m could not be loaded: no space.", hint="Make room.")])
    monkeypatch.setattr(EngineSettings, "create", lambda settings: engine)
    assert main(["doctor", "--json", "--embedded", "--model", "m"]) == 1
    assert findings(capsys)["chat"] == {
        "section": SECTION,
        "subject": "chat",
        "level": "fail",
        "text": "m could not be loaded: no space.",
        "remedy": "Make room.",
    }


def test_a_model_that_cannot_be_there_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--embedded", "--model", "/nowhere/model"]) == 2
    assert "/nowhere/model" in capsys.readouterr().err
