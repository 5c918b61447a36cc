"""Drafts are divided into tokens as the model itself would divide them."""

from __future__ import annotations

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE

from raif_integrations.engines.speculation.vocabulary import Vocabulary

# The pattern of Llama 3 and Qwen: line breaks belong to the punctuation in front of them.
_PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def made(symbols: str, merges: list[tuple[str, str]]) -> Tokenizer:
    tokens = [*dict.fromkeys(symbols), *("".join(pair) for pair in merges)]
    return Tokenizer(BPE({token: number for number, token in enumerate(tokens)}, merges, byte_fallback=False))


def by_bytes() -> Tokenizer:
    """Byte-level, with ``=[`` and the line break behind it in one token, as in Qwen's vocabulary."""
    symbols = "".join(sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer = made(symbols, [("=", "["), ("=[", "Ċ"), (".", "Ċ"), ("O", "s"), ("l", "o"), ("Os", "lo")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<|end|>", special=True)])
    return tokenizer


def by_pieces() -> Tokenizer:
    """In the manner of SentencePiece, which puts a space before every text."""
    tokenizer = made("▁Osloa=\ntgsn[]me", [("▁", "O"), ("s", "l"), ("sl", "o"), ("O", "slo"), ("▁", "Oslo")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


@pytest.fixture(params=[by_bytes, by_pieces], ids=["bytes", "pieces"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    tokenizer: Tokenizer = request.param()
    return tokenizer


@pytest.mark.parametrize("text", ["name=Oslo", "Oslo", "tags=[\nOslo\n]", "a", ""])
def test_a_line_has_the_tokens_it_has_inside_a_text(text: str, tokenizer: Tokenizer) -> None:
    inside = tokenizer.encode(f"a\n{text}").tokens
    own = [tokenizer.id_to_token(number) for number in Vocabulary(tokenizer).ids(text)]
    assert inside[-len(own) :] == own if own else not text


def test_tokens_merge_at_the_seam() -> None:
    vocabulary = Vocabulary(by_bytes())
    (merged,) = vocabulary.ids("=[\n")
    assert vocabulary.sequel(vocabulary.ids("tags"), "tags", "=[\n") == [merged]


def test_a_draft_goes_on_inside_a_token() -> None:
    """The model divided the word in its own way: the rest stands by itself."""
    vocabulary = Vocabulary(by_bytes())
    assert vocabulary.ids("Oslo") != vocabulary.ids("Os") + vocabulary.ids("lo")
    assert vocabulary.sequel(vocabulary.ids("Os"), "Os", "lo") == vocabulary.ids("lo")
    assert vocabulary.sequel(vocabulary.ids("O"), "O", "slo.\n") == vocabulary.ids("slo.\n")


@pytest.mark.parametrize("text", ["name=Ada Lovelace\n", "x=1.5e-3,[{<<<é>>>", " two  spaces", "日本語\n"])
def test_pieces_are_the_text(text: str, vocabulary: Vocabulary) -> None:
    ids = vocabulary.ids(text)
    assert vocabulary.inner(ids) == text
    pieces = [vocabulary.piece(number) for number in ids]
    if None not in pieces:
        assert "".join(piece or "" for piece in pieces) == text


def test_special_tokens_and_parts_of_characters_have_no_piece(vocabulary: Vocabulary) -> None:
    assert vocabulary.end is not None
    assert vocabulary.piece(vocabulary.end) is None
    parts = vocabulary.ids("👩")
    assert len(parts) > 1
    assert vocabulary.piece(parts[0]) is None
    assert vocabulary.inner(parts[:1]) == ""
    assert vocabulary.inner(parts) == "👩"


def test_a_tokenizer_of_another_kind_is_refused() -> None:
    class Other:
        def encode(self, text: str) -> list[int]:
            return []

    with pytest.raises(TypeError, match="Other is not a fast tokenizer"):
        Vocabulary(Other())
