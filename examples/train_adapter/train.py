"""Teaches a base model RAIF: ``python -m train_adapter.train --model DIR --data data.jsonl --output DIR``.

LoRA (PEFT) on a CPU or a GPU, loss on the answers only. A run that was stopped goes on where its last
checkpoint was, and ends with the same adapter as if it had not been stopped.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from train_adapter.data import encoded
from train_adapter.encoding import Encoded, batches
from train_adapter.learning import Learner, Settings
from train_adapter.prompts import Format


@dataclass(frozen=True, slots=True)
class Run:
    """What a run is about.

    Attributes:
        model: The base model, a folder or a name on the hub.
        data: Exercises, as ``generate`` writes them.
        output: Where the adapter and the checkpoints go.
        form: ``raif`` or ``json``.
        steps: Steps, or ``None`` for one pass over the data.
        save_every: Steps between checkpoints.
        longest: Most tokens of an example.
        compile: Compile the layers (a C++ compiler is needed on a CPU); twice as fast once it is done.
        settings: How to learn.
    """

    model: str
    data: Path
    output: Path
    form: Format = "raif"
    steps: int | None = None
    save_every: int = 50
    longest: int = 640
    compile: bool = True
    settings: Settings = field(default_factory=Settings)


def train(run: Run) -> Path:
    """Trains, or goes on training.

    Returns:
        The folder of the adapter, ``output/adapter``.

    Raises:
        ValueError: The data holds no example.
    """
    import torch
    from tqdm import tqdm
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.manual_seed(run.settings.seed)
    tokenizer = AutoTokenizer.from_pretrained(run.model)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # Eager attention: with short texts it is the fastest on a CPU, and padding on the right needs no mask.
    model = AutoModelForCausalLM.from_pretrained(
        run.model, dtype=torch.bfloat16, attn_implementation="eager" if device == "cpu" else "sdpa"
    ).to(device)
    examples = encoded(run.data, tokenizer, model, run.form, run.longest, run.output / "examples.json")
    if not examples:
        raise ValueError(f"{run.data} holds no example of at most {run.longest} tokens.")
    plan = _plan(examples, run)
    learner = Learner(model, run.settings, steps=len(plan))
    state = run.output / "state.pt"
    if state.is_file():
        learner.load(state)
        print(f"Going on after step {learner.step} of {len(plan)}.", file=sys.stderr)
    if run.compile and _can_compile(device):
        learner.compile()
    bar = tqdm(plan[learner.step :], desc="training", unit="step", initial=learner.step, total=len(plan))
    tokens, began = 0, time.monotonic()
    for groups in bar:
        loss = learner.learn([[examples[index] for index in group] for group in groups])
        tokens += sum(len(examples[index].ids) for group in groups for index in group)
        speed = tokens / (time.monotonic() - began)
        bar.set_postfix_str(f"loss {loss:.4f}, {speed:.0f} tokens/s", refresh=False)
        if learner.step % run.save_every == 0 or learner.step == len(plan):
            learner.save(state)
            learner.save_adapter(run.output / "adapter")
            bar.write(f"step {learner.step} loss {loss:.4f} {speed:.0f} tokens/s", file=sys.stderr)
    return run.output / "adapter"


def _can_compile(device: str) -> bool:
    """Whether the layers can be compiled; says so if not."""
    if device == "cuda" or any(map(shutil.which, (os.environ.get("CXX") or "c++", "g++", "clang++"))):
        return True
    print("No C++ compiler: the layers are not compiled, training takes twice as long.", file=sys.stderr)
    return False


def _plan(examples: Sequence[Encoded], run: Run) -> list[list[list[int]]]:
    """The batches of every step: one pass over the data, or as many as the steps need."""
    settings = run.settings
    lengths = [len(one.ids) for one in examples]
    groups: list[list[int]] = []
    rounds = 0
    while True:
        groups += batches(lengths, settings.batch_tokens, settings.seed + rounds)
        rounds += 1
        steps = [groups[i : i + settings.accumulate] for i in range(0, len(groups), settings.accumulate)]
        if run.steps is None or len(steps) >= run.steps:
            return steps[: run.steps]


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains an adapter from the command line."""
    parser = argparse.ArgumentParser(prog="python -m train_adapter.train", description=__doc__)
    parser.add_argument("--model", required=True, help="base model: a folder, or a name on the hub")
    parser.add_argument("--data", type=Path, required=True, help="exercises, from train_adapter.generate")
    parser.add_argument("--output", type=Path, required=True, help="folder for adapter and checkpoints")
    parser.add_argument("--format", choices=("raif", "json"), default="raif", help="what to learn to write")
    parser.add_argument("--steps", type=int, help="stop after so many steps (default: one pass)")
    parser.add_argument("--rank", type=int, default=16, help="LoRA rank (default: %(default)s, as vLLM's)")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--batch-tokens", type=int, default=1024, help="tokens of one forward pass")
    parser.add_argument("--accumulate", type=int, default=3, help="forward passes of one step")
    parser.add_argument("--save-every", type=int, default=50, metavar="STEPS")
    parser.add_argument(
        "--longest", type=int, default=640, metavar="TOKENS", help="leave out longer examples"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0, help="CPU threads (default: all cores)")
    parser.add_argument("--no-compile", action="store_true", help="slower, but needs no C++ compiler")
    options = parser.parse_args(arguments)
    import torch

    torch.set_num_threads(options.threads or os.cpu_count() or 1)
    settings = Settings(
        rank=options.rank,
        learning_rate=options.learning_rate,
        batch_tokens=options.batch_tokens,
        accumulate=options.accumulate,
        seed=options.seed,
    )
    run = Run(
        options.model,
        options.data,
        options.output,
        form=options.format,
        steps=options.steps,
        save_every=options.save_every,
        longest=options.longest,
        compile=not options.no_compile,
        settings=settings,
    )
    print(train(run))


if __name__ == "__main__":
    main()
