"""How many real schemas the contract carries, and whether every value comes back as it was.

    python benchmarks/contract_coverage.py maskbench.jsonl [--tokenizer DIR] [--limit N]

Each line of the file is a JSON object with ``id``, ``group``, ``schema`` and ``tests`` (each with
``data`` and ``valid``). For every group it prints

* schemas: RAIF, JSON, refused (not a JSON Schema);
* valid instances: exact or wrong after encode and decode, JSON types included;
* invalid instances: refused or accepted by decode;
* encodings of valid instances that the grammar accepts or rejects; *open* counts those it leaves out by
  design, because the value has keys or types that the schema does not describe (they are read, but
  never generated);
* random sentences of the grammar (``--walks`` for each schema): decoded without a repair; valid for the
  *structural* part of the schema (``structure.py``: types, ``required``, ``enum``, ``const``, keys and
  numbers of elements), which the grammar guarantees; *valid* for the schema in full; and *twice* for
  sentences in which two free keys claim the same place, which no context-free grammar can rule out and
  decode refuses;
* compile time of the grammars where xgrammar and a tokenizer are there.

Ends with exit code 1 after any wrong value, any valid value that the grammar rejects, any sentence that
does not decode or breaks the structure of its schema, and any JSON wire without a limit that explains it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ebnf_walk import Walker
from raif_integrations.contract.contract import OutputContract
from raif_integrations.contract.dialect import draft_of
from raif_integrations.contract.keywords import matches
from raif_integrations.contract.report import Decoded
from raif_integrations.contract.shape import Shape, Shapes
from raif_integrations.contract.validation import SchemaValidator
from raif_integrations.errors import SchemaError
from structure import structural

_COLUMNS = (
    "n", "RAIF", "JSON", "refused", "exact", "wrong", "inv.refused", "inv.accepted",
    "gr.accepts", "gr.rejects", "open", "walks", "decoded", "structural", "valid", "twice",
)  # fmt: skip
_CLAIMED_TWICE = ("written twice", "two kinds of value", "already left")

Counts = Counter[str]


class Coverage:
    """Counts, by group, and what went wrong.

    Args:
        walks: Random sentences for each schema.
        compiler: Compiles a grammar's text, or ``None``.
        accepts: Whether a grammar's text accepts a string, or ``None`` without xgrammar.
    """

    def __init__(
        self,
        walks: int,
        compiler: Callable[[str], Any] | None,
        accepts: Callable[[str, str], bool] | None,
    ) -> None:
        self._walks = walks
        self._compile = compiler
        self._accepts = accepts
        self.groups: defaultdict[str, Counts] = defaultdict(Counter)
        self.rules: Counts = Counter()
        self.compile_ms: list[float] = []
        self.failures: list[str] = []

    def add(self, record: dict[str, Any], seed: int) -> None:
        """Take one schema and its instances."""
        counts = self.groups[record["group"]]
        counts["n"] += 1
        try:
            contract = OutputContract.from_json_schema(record["schema"])
        except SchemaError:
            counts["refused"] += 1
            return
        counts["RAIF" if contract.wire == "raif" else "JSON"] += 1
        if contract.wire == "json" and not (
            contract.limits and all(limit.reason for limit in contract.limits)
        ):
            self._fail(record, "JSON without a limit that explains it")
        grammar = contract.grammar() if contract.wire == "raif" else None
        for test in record["tests"]:
            self._instance(record, contract, test, counts, grammar)
        if grammar is not None:
            self._grammar(record, contract, grammar, counts, seed)

    def _fail(self, record: dict[str, Any], what: str) -> None:
        self.failures.append(f"{record['id']}: {what}")

    def _instance(
        self,
        record: dict[str, Any],
        contract: OutputContract,
        test: dict[str, Any],
        counts: Counts,
        grammar: str | None,
    ) -> None:
        value = test["data"]
        written = contract.encode(value)
        decoded = contract.decode(written)
        if not test["valid"]:
            counts["inv.accepted" if decoded.ok else "inv.refused"] += 1
            return
        exact = decoded.ok and _text(decoded.value) == _text(value)
        counts["exact" if exact else "wrong"] += 1
        if not exact:
            self._fail(
                record, f"wrong value for {written[:200]!r}: {[str(error) for error in decoded.errors]}"
            )
        if grammar is None or self._accepts is None:
            return
        if self._accepts(grammar, written):
            counts["gr.accepts"] += 1
            return
        enveloped = value if contract.tree.envelope is None else {contract.tree.envelope: value}
        if _is_undescribed(Shapes(contract.tree).root, enveloped):
            counts["open"] += 1
            return
        counts["gr.rejects"] += 1
        self._fail(record, f"the grammar rejects {written[:200]!r}")

    def _grammar(
        self, record: dict[str, Any], contract: OutputContract, grammar: str, counts: Counts, seed: int
    ) -> None:
        if self._compile is not None:
            start = time.perf_counter()
            self._compile(grammar)
            self.compile_ms.append((time.perf_counter() - start) * 1000)
        walker = Walker(grammar, seed)
        structure = SchemaValidator(structural(record["schema"]), draft_of(record["schema"]))
        for number in range(self._walks):
            sentence = walker.sentence(20 + 10 * number)
            decoded = contract.decode(sentence, constrained=True)
            counts["walks"] += 1
            if _claims_twice(decoded):
                counts["twice"] += 1
            elif decoded.repairs or any(error.rule in ("syntax", "truncated") for error in decoded.errors):
                notes = [str(error) for error in decoded.errors] or [str(one) for one in decoded.repairs]
                self._fail(record, f"sentence {sentence[:300]!r}: {notes[:2]}")
            else:
                counts["decoded"] += 1
                counts["valid"] += decoded.ok
                broken = structure.errors(decoded.value)
                counts["structural"] += not broken
                if broken:
                    self._fail(record, f"sentence {sentence[:300]!r} breaks its structure: {broken[0]}")
                self.rules.update({error.rule for error in decoded.errors})

    def print(self) -> None:
        """Print the table, the compile times and the failures."""
        print(f"{'group':22}" + "".join(f"{column:>13}" for column in _COLUMNS))
        total: Counts = Counter()
        for group, counts in sorted(self.groups.items()):
            total.update(counts)
            print(f"{group:22}" + "".join(f"{counts[column]:>13}" for column in _COLUMNS))
        print(f"{'all':22}" + "".join(f"{total[column]:>13}" for column in _COLUMNS))
        if self.rules:
            broken = ", ".join(f"{rule} {count}" for rule, count in self.rules.most_common())
            print(f"\nkeywords that decoded sentences break (sentences): {broken}")
        if self.compile_ms:
            ordered = sorted(self.compile_ms)
            shares = " ".join(
                f"{name} {ordered[min(int(len(ordered) * share), len(ordered) - 1)]:.0f}"
                for name, share in (("median", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
            )
            print(f"\ncompile time, milliseconds: {shares}")
        for failure in self.failures[:40]:
            print(f"FAILED {failure}")
        if self.failures:
            print(f"{len(self.failures)} failures")


def main() -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--limit", type=int, help="only every n-th schema, so that about this many are left")
    parser.add_argument("--walks", type=int, default=20, help="random sentences for each schema")
    parser.add_argument("--group", help="only groups whose name starts like this")
    parser.add_argument("--tokenizer", default=os.environ.get("RAIF_TEST_MODEL"), help="for compile times")
    options = parser.parse_args()
    records = [json.loads(line) for line in options.path.read_text(encoding="utf-8").splitlines()]
    if options.group:
        records = [record for record in records if record["group"].startswith(options.group)]
    if options.limit:
        records = records[:: max(1, len(records) // options.limit)]
    coverage = Coverage(options.walks, _compiler(options.tokenizer), _acceptor())
    for seed, record in enumerate(_with_progress(records)):
        coverage.add(record, seed)
    coverage.print()
    return 1 if coverage.failures else 0


def _with_progress(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    start = time.monotonic()
    for number, record in enumerate(records, 1):
        yield record
        spent = time.monotonic() - start
        left = spent / number * (len(records) - number)
        print(f"\r{number}/{len(records)} schemas, {left:.0f} s left ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _acceptor() -> Callable[[str, str], bool] | None:
    try:
        from xgrammar.testing import _is_grammar_accept_string
    except ImportError:
        print("xgrammar is not installed: grammars are walked, but not compared", file=sys.stderr)
        return None
    return lambda grammar, text: bool(_is_grammar_accept_string(grammar, text))


def _compiler(tokenizer: str | None) -> Callable[[str], Any] | None:
    """Compiles with the cache off and the compiler's own number of threads."""
    if tokenizer is None:
        return None
    import xgrammar
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(tokenizer)
    info = xgrammar.TokenizerInfo.from_huggingface(loaded, vocab_size=len(loaded))
    return lambda text: xgrammar.GrammarCompiler(info, cache_enabled=False).compile_grammar(text)


def _text(value: Any) -> str:
    """A text that differs where a value or a JSON type differs."""
    return json.dumps(value, sort_keys=True)


def _claims_twice(decoded: Decoded) -> bool:
    """Whether the first thing wrong with a sentence is that two lines claim the same place."""
    if any(repair.kind == "repeated_field_ignored" for repair in decoded.repairs):
        return True
    messages: Iterable[str] = (error.message for error in decoded.errors if error.rule == "syntax")
    first = next(iter(messages), "")
    return any(text in first for text in _CLAIMED_TWICE)


def _is_undescribed(shape: Shape, value: Any) -> bool:
    """Whether a value has a key or a type somewhere that the schema allows, but does not describe."""
    if isinstance(value, dict):
        if not shape.objects:
            return bool(shape.arrays or shape.scalars or shape.choices)
        return any(
            not _is_described(shape, key) or _is_undescribed(shape.child(key), below)
            for key, below in value.items()
        )
    if isinstance(value, list):
        if not shape.arrays:
            return bool(shape.objects or shape.scalars or shape.choices)
        return any(_is_undescribed(shape.element(index), below) for index, below in enumerate(value))
    return bool(shape.objects or shape.arrays) and not (shape.scalars or shape.choices) and value is not None


def _is_described(shape: Shape, key: str) -> bool:
    """Whether a key is declared, or described as a free one."""
    return key in shape.declared or any(
        any(matches(pattern, key) for pattern, _ in node.patterns)
        if node.patterns
        else node.additional is not None
        for node in shape.objects
    )


if __name__ == "__main__":
    sys.exit(main())
