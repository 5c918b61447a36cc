"""How right the answers are, and what they cost, in RAIF and in JSON, on items held out of all training.

    python benchmarks/answers.py --model DIR --json answers.json [--smoke]

Every item of ``held_out/`` is asked in five ways, one after the other, at temperature 0: the base model
under vLLM's JSON Schema guidance; the base model with a primer under the RAIF grammar; the adapter freely;
the adapter under the RAIF grammar; and an adapter that was trained on the same data with JSON targets, under
JSON Schema guidance. Each prompt is what the package sends.

Rates come with 95 % intervals (Wilson's, and a bootstrap for fields), differences with a paired bootstrap.
Tokens are means over the items; *seconds* is the wall time of all answers, *first use* what compiling the
grammars or schemas took before. Adapters are merged into the weights, so that the times compare what is
written and not vLLM's LoRA kernels; ``--lora`` asks for them as LoRA requests of one engine. vLLM's prefix
cache is off, so that no way of asking reads what another one left there, and so is RAIF speculation, which
would help one side only; ``--speculation on`` measures it, in a file of its own.

The answers are kept in the file of ``--json``. A run that was stopped (``--stop-after``) goes on where it
was; a change of model, adapter or limits needs a new file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from answers_engines import Engines
from answers_items import HELD_OUT, KINDS, Item, load_items
from answers_methods import JSON_ADAPTER, RAIF_ADAPTER, Limits, Method, TurnMethod
from answers_report import Report
from answers_runs import Pace, Records, bar, run
from measuring import machine
from raif_integrations.engines.base import Engine

ADAPTER: Final = HELD_OUT.parent.parent / "examples" / "adapters" / "smollm2-135m-raif"
OPPONENT: Final = HELD_OUT.parent / "adapters" / "smollm2-135m-json"

PAIRS: Final = (
    ("adapter-grammar", "base-json"),
    ("adapter-grammar", "json-adapter"),
    ("adapter-grammar", "adapter-free"),
    ("base-grammar", "base-json"),
)
"""Methods whose difference a run reports."""


def methods(limits: Limits) -> list[TurnMethod]:
    """The ways of asking, in the order they are asked."""
    return [
        TurnMethod("base-json", "base, JSON guidance", None, "json", False, True, limits),
        TurnMethod("base-grammar", "base, primer, RAIF grammar", None, "raif", False, True, limits),
        TurnMethod("adapter-free", "adapter, RAIF, free", RAIF_ADAPTER, "raif", True, False, limits),
        TurnMethod("adapter-grammar", "adapter, RAIF grammar", RAIF_ADAPTER, "raif", True, True, limits),
        TurnMethod("json-adapter", "JSON adapter, JSON guidance", JSON_ADAPTER, "json", True, True, limits),
    ]


def main() -> int:
    """Runs what is asked for; returns 0 if everything is answered, 3 if a part is left for another run."""
    options = options_of(__doc__)
    limits = Limits(64, 32) if options.smoke else Limits()
    return carry_out(options, limits, [(methods(limits), lambda item: True)], PAIRS)


def options_of(description: str | None) -> argparse.Namespace:
    """Reads a command line; shared with ``prompting.py``."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", type=Path, default=os.environ.get("RAIF_TEST_MODEL"), help="the base model"
    )
    parser.add_argument("--adapter", type=Path, default=ADAPTER, help="the RAIF adapter")
    parser.add_argument("--json-adapter", type=Path, default=OPPONENT, help="the JSON adapter")
    parser.add_argument("--lora", action="store_true", help="adapters as LoRA requests, not merged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keeps answers and results; goes on there")
    parser.add_argument("--only", nargs="+", metavar="KEY", help="only these ways of asking")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="only these kinds of items")
    parser.add_argument("--limit", type=int, help="about so many items, spread over the kinds")
    parser.add_argument("--smoke", action="store_true", help="24 items, short answers, to see that it runs")
    parser.add_argument("--side-by-side", type=int, default=32, help="items in work at a time")
    parser.add_argument(
        "--speculation", choices=("off", "on"), default="off", help="RAIF speculation (default: %(default)s)"
    )
    parser.add_argument("--stop-after", type=float, metavar="SECONDS", help="begin no further items then")
    options = parser.parse_args()
    if not options.model:
        parser.error("--model is needed (or RAIF_TEST_MODEL): the folder of the base model")
    return options


def carry_out(
    options: argparse.Namespace,
    limits: Limits,
    work: Sequence[tuple[Sequence[Method], Callable[[Item], bool]]],
    pairs: Sequence[tuple[str, str]],
) -> int:
    """Asks, prints the tables, and adds them to the file.

    Args:
        options: What :func:`options_of` read.
        limits: Longest replies.
        work: Methods, and which items they are asked; a table each.
        pairs: Methods to compare.

    Returns:
        0 if everything is answered, 3 if a part is left for another run.
    """
    until = None if options.stop_after is None else time.perf_counter() + options.stop_after
    adapters = {RAIF_ADAPTER: options.adapter, JSON_ADAPTER: options.json_adapter}
    engines = Engines(options.model, adapters, options.lora, options.side_by_side, options.speculation)
    records = Records(settings(engines, limits), options.json)
    pace = Pace(options.side_by_side, until)
    every = load_items(kinds=options.kinds, limit=24 if options.smoke else options.limit)
    parts = [(known, [item for item in every if is_asked(item)]) for known, is_asked in work]
    for asked in engines.groups([method for known, _ in parts for method in known]):
        open_parts = [
            ([one for one in known if one in asked and _is_open(one, options.only, records, items)], items)
            for known, items in parts
        ]
        if pace.is_over or not any(some for some, _ in open_parts):
            continue
        with engines.open(asked) as engine:
            records.notes.setdefault("tokens of the right answers", tokens_of_right_answers(engine, every))
            for some, items in open_parts:
                run(engine, some, items, records, pace, progress=bar)
    reports = [Report(known, items, records) for known, items in parts]
    sys.stdout.write("\n".join(report.text(pairs) for report in reports))
    for note, fact in records.notes.items():
        sys.stdout.write(f"* {note}: {fact}\n")
    records.save(machine=machine(), results=[report.to_dict(pairs) for report in reports])
    left = any(_is_open(one, options.only, records, items) for known, items in parts for one in known)
    return 3 if left else 0


def tokens_of_right_answers(engine: Engine, items: Sequence[Item]) -> str:
    """What the right objects and arguments cost in either wire; JSON as vLLM's guidance writes it."""
    objects = [pair for item in items for pair in item.expected_objects("raif")]
    raif = sum(engine.count_tokens(contract.encode(value)) for contract, value in objects)
    compact = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for _, value in objects]
    written = sum(map(engine.count_tokens, compact))
    return f"{raif} in RAIF, {written} in JSON without spaces ({raif / max(written, 1):.2f} times)"


def _is_open(method: Method, only: Sequence[str] | None, records: Records, items: Sequence[Item]) -> bool:
    return (not only or method.key in only) and bool(records.waiting(method, items))


def settings(engines: Engines, limits: Limits) -> dict[str, Any]:
    """What the answers depend on."""
    return {
        "model": engines.model.name,
        **{f"{name}_adapter": fingerprint(folder) for name, folder in engines.adapters.items()},
        "adapters_as": "LoRA requests" if engines.as_requests else "merged weights",
        "items": digest_of(HELD_OUT.glob("*.jsonl")),
        "longest_object": limits.object,
        "longest_text": limits.text,
        "side_by_side": engines.side_by_side,
        "speculation": engines.speculation,
    }


def fingerprint(adapter: Path) -> str:
    """Name of an adapter and a digest of its weights."""
    return f"{adapter.name} {digest_of(adapter.glob('adapter_model.*'))}"


def digest_of(paths: Iterable[Path]) -> str:
    """A short digest of files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main())
