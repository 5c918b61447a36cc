"""All requests of a batch: which state belongs to which row, and how much may be drafted.

vLLM tells a drafter nothing but the rows of its batch: all tokens of a request, how many there are, and
which are new. Rows move: a finished request leaves a hole that another one fills, new requests take its row,
and attention backends reorder. So a state is a function of tokens alone, and a row has the state whose tokens
are the row's tokens without the new ones, wherever it was in the last step. All of them are compared: a
comparison of thousands of tokens takes about a microsecond. A state that no row has is dropped at once, so
that a request which vLLM sets aside for a step gets no more drafts: where its reply began is not known then.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from raif_integrations.engines.speculation.prompts import read_prompt
from raif_integrations.engines.speculation.reply import Reply
from raif_integrations.engines.speculation.vocabulary import Vocabulary

_logger = logging.getLogger(__name__)

Row: TypeAlias = Any
"""A NumPy array of token ids; NumPy itself is not needed here."""

_TEMPLATE_TOKENS: Final = 48
"""Most tokens from the closing tag of a cue to the reply: the tag, the end of the turn, the next header."""

_PROMPT_TOKENS: Final = 8192
"""So many tokens of a prompt are read, from its end."""

_LEAST_CHANCES: Final = ((32, 0.0), (128, 0.6), (256, 0.9))
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
        """Requests of whose text something is remembered."""
        return sum(state is not None and state.reply is not None for state in self._states)

    def drafts(self, new: Sequence[Sequence[int]], lengths: Sequence[int], rows: Any) -> list[list[int]]:
        """One step: a draft for each request, empty where nothing is known.

        Args:
            new: The tokens each request got in this step; none for one whose prompt is still being read.
            lengths: How many tokens each request has, the new ones included.
            rows: A two-dimensional array of token ids, one request a row.
        """
        before = _Before(self._states)
        states: list[_State | None] = []
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
            state = before.take(number, row[:old])
            try:
                reply = state.reply if state is not None else self._read(row, old)
                draft = self._draft(reply, tokens, chance)
            except Exception:  # A draft is never worth an engine.
                _logger.exception("A request gets no more drafts")
                reply, draft = None, []
            drafts.append(draft)
            if reply is not None and reply.ended:
                states.append(None)
            else:
                states.append(_State(row[:length].copy(), reply))
        self._states = states
        return drafts

    def _draft(self, reply: Reply | None, tokens: Sequence[int], chance: float | None) -> list[int]:
        if reply is None:
            return []
        reply.advance(tokens)
        return [] if chance is None else reply.draft(self._most, chance)

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


class _Before:
    """The states of the last step, each of which belongs to one row at most."""

    def __init__(self, states: list[_State | None]) -> None:
        self._states = states
        self._by_length: dict[int, list[int]] | None = None

    def take(self, number: int, tokens: Row) -> _State | None:
        """The state with these tokens: of the same row, mostly, else of any other."""
        states = self._states
        if number < len(states) and _has(states[number], tokens):
            return self._claim(number)
        if self._by_length is None:
            self._by_length = {}
            for place, state in enumerate(states):
                if state is not None:
                    self._by_length.setdefault(len(state.tokens), []).append(place)
        for place in self._by_length.get(len(tokens), ()):
            if _has(states[place], tokens):
                return self._claim(place)
        return None

    def _claim(self, number: int) -> _State | None:
        state, self._states[number] = self._states[number], None
        return state


def _has(state: _State | None, tokens: Row) -> bool:
    return state is not None and len(state.tokens) == len(tokens) and bool((state.tokens == tokens).all())
