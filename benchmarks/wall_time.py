"""How long the same objects take as RAIF, with and without speculation, and as JSON.

    PYTHONPATH=examples python benchmarks/wall_time.py MODEL --json results/wall_time.json

``MODEL`` is the folder of the small model (``examples/small_model.py`` prints it); the repository's RAIF
adapter is merged into its weights first. So that all ways carry the same values, whatever the model would
answer, a grammar with exactly one sentence makes it write the right object: as RAIF, or as JSON in one line
as models write it (a space behind ``:`` and ``,``). Free JSON is as many tokens without any grammar. Two
engines, with and without RAIF speculation, are loaded at the same time; all ways take turns, one object
after the other.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from answers_items import OUTPUT_KINDS, Item, load_items
from measuring import Ratio, in_turn, median_ratio, parser, report
from merging import merge
from raif_integrations.contract.ebnf import literal
from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.prompt import cue_block, with_block
from raif_integrations.engines.base import Constraint, Engine, GrammarConstraint, Message, Request, Sampling
from raif_integrations.engines.embedded import EmbeddedEngine
from small_model import ADAPTER
from speculation import QuietClock, start_all

_QUESTION: Final = "How long do the same objects take in RAIF and in JSON?"
_FASTEST: Final = "RAIF with speculation"
_OTHERS: Final = ("RAIF without speculation", "JSON under a grammar", "free JSON")


def main() -> int:
    """Runs the benchmark and writes its result."""
    options = _options()
    items = load_items(kinds=OUTPUT_KINDS, limit=2 if options.smoke else options.items)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="raif-merged-"))
        model = merge(options.model, ADAPTER, Path(folder))
        drafting, plain = (
            stack.enter_context(_engine(model, speculation, options.engine_args))
            for speculation in ("on", "off")
        )
        start_all({"with speculation": drafting, "without": plain})
        raif = [_raif(item) for item in items]
        guided = [_json(item) for item in items]
        free = [
            _free(request, plain.count_tokens(_json_text(item)))
            for request, item in zip(guided, items, strict=True)
        ]
        tokens: dict[str, int] = {}
        clock = QuietClock()

        def asking(engine: Engine, requests: Sequence[Request], name: str) -> Callable[[], None]:
            def call() -> None:
                clock.pause()
                tokens[name] = sum(engine.generate(request).usage.completion_tokens for request in requests)

            return call

        sides = {_FASTEST: asking(drafting, raif, _FASTEST)} | {
            name: asking(plain, requests, name)
            for name, requests in zip(_OTHERS, (raif, guided, free), strict=True)
        }
        rounds = 1 if options.smoke else options.rounds
        times = in_turn(sides, rounds=rounds, clock=clock)
    details = {
        name: {"ms_per_object": [round(one / len(items) * 1000, 1) for one in spent], "tokens": tokens[name]}
        for name, spent in times.items()
    }
    ratios = [
        Ratio(f"time {other} / {_FASTEST}", median_ratio(times[other], times[_FASTEST])) for other in _OTHERS
    ]
    report(options, _QUESTION, ratios, objects=len(items), ways=details)
    return 0


def _options() -> argparse.Namespace:
    made = parser(__doc__)
    made.add_argument("model", type=Path, help="folder of SmolLM2-135M-Instruct")
    made.add_argument("--items", type=int, default=12, help="about so many objects")
    made.add_argument("--rounds", type=int, default=2, help="how often each way has its turn")
    made.add_argument("--engine-args", type=json.loads, default={}, metavar="JSON", help="for both engines")
    return made.parse_args()


def _engine(model: Path, speculation: Any, given: dict[str, Any]) -> EmbeddedEngine:
    arguments = {"max_model_len": 1024, "max_num_seqs": 16, **given}
    return EmbeddedEngine(model, engine_args=arguments, speculation=speculation)


def _json_text(item: Item) -> str:
    return json.dumps(item.value, ensure_ascii=False)


def _raif(item: Item) -> Request:
    contract = item.contract("raif")
    assert contract is not None
    return _forced(_turns(item, cue_block(contract, trained=True)), contract.encode(item.value))


def _json(item: Item) -> Request:
    contract = item.contract("json")
    assert contract is not None
    return _forced(_turns(item, cue_block(contract, trained=True)), _json_text(item))


def _turns(item: Item, block: str) -> list[Message]:
    return with_block(as_turns(item.messages, neutralise_tags=True), block)


def _forced(messages: list[Message], text: str) -> Request:
    """Asks for exactly one text."""
    constraint: Constraint = GrammarConstraint(f"root ::= {literal(text)}\n")
    return Request(messages=messages, sampling=Sampling(temperature=0.0), constraint=constraint)


def _free(request: Request, tokens: int) -> Request:
    """The same prompt without a grammar, and as many tokens as the JSON has."""
    sampling = Sampling(temperature=0.0, max_tokens=tokens, extra={"ignore_eos": True})
    return Request(messages=request.messages, sampling=sampling)


if __name__ == "__main__":
    sys.exit(main())
