"""Models that think before they answer, between ``<think>`` and ``</think>``.

A chat template may open the reasoning itself (the prompt ends with ``<think>``), close it at once (thinking
is switched off), or leave it to the model. In the first case vLLM applies the grammar behind ``</think>``;
in the last the grammar has to let the model choose, because vLLM would otherwise wait for a ``</think>``
that may never come.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from raif_integrations.contract.ebnf import char_class, charset, complement, literal

OPEN = "<think>"
CLOSE = "</think>"

_TAIL = 4
"""Tokens at the end of a prompt that are looked at for a tag: the tag and the line breaks behind it."""


class Thinking(Enum):
    """Where the reply stands to the reasoning."""

    NONE = "none"
    """The model does not think, or has been told not to."""
    OPEN = "open"
    """The reply begins inside the reasoning."""
    MAYBE = "maybe"
    """The reply may begin with ``<think>``."""


def tag_ids(tokenizer: Any) -> tuple[int, int] | None:
    """Ids of the two tags, or ``None`` for a model that does not know them as tokens."""
    found = []
    for tag in (OPEN, CLOSE):
        number = tokenizer.convert_tokens_to_ids(tag)
        if not isinstance(number, int) or tokenizer.convert_ids_to_tokens(number) != tag:
            return None
        found.append(number)
    return found[0], found[1]


def is_open(tags: tuple[int, int] | None, prompt: Sequence[int]) -> bool:
    """Whether a prompt ends inside the reasoning.

    Only its end is looked at: a message may speak of the tags too.
    """
    if tags is None:
        return False
    last = next((token for token in reversed(prompt[-_TAIL:]) if token in tags), None)
    return last == tags[0]


def thinking_of(tokenizer: Any, prompt: Any) -> Thinking:
    """How a reply to a rendered prompt may begin.

    Args:
        tokenizer: The model's tokenizer.
        prompt: vLLM's prompt dict, with ``prompt`` (text) or ``prompt_token_ids``.
    """
    tags = tag_ids(tokenizer)
    if tags is None:
        return Thinking.NONE
    text = prompt.get("prompt")
    if isinstance(text, str):
        end = text.rstrip()
        if end.endswith(OPEN):
            return Thinking.OPEN
        return Thinking.NONE if end.endswith(CLOSE) else Thinking.MAYBE
    tail = list(prompt.get("prompt_token_ids") or ())[-_TAIL:]
    if is_open(tags, tail):
        return Thinking.OPEN
    return Thinking.NONE if tags[1] in tail else Thinking.MAYBE


def after_thinking(grammar: str, thinking: Thinking) -> str:
    """A grammar that admits what comes before the answer.

    Args:
        grammar: EBNF with the start rule ``root``, which nothing in it refers to.
        thinking: How the reply may begin.
    """
    if thinking is Thinking.NONE:
        return grammar
    answer = grammar.replace("root ::=", "answer ::=", 1)
    if thinking is Thinking.OPEN:
        return f'root ::= "\\n"{{0,2}} answer\n{answer}'
    return f"root ::= ({literal(OPEN)} thinking_0)? answer\n{answer}{_until_close()}"


def _until_close() -> str:
    """Rules for any text up to the first ``</think>`` and the line breaks behind it."""
    lines = []
    for seen, wanted in enumerate(CLOSE):
        step = f"thinking_{seen + 1}" if seen + 1 < len(CLOSE) else '"\\n"{0,2}'
        others = complement(charset(CLOSE[0], wanted))
        parts = [f"{literal(wanted)} {step}", f"{char_class(others)} thinking_0"]
        if wanted != CLOSE[0]:
            parts.append(f"{literal(CLOSE[0])} thinking_1")
        lines.append(f"thinking_{seen} ::= {' | '.join(parts)}\n")
    return "".join(lines)
