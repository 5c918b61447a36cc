"""The grammar in a real matcher with a real tokenizer, as an engine uses it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from raif_integrations.contract.contract import OutputContract

xgrammar = pytest.importorskip("xgrammar")
transformers = pytest.importorskip("transformers")

TEXT = {"type": "string"}
SCHEMAS: dict[str, dict[str, Any]] = {
    "texts": {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]},
    "list": {
        "type": "object",
        "properties": {"a": {"type": "array", "items": TEXT}, "z": TEXT},
        "required": ["a"],
    },
    "table": {
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"n": TEXT, "q": {"type": "integer"}},
                    "required": ["n", "q"],
                },
            }
        },
        "required": ["rows"],
    },
    "mixed": {
        "type": "object",
        "properties": {
            "unit": {"enum": ["C", "F", "1"]},
            "day": {"type": "string", "format": "date"},
            "where": {
                "type": "object",
                "properties": {"city": TEXT, "lat": {"type": "number"}},
                "required": ["city"],
            },
            "extra": {"anyOf": [{"type": "integer"}, {"type": "null"}, TEXT]},
        },
        "required": ["unit", "where"],
    },
}


class Matching:
    """A compiler for the small model's tokenizer."""

    def __init__(self, path: Path) -> None:
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        self.info = xgrammar.TokenizerInfo.from_huggingface(self.tokenizer, vocab_size=len(self.tokenizer))
        self.compiler = xgrammar.GrammarCompiler(self.info)
        self.words = [self.tokenizer.decode([token]) for token in range(self.info.vocab_size)]
        self.newlines = {token for token, word in enumerate(self.words) if word.startswith("\n")}
        self.stop = self.info.stop_token_ids[0]
        self._bitmask = xgrammar.allocate_token_bitmask(1, self.info.vocab_size)

    def matcher(self, contract: OutputContract) -> Any:
        """A fresh matcher for a contract's grammar."""
        return xgrammar.GrammarMatcher(self.compiler.compile_grammar(contract.grammar()))

    def allowed(self, matcher: Any) -> list[int]:
        """Ids of the tokens that may come next."""
        matcher.fill_next_token_bitmask(self._bitmask)
        found = []
        for word, bits in enumerate(self._bitmask[0].tolist()):
            bits &= 0xFFFFFFFF
            while bits:
                low = bits & -bits
                found.append(32 * word + low.bit_length() - 1)
                bits ^= low
        return found


@pytest.fixture(scope="module")
def matching(model_path: Path) -> Matching:
    return Matching(model_path)


@pytest.mark.parametrize("name", SCHEMAS)
def test_random_tokens_make_valid_values(matching: Matching, name: str) -> None:
    contract = OutputContract.from_json_schema(SCHEMAS[name])
    draw = random.Random(name)
    finished = 0
    for _ in range(12):
        matcher = matching.matcher(contract)
        text = ""
        for _ in range(150):
            allowed = matching.allowed(matcher)
            if matching.stop in allowed:
                # Wherever the stop token may come, what is written so far is whole.
                decoded = contract.decode(text, constrained=True)
                assert decoded.ok, (text, decoded.errors)
                assert not decoded.repairs, (text, decoded.repairs)
                if draw.random() < 0.3:
                    finished += 1
                    break
            newlines = [token for token in allowed if token in matching.newlines]
            token = draw.choice(newlines if newlines and draw.random() < 0.4 else allowed)
            if token == matching.stop:
                continue
            assert matcher.accept_token(token)
            text += matching.words[token]
            if "\ufffd" in text:  # half a character: its other half is in the next token
                break
    assert finished


@pytest.mark.parametrize(
    "text",
    ["a=x\nb=y", "a=x\nb=", "a=x\nb=[", "a=x\nb=y ", "a=x\nb=y=[", "a=x\nb=<", "a=x\nb=<<<\ny", "a=x\nb=y\n"],
)
def test_a_stop_token_only_comes_where_the_text_reads_whole(matching: Matching, text: str) -> None:
    contract = OutputContract.from_json_schema(SCHEMAS["texts"])
    matcher = matching.matcher(contract)
    assert matcher.accept_string(text)
    if matching.stop in matching.allowed(matcher):
        decoded = contract.decode(text, constrained=True)
        assert decoded.ok, decoded.errors
        assert not decoded.repairs


def test_the_end_is_legal_right_behind_the_last_value(matching: Matching) -> None:
    contract = OutputContract.from_json_schema(SCHEMAS["texts"])
    for text in ("a=x\nb=y", "a=x\nb=y\n", "a=x\nb:s="):
        matcher = matching.matcher(contract)
        assert matcher.accept_string(text)
        assert matching.stop in matching.allowed(matcher), text


@pytest.mark.parametrize("name", SCHEMAS)
def test_encodings_can_be_generated_token_by_token(matching: Matching, name: str) -> None:
    values = {
        "texts": {"a": "Paris, été", "b": " padded "},
        "list": {"a": ["one", "", "3"], "z": "a\nb"},
        "table": {"rows": [{"n": "x, y", "q": 1}, {"n": "null", "q": -2}]},
        "mixed": {"unit": "1", "where": {"city": "Oslo", "lat": 59.9}, "extra": None, "day": "2024-02-29"},
    }
    contract = OutputContract.from_json_schema(SCHEMAS[name])
    matcher = matching.matcher(contract)
    for token in matching.tokenizer.encode(contract.encode(values[name]), add_special_tokens=False):
        assert matcher.accept_token(token)
    assert matcher.accept_token(matching.stop)
    assert matcher.is_terminated()
