"""Thinking at the start of a reply is kept apart, whatever the pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raif_integrations.conversation.reasoning import ReasoningSplitter


def split(pieces: list[str]) -> tuple[str, str]:
    splitter = ReasoningSplitter()
    parts = [splitter.push(piece) for piece in pieces] + [splitter.finish()]
    return "".join(part[0] for part in parts), "".join(part[1] for part in parts)


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("hello", "", "hello"),
        ("  hello ", "", "  hello "),
        ("", "", ""),
        ("<think>a</think>b", "a", "b"),
        ("\n<think>\na\n</think>\n\nb c", "\na\n", "b c"),
        ("<think>never ends", "never ends", ""),
        ("<think></think>", "", ""),
        ("<th", "", "<th"),
        ("<thin ice", "", "<thin ice"),
        ("a <think>b</think>", "", "a <think>b</think>"),
        ("<think>a</think>b</think>c", "a", "b</think>c"),
        ("<think>a </thin k></think>b", "a </thin k>", "b"),
    ],
)
def test_only_a_leading_block_is_reasoning(text: str, reasoning: str, answer: str) -> None:
    assert split([text]) == (reasoning, answer)
    assert split(list(text)) == (reasoning, answer)


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "think>", "a", " ", "\n", "</", "b"])), st.data()
)
def test_the_pieces_do_not_matter(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert split(pieces) == split([text])
