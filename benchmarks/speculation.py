"""How much sooner an object is there with RAIF speculation, than without and than with n-gram drafts.

    PYTHONPATH=examples python benchmarks/speculation.py MODEL --json results/speculation.json

``MODEL`` is the folder of the small model (``examples/small_model.py`` prints it); the repository's RAIF
adapter is merged into its weights first, or asked as a LoRA request with ``--lora``. Held-out items are
asked by the trained cue and under their grammar, greedily, one by one and in batches. Three engines are
loaded at the same time and take turns: without drafts, with vLLM's own n-gram drafts, and with RAIF
speculation.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from answers_items import OUTPUT_KINDS, load_items
from measuring import Ratio, in_turn, median_ratio, parser, report
from merging import merge
from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.prompt import cue_block, with_block
from raif_integrations.engines.base import GrammarConstraint, Request, Sampling
from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.engines.speculation import speculative_config
from small_model import ADAPTER

_QUESTION: Final = "How much sooner is an object there, at the same text?"
_NGRAM: Final = {
    "method": "ngram",
    "num_speculative_tokens": 6,
    "prompt_lookup_min": 1,
    "prompt_lookup_max": 4,
}
_BATCHES: Final = (1, 4, 16, 64)
_SEQUENTIAL_ITEMS: Final = 6
_CACHE_BYTES: Final = 3 * 2**28
_SECONDS_TO_SLEEP: Final = 1.2


def main() -> int:
    """Runs the benchmark and writes its result."""
    options = _options()
    with ExitStack() as stack:
        model = options.model
        if not options.lora:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="raif-merged-"))
            model = merge(model, ADAPTER, Path(folder))
        engines = {
            name: stack.enter_context(_engine(model, drafts, options))
            for name, drafts in _sides(options).items()
        }
        start_all(engines)
        ratios: list[Ratio] = []
        details: dict[str, Any] = {}
        for size in (1, 4) if options.smoke else _BATCHES:
            found, more = _measure(engines, size, options)
            ratios += found
            details[f"batch_{size}"] = more
        drafts = _draft_counts()
    if drafts["drafted"]:
        ratios.append(Ratio("accepted drafts", drafts["accepted"] / drafts["drafted"], at_least=0.6))
    report(options, _QUESTION, ratios, batches=details, drafts=drafts)
    return 0


class QuietClock:
    """Wall time without the pauses between two turns.

    vLLM's processes look busily for the next request until a second after the last one, at the expense of
    whoever has the next turn.
    """

    def __init__(self) -> None:
        self._paused = 0.0

    def __call__(self) -> float:
        """Seconds, without the pauses."""
        return time.perf_counter() - self._paused

    def pause(self) -> None:
        """Waits until the engine that had its turn sleeps."""
        started = time.perf_counter()
        time.sleep(_SECONDS_TO_SLEEP)
        self._paused += time.perf_counter() - started


def start_all(engines: Mapping[str, EmbeddedEngine]) -> None:
    """Loads engines one after the other: side by side, two may choose the same free port."""
    for name, engine in engines.items():
        print(f"loading an engine: {name}", file=sys.stderr)
        engine.start()


def _options() -> argparse.Namespace:
    made = parser(__doc__)
    made.add_argument("model", type=Path, help="folder of SmolLM2-135M-Instruct")
    made.add_argument("--lora", action="store_true", help="ask the adapter as a LoRA request, unmerged")
    made.add_argument("--rounds", type=int, default=2, help="how often each engine has its turn")
    made.add_argument("--free", action="store_true", help="without the grammar")
    made.add_argument("--engine-args", type=json.loads, default={}, metavar="JSON", help="for all engines")
    return made.parse_args()


def _sides(options: argparse.Namespace) -> dict[str, Mapping[str, Any] | None]:
    """The ``speculative_config`` of each engine."""
    drafts = speculative_config("on")
    if options.smoke:
        return {"none": None, "raif": drafts}
    return {"none": None, "ngram": _NGRAM, "raif": drafts}


def _engine(model: Path, drafts: Mapping[str, Any] | None, options: argparse.Namespace) -> EmbeddedEngine:
    arguments = {"max_model_len": 1024, "max_num_seqs": 64, **options.engine_args}
    if "kv_cache_memory_bytes" not in arguments:
        arguments["kv_cache_memory_bytes"] = _CACHE_BYTES
    if drafts is not None:
        arguments["speculative_config"] = dict(drafts)
        # vLLM counts drafts only where it keeps statistics; one engine of a process can.
        arguments["disable_log_stats"] = drafts is _NGRAM
    adapters = {ADAPTER.name: ADAPTER} if options.lora else {}
    return EmbeddedEngine(model, adapters=adapters, engine_args=arguments, speculation="off")


def _requests(count: int, options: argparse.Namespace) -> list[Request]:
    """Held-out items of all kinds, as the package asks them."""
    items = load_items(kinds=OUTPUT_KINDS)
    step = len(items) / count
    requests = []
    for item in (items[int(number * step)] for number in range(count)):
        contract = item.contract("raif")
        assert contract is not None
        turns = as_turns(item.messages, neutralise_tags=True)
        requests.append(
            Request(
                messages=with_block(turns, cue_block(contract, trained=True)),
                sampling=Sampling(temperature=0.0, max_tokens=160),
                constraint=None if options.free else GrammarConstraint(contract.grammar()),
                model=ADAPTER.name if options.lora else None,
            )
        )
    return requests


def _measure(
    engines: Mapping[str, EmbeddedEngine], size: int, options: argparse.Namespace
) -> tuple[list[Ratio], dict[str, Any]]:
    """The ratios for one batch size, and what they were computed from."""
    count = 2 if options.smoke else max(size, _SEQUENTIAL_ITEMS)
    requests = _requests(count, options)
    clock = QuietClock()
    texts: dict[str, list[str]] = {}
    tokens: dict[str, int] = {}

    def ask(name: str) -> Callable[[], None]:
        def call() -> None:
            clock.pause()
            done = [
                completion
                for group in _groups(requests, size)
                for completion in engines[name].generate_many(group)
            ]
            texts[name] = [completion.text for completion in done]
            tokens[name] = sum(completion.usage.completion_tokens for completion in done)

        return call

    rounds = 1 if options.smoke else options.rounds
    times = in_turn({name: ask(name) for name in engines}, rounds=rounds, clock=clock)
    details = {
        name: {
            "seconds_per_object": [round(one / count, 4) for one in spent],
            "tokens": tokens[name],
            "same_text_as_without": sum(map(str.__eq__, texts[name], texts["none"])),
        }
        for name, spent in times.items()
    }
    goals = {1: 2.2, 64: 0.97}
    ratios = [_ratio("without drafts", size, times["none"], times["raif"], goals.get(size))]
    if "ngram" in times:
        goal = 1.4 if size == 1 else None
        ratios.append(_ratio("n-gram drafts", size, times["ngram"], times["raif"], goal))
    return ratios, {"objects": count, **details}


def _groups(requests: Sequence[Request], size: int) -> Iterator[Sequence[Request]]:
    for start in range(0, len(requests), size):
        yield requests[start : start + size]


def _ratio(other: str, size: int, slow: list[float], fast: list[float], goal: float | None) -> Ratio:
    return Ratio(f"time {other} / RAIF speculation, batch {size}", median_ratio(slow, fast), at_least=goal)


def _draft_counts() -> dict[str, int]:
    """How many tokens the RAIF engine drafted, and how many the model accepted."""
    from vllm.v1.metrics.reader import Counter, get_metrics_snapshot

    counts = {metric.name: metric.value for metric in get_metrics_snapshot() if isinstance(metric, Counter)}
    return {
        "drafted": int(counts.get("vllm:spec_decode_num_draft_tokens", 0)),
        "accepted": int(counts.get("vllm:spec_decode_num_accepted_tokens", 0)),
        "steps_with_drafts": int(counts.get("vllm:spec_decode_num_drafts", 0)),
    }


if __name__ == "__main__":
    sys.exit(main())
