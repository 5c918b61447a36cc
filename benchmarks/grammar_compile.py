"""What the RAIF grammars cost an engine, beside xgrammar's own JSON Schema grammars.

    python benchmarks/grammar_compile.py [--schemas FILE] [--tokenizer DIR] [--smoke] [--json FILE]

Two costs, each as RAIF to JSON. Compiling: once for each schema, with the compiler's cache off; the two ways
take turns, and the median over the schemas counts. Masking: the mean time to fill the bitmask for a
token inside a long string, which is paid for every token. ``--schemas`` is a file with a list of OpenAI tools
(the sample in ``benchmarks/data`` by default), or lines of ``{"group": ..., "schema": ...}``, of which the
function calls (``Glaiveai2K`` and ``BFCL``) are taken. Needs xgrammar.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import xgrammar
from transformers import AutoTokenizer

import measuring
import model_folder
from raif_integrations.contract import OutputContract

QUESTION = "How many times xgrammar's JSON Schema grammars do the RAIF grammars cost?"
DATA = Path(__file__).parent / "data"
GROUPS = ("Glaiveai2K", "BFCL")
PROSE = (
    "The quick brown fox jumps over the lazy dog, then naps = sleeps for 3.5 hours (at <home>); "
    "l'été à Zürich: 20 °C [sunny] {mostly} & dry. "
)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ROW = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
TABLE = {"type": "object", "properties": {"rows": {"type": "array", "items": ROW}}, "required": ["rows"]}


def main() -> None:
    """Measures, and reports."""
    parser = measuring.parser(__doc__)
    parser.add_argument("--schemas", type=Path, default=DATA / "tools.json", metavar="FILE")
    parser.add_argument(
        "--tokenizer", metavar="DIR", help="Hugging Face tokenizer; the small model's by default"
    )
    options = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer or str(model_folder.small_model()))
    engine = Masks(tokenizer)
    found = schemas(options.schemas)[: 3 if options.smoke else None]
    ratios = [compiling(engine, found, rounds=1 if options.smoke else 3)]
    ratios += masking(engine, rounds=1 if options.smoke else 5)
    measuring.report(options, QUESTION, ratios, schemas=len(found))


def schemas(path: Path) -> list[Any]:
    """The schemas of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return [tool["function"]["parameters"] for tool in json.loads(text)]
    records = map(json.loads, text.splitlines())
    return [record["schema"] for record in records if record["group"].startswith(GROUPS)]


class Masks:
    """xgrammar with one tokenizer.

    Args:
        tokenizer: A Hugging Face tokenizer.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=len(tokenizer))

    def compiler(self) -> Any:
        """A compiler that remembers nothing."""
        return xgrammar.GrammarCompiler(self._info, max_threads=1, cache_enabled=False)

    def seconds_a_token(self, compiled: Any, written: str) -> float:
        """Mean time to fill the bitmask for a token of a text."""
        matcher = xgrammar.GrammarMatcher(compiled)
        bitmask = xgrammar.allocate_token_bitmask(1, self._info.vocab_size)
        tokens = self._tokenizer.encode(written, add_special_tokens=False)
        spent = 0.0
        for token in tokens:
            start = time.perf_counter()
            matcher.fill_next_token_bitmask(bitmask)
            spent += time.perf_counter() - start
            if not matcher.accept_token(token):
                raise RuntimeError(f"the grammar refuses token {token} of {written[:60]!r}")
        return spent / len(tokens)


def compiling(engine: Masks, found: list[Any], *, rounds: int) -> measuring.Ratio:
    """Compile time, median over the schemas."""
    raif: list[float] = []
    native: list[float] = []
    refused = 0
    for schema in measuring.progress(found, "compiling"):
        contract = OutputContract.from_json_schema(schema)
        if contract.wire != "raif":
            continue
        grammar, written = contract.grammar(), json.dumps(schema)
        try:
            ours, theirs = [], []
            for _ in range(rounds):
                ours.append(seconds(lambda text=grammar: engine.compiler().compile_grammar(text)))  # type: ignore[misc]
                theirs.append(seconds(lambda text=written: engine.compiler().compile_json_schema(text)))  # type: ignore[misc]
        except RuntimeError:
            refused += 1  # xgrammar's own compiler does not take every schema
            continue
        raif.append(min(ours))
        native.append(min(theirs))
    details = {
        "raif_median_ms": round(statistics.median(raif) * 1000, 2),
        "raif_max_ms": round(max(raif) * 1000, 2),
        "json_median_ms": round(statistics.median(native) * 1000, 2),
        "json_max_ms": round(max(native) * 1000, 2),
        "refused_by_json": refused,
    }
    return measuring.Ratio("compiling", measuring.median_ratio(raif, native), details=details)


def masking(engine: Masks, *, rounds: int) -> list[measuring.Ratio]:
    """Mask time inside a string on one line, a string of many lines, and a table."""
    cases = {
        "string on one line": (TEXT, "text=" + PROSE * 20),
        "string of many lines": (TEXT, "text=<<<\n" + (PROSE + "\n> quoted\n") * 20),
        "table": (
            TABLE,
            "rows::a,b" + "".join(f"\nrows[{n}]=item number {n} of many,{n}" for n in range(60)),
        ),
    }
    native = engine.compiler().compile_json_schema(json.dumps(TEXT))
    json_text = json.dumps({"text": PROSE * 20}, ensure_ascii=False)
    compiled = {
        name: engine.compiler().compile_grammar(OutputContract.from_json_schema(schema).grammar())
        for name, (schema, _) in cases.items()
    }
    times: dict[str, list[float]] = {name: [] for name in ("JSON", *cases)}
    for _ in measuring.progress(range(rounds), "masking"):
        times["JSON"].append(engine.seconds_a_token(native, json_text))
        for name, (_, written) in cases.items():
            times[name].append(engine.seconds_a_token(compiled[name], written))
    json_us = round(min(times["JSON"]) * 1e6, 2)
    return [
        measuring.Ratio(
            f"masking a {name}",
            measuring.median_ratio(times[name], times["JSON"]),
            details={"raif_us_a_token": round(min(times[name]) * 1e6, 2), "json_us_a_token": json_us},
        )
        for name in cases
    ]


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
