"""Learning: the loss is the one of the answers, it falls, and a run that was stopped ends the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from train_adapter import train as training
from train_adapter.encoding import Encoded, encode
from train_adapter.generate import main as generate
from train_adapter.learning import Learner, Settings
from train_adapter.prompts import Example
from train_adapter.train import Run, train

SETTINGS = Settings(rank=2, learning_rate=5e-3, batch_tokens=1200, warmup=2)


@pytest.fixture
def examples(tokenizer: Any) -> list[Encoded]:
    said = [("Oslo", "city=Oslo"), ("a longer text about Rome", "city=Rome"), ("Ulm", "city=Ulm\nzip=89073")]
    return [
        encode(tokenizer, Example("record", [{"role": "user", "content": text}], target))
        for text, target in said
    ]


def test_the_loss_is_that_of_the_answers_alone(
    tiny_model: Callable[[], Any], examples: list[Encoded]
) -> None:
    model = tiny_model()
    wanted, count = 0.0, 0
    for one in examples:
        labels = torch.tensor([[*[-100] * one.start, *one.ids[one.start :]]])
        with torch.no_grad():
            loss = model(input_ids=torch.tensor([one.ids]), labels=labels).loss
        wanted += float(loss) * one.learnt
        count += one.learnt
    found = Learner(tiny_model(), SETTINGS, steps=10).learn([examples[:2], examples[2:]])
    assert found == pytest.approx(wanted / count, rel=1e-4)


def test_the_base_model_stays_as_it_is_and_the_loss_falls(
    tiny_model: Callable[[], Any], examples: list[Encoded]
) -> None:
    model = tiny_model()
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    learner = Learner(model, replace(SETTINGS, rank=8, learning_rate=2e-2), steps=40)
    losses = [learner.learn([examples]) for _ in range(40)]
    assert losses[-1] < losses[0] * 0.95
    now = {name.replace(".base_layer", ""): weight for name, weight in model.named_parameters()}
    assert all(torch.equal(now[name], weight) for name, weight in before.items())


def test_how_examples_are_grouped_does_not_matter(
    tiny_model: Callable[[], Any], examples: list[Encoded], tmp_path: Path
) -> None:
    for name, groups in (("a", [examples]), ("b", [[one] for one in examples])):
        learner = Learner(tiny_model(), SETTINGS, steps=4)
        learner.learn(groups)
        learner.learn(groups)
        learner.save_adapter(tmp_path / name)
    assert _are_close(tmp_path / "a", tmp_path / "b")


def _are_close(first: Path, second: Path) -> bool:
    one, two = (load_file(folder / "adapter_model.safetensors") for folder in (first, second))
    return one.keys() == two.keys() and all(torch.allclose(one[key], two[key], atol=1e-5) for key in one)


def test_a_checkpoint_of_other_settings_is_refused(tiny_model: Callable[[], Any], tmp_path: Path) -> None:
    Learner(tiny_model(), SETTINGS, steps=5).save(tmp_path / "state.pt")
    with pytest.raises(ValueError, match="written with other settings"):
        Learner(tiny_model(), replace(SETTINGS, rank=3), steps=5).load(tmp_path / "state.pt")


def test_a_run_can_be_made_longer_before_it_slows_down(
    tiny_model: Callable[[], Any], examples: list[Encoded], tmp_path: Path
) -> None:
    for name, steps in (("short", 10), ("long", 20)):
        learner = Learner(tiny_model(), SETTINGS, steps=steps)
        for _ in range(5):
            learner.learn([examples])
        learner.save_adapter(tmp_path / name)
    assert _are_close(tmp_path / "short", tmp_path / "long")


@pytest.fixture
def run(tmp_path: Path, tiny_base: Path) -> Run:
    data = tmp_path / "data.jsonl"
    generate(["--output", str(data), "--count", "40"])
    return Run(
        str(tiny_base), data, tmp_path / "whole", steps=6, save_every=2, longest=4000, compile=False,
        settings=SETTINGS,
    )  # fmt: skip


def test_a_stopped_run_ends_as_if_it_had_not_been_stopped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(run)
    stopped = replace(run, output=tmp_path / "stopped")

    class Stopping(Learner):
        def learn(self, groups: Sequence[Sequence[Encoded]]) -> float:
            if self.step == 3:
                raise KeyboardInterrupt
            return super().learn(groups)

    with monkeypatch.context() as patch:
        patch.setattr(training, "Learner", Stopping)
        with pytest.raises(KeyboardInterrupt):
            train(stopped)
    again = train(stopped)
    first, second = (load_file(folder / "adapter_model.safetensors") for folder in (whole, again))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_a_finished_run_has_nothing_left_to_do(run: Run) -> None:
    before = load_file(train(run) / "adapter_model.safetensors")
    after = load_file(train(run) / "adapter_model.safetensors")
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_data_that_is_all_too_long_is_refused(run: Run) -> None:
    with pytest.raises(ValueError, match="holds no example of at most 3 tokens"):
        train(replace(run, longest=3, output=run.output.parent / "short"))
