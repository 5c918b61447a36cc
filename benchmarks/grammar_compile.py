"""Compile time and mask time of the RAIF grammars, beside xgrammar's own JSON Schema grammars.

    python benchmarks/grammar_compile.py ../shared/schemas/maskbench.jsonl --tokenizer DIR

Needs xgrammar and transformers. The function-call schemas of the file (groups ``Glaiveai2K`` and
``BFCL_*``) are compiled with the compiler's cache off, each way in its own compiler. Mask time is the
mean time to fill the token bitmask while a long string is generated token by token.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from raif_integrations.contract.contract import OutputContract

_GROUPS = ("Glaiveai2K", "BFCL")
_PROSE = (
    "The quick brown fox jumps over the lazy dog, then naps = sleeps for 3.5 hours (at <home>); "
    "l'été à Zürich: 20 °C [sunny] {mostly} & dry. "
)


def main() -> int:
    """Run the benchmark and print its tables."""
    options = _options()
    import xgrammar
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=len(tokenizer))

    def compiler() -> Any:
        return xgrammar.GrammarCompiler(info, max_threads=options.threads, cache_enabled=False)

    raif: list[float] = []
    native: list[float] = []
    clock = time.process_time if options.cpu else time.perf_counter
    unable = 0
    schemas = list(_schemas(options.path, options.limit))
    for schema in _with_progress(schemas):
        contract = OutputContract.from_json_schema(schema)
        if contract.wire != "raif":
            continue
        grammar = contract.grammar()
        raif.append(_timed(clock, lambda text=grammar: compiler().compile_grammar(text)))
        try:
            written = json.dumps(schema)
            native.append(_timed(clock, lambda text=written: compiler().compile_json_schema(text)))
        except RuntimeError:
            unable += 1
    kind = "CPU" if options.cpu else "wall"
    print(f"{len(raif)} schemas, {options.threads} thread(s), {kind} milliseconds")
    print(f"{'':24}{'median':>9}{'p95':>9}{'p99':>9}{'max':>9}")
    _print_row("RAIF grammar", raif)
    _print_row("xgrammar JSON Schema", native)
    if unable:
        print(f"xgrammar's own JSON Schema compiler refuses {unable}")
    print("\nmask time on a long string, microseconds per token")
    for name, value in _mask_times(xgrammar, compiler(), info, tokenizer):
        print(f"{name:24}{value:9.1f}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("path", type=Path, help="schemas, one JSON object with group and schema a line")
    parser.add_argument("--tokenizer", required=True, help="folder of a Hugging Face tokenizer")
    parser.add_argument("--limit", type=int, help="only so many schemas")
    parser.add_argument("--threads", type=int, default=1, help="threads of the grammar compiler")
    parser.add_argument("--cpu", action="store_true", help="measure CPU time (on a busy machine)")
    return parser.parse_args()


def _schemas(path: Path, limit: int | None) -> Iterator[dict[str, Any]]:
    taken = 0
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["group"].startswith(_GROUPS) and (limit is None or taken < limit):
                taken += 1
                yield record["schema"]


def _with_progress(schemas: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for number, schema in enumerate(schemas, 1):
        print(f"\rcompiling {number}/{len(schemas)}", end="", file=sys.stderr, flush=True)
        yield schema
    print(file=sys.stderr)


def _timed(clock: Any, work: Any) -> float:
    start = clock()
    work()
    return float((clock() - start) * 1000)


def _print_row(name: str, values: list[float]) -> None:
    ordered = sorted(values) or [float("nan")]
    cells = [ordered[min(int(len(ordered) * share), len(ordered) - 1)] for share in (0.5, 0.95, 0.99)]
    print(f"{name:24}" + "".join(f"{value:9.1f}" for value in (*cells, ordered[-1])))


def _mask_times(xgrammar: Any, compiler: Any, info: Any, tokenizer: Any) -> Iterator[tuple[str, float]]:
    """Mean time to fill the bitmask inside a long string, a long block and a long table."""
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    row = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    }
    table = {"type": "object", "properties": {"rows": {"type": "array", "items": row}}, "required": ["rows"]}
    cases = [
        ("string on one line", text, "text=" + _PROSE * 20),
        ("string of many lines", text, "text=<<<\n" + (_PROSE + "\n> quoted\n") * 20),
        (
            "table",
            table,
            "rows::a,b" + "".join(f"\nrows[{n}]=item number {n} of many,{n}" for n in range(60)),
        ),
    ]
    for name, schema, written in cases:
        grammar = OutputContract.from_json_schema(schema).grammar()
        yield name, _mask_time(xgrammar, compiler.compile_grammar(grammar), info, tokenizer, written)
    native = compiler.compile_json_schema(json.dumps(text))
    written = json.dumps({"text": _PROSE * 20}, ensure_ascii=False)
    yield "JSON string", _mask_time(xgrammar, native, info, tokenizer, written)


def _mask_time(xgrammar: Any, compiled: Any, info: Any, tokenizer: Any, written: str) -> float:
    matcher = xgrammar.GrammarMatcher(compiled)
    bitmask = xgrammar.allocate_token_bitmask(1, info.vocab_size)
    spent = 0.0
    count = 0
    for token in tokenizer.encode(written, add_special_tokens=False):
        start = time.perf_counter()
        matcher.fill_next_token_bitmask(bitmask)
        spent += time.perf_counter() - start
        count += 1
        if not matcher.accept_token(token):
            raise RuntimeError(f"the grammar refuses token {token} of {written[:60]!r}")
    return spent / count * 1e6


if __name__ == "__main__":
    sys.exit(main())
