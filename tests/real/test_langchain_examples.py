"""``examples/agent.py`` and ``examples/extraction.py`` on the real model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import agent
import extraction
from raif_integrations.engines.embedded import EmbeddedEngine
from tests.support.server_process import ServerProcess

pytestmark = pytest.mark.real

TEXTS = Path(extraction.__file__).parent / "texts"
TOTALS = {
    "acme.txt": ("90210", 2, 675.5),
    "globex.txt": ("A731", 2, 540),
    "initech.txt": ("ORD4410", 3, 878),
    "northwind.txt": ("INV-2041", 2, 1835),
    "vandelay.txt": ("INV-7", 2, 131),
    "wonka.txt": ("T-58", 3, 221.95),
}


def test_the_agent_answers_both_questions(
    embedded_engine: EmbeddedEngine, adapter_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    weather, total = agent.main(["--adapter", adapter_name], embedded_engine)
    assert "-3 C" in weather
    assert "42" in total
    printed = capsys.readouterr().out
    assert "call    get_weather(city='Oslo')" in printed
    assert "call    add(a=17, b=25)" in printed


def test_the_agent_on_a_server(vllm_server: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", vllm_server.api_key or "")
    options = ["--base-url", vllm_server.base_url, "--adapter", "raif"]
    (answer,) = agent.main([*options, "--question", "What's the weather in Lima?"])
    assert "24 C" in answer


def test_every_sample_text_becomes_an_invoice_and_is_not_read_twice(
    embedded_engine: EmbeddedEngine, adapter_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "invoices.jsonl"
    given = [str(TEXTS), str(output), "--adapter", adapter_name]
    assert extraction.main(given, embedded_engine) == 0
    written = output.read_text(encoding="utf-8")
    found = {line["source"]: line["value"] for line in map(json.loads, written.splitlines())}
    read = {name: (one["invoice_number"], len(one["items"]), one["total"]) for name, one in found.items()}
    assert read == TOTALS
    assert "6/6" in capsys.readouterr().err
    assert extraction.main(given, embedded_engine) == 0
    assert output.read_text(encoding="utf-8") == written
