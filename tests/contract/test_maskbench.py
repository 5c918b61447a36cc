"""Real schemas with valid and invalid instances (a part of MaskBench, kept beside the project)."""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ebnf_walk import Walker
from benchmarks.structure import structural
from raif_integrations.contract import OutputContract
from tests.contract.strategies import identical

FILE = Path(__file__).parents[3] / "shared" / "schemas" / "maskbench.jsonl"
PAYLOADS = FILE.parents[1] / "payloads" / "function_calls.raif.jsonl"

pytestmark = pytest.mark.skipif(
    not FILE.exists(), reason=f"{FILE} is not there: the data is kept beside the project"
)


@lru_cache
def lines() -> list[tuple[dict[str, Any], OutputContract]]:
    """Every schema of the file with its contract."""
    read = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return [(line, OutputContract.from_json_schema(line["schema"])) for line in read]


def instances(*, valid: bool) -> list[tuple[str, OutputContract, Any]]:
    """All instances of one kind."""
    return [
        (line["id"], contract, test["data"])
        for line, contract in lines()
        for test in line["tests"]
        if test["valid"] is valid
    ]


def test_nearly_every_schema_travels_as_raif() -> None:
    counts = Counter(
        (line["group"].startswith(("BFCL", "Glaive")), contract.wire) for line, contract in lines()
    )
    calls = counts[True, "raif"] / (counts[True, "raif"] + counts[True, "json"])
    everything = (counts[True, "raif"] + counts[False, "raif"]) / counts.total()
    assert calls >= 0.99
    assert everything >= 0.9


def test_json_is_always_explained() -> None:
    assert all(bool(contract.limits) is (contract.wire == "json") for _, contract in lines())
    assert all(limit.reason for _, contract in lines() for limit in contract.limits)


@pytest.mark.parametrize("constrained", [False, True])
def test_valid_instances_come_back_exactly(constrained: bool) -> None:
    wrong = []
    for name, contract, value in instances(valid=True):
        decoded = contract.decode(contract.encode(value), constrained=constrained)
        if not decoded.ok or not identical(decoded.value, value):
            wrong.append((name, decoded.errors))
    assert wrong == []


def test_raif_encodings_need_no_repair() -> None:
    repaired = [
        (name, decoded.repairs)
        for name, contract, value in instances(valid=True)
        if contract.wire == "raif" and (decoded := contract.decode(contract.encode(value))).repairs
    ]
    assert repaired == []


def test_invalid_instances_are_refused_with_a_rule() -> None:
    accepted = []
    for name, contract, value in instances(valid=False):
        decoded = contract.decode(contract.encode(value))
        if decoded.ok or not decoded.errors or not all(error.rule for error in decoded.errors):
            accepted.append(name)
    assert accepted == []


@pytest.mark.parametrize("constrained", [False, True])
def test_streams_give_the_same_value_and_json(constrained: bool) -> None:
    wrong = []
    for name, contract, value in instances(valid=True):
        decoder = contract.decoder(constrained=constrained)
        text = contract.encode(value)
        for start in range(0, len(text), 5):
            decoder.push(text[start : start + 5])
        decoded = decoder.finish("stop")
        if not decoded.ok or not identical(json.loads(decoder.json), value):
            wrong.append((name, decoder.json))
    assert wrong == []


def test_sentences_of_the_grammars_keep_the_structure_of_their_schemas() -> None:
    broken = []
    for seed, (line, contract) in enumerate(lines()[::4]):
        if contract.wire == "json":
            continue
        structure = OutputContract.from_json_schema(structural(line["schema"]), wire="json")
        walker = Walker(contract.grammar(), seed)
        for budget in (15, 40, 120):
            decoded = contract.decode(walker.sentence(budget), constrained=True)
            if any(error.rule == "syntax" and "twice" in error.message for error in decoded.errors):
                continue  # two free keys are equal, which no context-free grammar can rule out
            if any(error.rule == "syntax" for error in decoded.errors) or structure.validate(decoded.value):
                broken.append((line["id"], decoded))
    assert broken == []


def test_every_cue_can_be_written() -> None:
    assert all(
        isinstance(contract.cue(style), str) for _, contract in lines() for style in ("trained", "described")
    )


def test_real_payloads_decode_as_the_reference_codec_does() -> None:
    import raif

    contract = OutputContract.from_json_schema({"type": "object"})
    wrong = []
    for line in PAYLOADS.read_text(encoding="utf-8").splitlines()[::10]:
        text = json.loads(line)["messages"][0]["content"]
        decoded = contract.decode(text)
        if not decoded.ok or decoded.value != raif.decode(text)["value"]:
            wrong.append((text, decoded))
    assert wrong == []
