"""How many tokens RAIF takes, in the reply and in the prompt, beside JSON and TOON.

    python benchmarks/tokens.py [--tokenizer NAME]... [--tools FILE] [--payloads FILE] [--smoke] [--json FILE]

Replies: the arguments of the calls in ``--payloads`` as RAIF, as compact, spaced and indented JSON, and as
TOON. Prompts: the tools in ``--tools`` as the bare cue (models trained on RAIF), as the described cue (any
other model), and as the JSON tool definitions a chat template writes. By default both files are the samples
in ``benchmarks/data``: 12 tools with 36 calls, made by hand for their variety. A payload is a line of JSON,
``{"name": ..., "arguments": {...}}``, or a chat whose last message is RAIF (``{"messages": [...]}``, as
raif-standard keeps its real payloads).

Tokenizers are folders, hub names or ``tiktoken:NAME``; without any it is the small model's. A ratio is the
sum of RAIF's tokens to the sum of the other's, over everything.
"""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import raif
import toon_format

import measuring
import model_folder
from raif_integrations.cli.report.subjects import Subject, find_subjects
from raif_integrations.cli.report.tokenizers import Counter, load_counter

QUESTION = "How many of the tokens of JSON and TOON does RAIF take?"
DATA = Path(__file__).parent / "data"
FORMS: dict[str, Callable[[Any], str]] = {
    "compact JSON": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "spaced JSON": lambda value: json.dumps(value, ensure_ascii=False),
    "indented JSON": lambda value: json.dumps(value, ensure_ascii=False, indent=2),
    "TOON": toon_format.encode,
}


def main() -> None:
    """Counts, and reports."""
    parser = measuring.parser(__doc__)
    parser.add_argument(
        "--tokenizer", action="append", metavar="NAME", help="folder, hub name or tiktoken:NAME"
    )
    parser.add_argument("--tools", type=Path, default=DATA / "tools.json", metavar="FILE")
    parser.add_argument("--payloads", type=Path, default=DATA / "payloads.jsonl", metavar="FILE")
    options = parser.parse_args()
    tools = find_subjects(str(options.tools))
    pairs = list(islice(payloads(options.payloads, tools), 5 if options.smoke else None))
    ratios = []
    for name in options.tokenizer or [str(model_folder.small_model())]:
        counter = load_counter(name)
        ratios += [*replies(counter, pairs), *prompts(counter, tools)]
    measuring.report(options, QUESTION, ratios, payloads=len(pairs), tools=len(tools))


def payloads(path: Path, tools: list[Subject]) -> Iterator[tuple[str, Any]]:
    """The RAIF text and the value of each payload."""
    contracts = {tool.name: tool.contract for tool in tools}
    with path.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if "messages" in line:
                text = line["messages"][-1]["content"]
                yield text, raif.decode(text)["value"]
            else:
                yield contracts[line["name"]].encode(line["arguments"]), line["arguments"]


def replies(counter: Counter, pairs: list[tuple[str, Any]]) -> Iterator[measuring.Ratio]:
    """RAIF's share of each other form's tokens in a reply."""
    sums: Tally[str] = Tally()
    costlier: Tally[str] = Tally()
    for text, value in measuring.progress(pairs, f"replies, {counter.name}"):
        raif_tokens = counter.count(text)
        sums["RAIF"] += raif_tokens
        for form, write in FORMS.items():
            tokens = counter.count(write(value))
            sums[form] += tokens
            costlier[form] += raif_tokens > tokens
    for form in FORMS:
        details = {
            "raif_tokens": sums["RAIF"],
            "other_tokens": sums[form],
            "raif_longer_share": round(costlier[form] / len(pairs), 4),
        }
        yield measuring.Ratio(f"{counter.name}: reply to {form}", sums["RAIF"] / sums[form], details=details)


def prompts(counter: Counter, tools: list[Subject]) -> Iterator[measuring.Ratio]:
    """The share of a JSON tool definition's tokens that each cue takes."""
    definitions = sum(counter.count(tool.json_prompt()) for tool in tools)
    for style, trained in (("bare cue", True), ("described cue", False)):
        cues = sum(counter.count(tool.raif_prompt(trained=trained)) for tool in tools)
        details = {"cue_tokens": cues, "definition_tokens": definitions}
        yield measuring.Ratio(f"{counter.name}: {style} to JSON tools", cues / definitions, details=details)


if __name__ == "__main__":
    main()
