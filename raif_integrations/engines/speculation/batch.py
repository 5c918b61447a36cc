"""All requests of a batch: which state belongs to which row, and how much may be drafted.

vLLM tells a drafter nothing but the rows of its batch: all tokens of a request, how many there are, and
which are new. Rows move: a finished request leaves a hole that another one fills, new requests take its row,
and attention backends reorder. So a state is a function of tokens alone, and a row has the state whose tokens
are the row's tokens without the new ones, wherever it was in the last step. All of them are compared: a
comparison of thousands of tokens takes about a microsecond. A state that no row has is dropped at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from raif_integrations.engines.speculation.prompts import read_prompt
from raif_integrations.engines.speculation.reply import Reply
from raif_integrations.engines.speculation.vocabulary import Vocabulary

Row: TypeAlias = Any
"""A NumPy array of token ids; NumPy itself is not needed here."""

_TEMPLATE_TOKENS: Final = 48
"""Most tokens from the closing tag of a cue to the reply: the tag, the end of the turn, the next header."""

_PROMPT_TOKENS: Final = 8192
"""So many tokens of a prompt are read, from its end."""

_LEAST_CHANCES: Final = ((8, 0.0), (32, 0.3), (64, 0.75))
"""Up to so many requests, steps of at least this probability are drafted; none in larger batches."""


@dataclass(slots=True)
class _State:
    """What is known of one request.

    Attributes:
        tokens: All its tokens so far.
        reply: Its reply, or ``None`` where nothing is to be drafted.
    """

    tokens: Row
    reply: Reply | None


class Drafter:
    """Drafts for the requests of a batch.

    Args:
        vocabulary: The tokenizer.
        most: Most tokens of a draft.
    """

    def __init__(self, vocabulary: Vocabulary, most: int) -> None:
        self._vocabulary = vocabulary
        self._most = most
        self._states: list[_State | None] = []
        self.prompts_read = 0
        """How many prompts have been read; for tests."""

    @property
    def remembered(self) -> int:
        """Requests that are remembered."""
        return sum(state is not None for state in self._states)

    def drafts(self, new: Sequence[Sequence[int]], lengths: Sequence[int], rows: Any) -> list[list[int]]:
        """One step: a draft for each request, empty where nothing is known.

        Args:
            new: The tokens each request got in this step; none for one whose prompt is still being read.
            lengths: How many tokens each request has, the new ones included.
            rows: A two-dimensional array of token ids, one request a row.
        """
        before = self._states
        states: list[_State | None] = []
        unclaimed: dict[int, list[_State]] | None = None
        drafts: list[list[int]] = []
        chance = least_chance(len(new))
        for number, tokens in enumerate(new):
            if not tokens:
                states.append(None)
                drafts.append([])
                continue
            length = lengths[number]
            old = length - len(tokens)
            row = rows[number]
            state = before[number] if number < len(before) else None
            if state is None or not _is_same(state, row, old):
                if unclaimed is None:
                    unclaimed = _by_length(before)
                found = unclaimed.get(old, ())
                state = next((other for other in found if _is_same(other, row, old)), None)
            reply = state.reply if state is not None else self._read(row, old)
            draft: list[int] = []
            if reply is not None:
                reply.advance(tokens)
                if chance is not None:
                    draft = reply.draft(self._most, chance)
                if reply.over:
                    reply = None
            states.append(_State(row[:length].copy(), reply))
            drafts.append(draft)
        self._states = states
        return drafts

    def _read(self, row: Row, length: int) -> Reply | None:
        """The state of a new request; its prompt is only read if there may be a cue at its end."""
        vocabulary = self._vocabulary
        end = vocabulary.text(row[max(0, length - _TEMPLATE_TOKENS) : length].tolist())
        if "</schema>" not in end and "</tools>" not in end:
            return None
        self.prompts_read += 1
        text = vocabulary.text(row[max(0, length - _PROMPT_TOKENS) : length].tolist())
        asked = read_prompt(text, max(0, len(text) - len(end)), vocabulary.special)
        return None if asked is None else Reply(asked, vocabulary)


def least_chance(requests: int) -> float | None:
    """How probable a step must be in a batch of so many requests; ``None`` for no drafts at all."""
    return next((chance for most, chance in _LEAST_CHANCES if requests <= most), None)


def _is_same(state: _State, row: Row, length: int) -> bool:
    tokens = state.tokens
    return len(tokens) == length and bool((tokens == row[:length]).all())


def _by_length(states: Sequence[_State | None]) -> dict[int, list[_State]]:
    found: dict[int, list[_State]] = {}
    for state in states:
        if state is not None:
            found.setdefault(len(state.tokens), []).append(state)
    return found
