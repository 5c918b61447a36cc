"""The recipe from end to end on the small model: generate, train a few steps, evaluate, load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from train_adapter import evaluate, generate, train


@pytest.mark.real
def test_a_few_steps_from_data_to_scores(
    model_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, output = tmp_path / "data.jsonl", tmp_path / "run"
    generate.main(["--output", str(data), "--count", "60", "--seed", "5"])
    command = ["--model", str(model_path), "--data", str(data), "--output", str(output)]
    train.main([*command, "--steps", "3", "--batch-tokens", "800", "--accumulate", "1", "--no-compile"])
    adapter = output / "adapter"
    assert capsys.readouterr().out.strip() == str(adapter)
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    assert config["r"] == 16
    assert (adapter / "adapter_model.safetensors").stat().st_size < 12_000_000

    figures = tmp_path / "figures.json"
    scored = ["--model", str(model_path), "--adapter", str(adapter), "--data", str(data)]
    evaluate.main([*scored, "--limit", "8", "--json", str(figures)])
    shown = capsys.readouterr().out
    counts = json.loads(figures.read_text(encoding="utf-8"))
    assert sum(answers for answers, *_ in counts.values()) >= 8
    assert all(f"| {kind} |" in shown for kind in counts)
