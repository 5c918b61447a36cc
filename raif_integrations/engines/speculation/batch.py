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
from dataclasses import dataclass, field
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

_SHORTEST: Final = 4
"""Where guesses may not be longer than that, only what is nearly sure is drafted."""

_NEARLY_SURE: Final = 0.9

_MOST_REQUESTS: Final = 256
"""Nothing is drafted in larger batches."""


@dataclass(slots=True)
class _State:
    """What is known of one request.

    Attributes:
        tokens: All its tokens so far, as the bytes of its row.
        prompt: How many tokens its prompt has.
        reply: Its reply; ``None`` if nothing is to be drafted, or its prompt has not been read yet.
        is_read: Its prompt has been read.
        waiting: Tokens the reply has not been told of.
    """

    tokens: bytes
    prompt: int
    reply: Reply | None = None
    is_read: bool = False
    waiting: list[int] = field(default_factory=list)


class Drafter:
    """Drafts for the requests of a batch.

    Args:
        vocabulary: The tokenizer.
        most: Most tokens of a draft.
        budget: So many tokens of one step, over all requests, may be guesses: below, a wrong one costs the
            engine hardly any time, beyond, what it takes to compute it. In larger batches guesses get
            shorter, and then only the keys are drafted, which are hardly ever wrong.
    """

    def __init__(self, vocabulary: Vocabulary, most: int, budget: int) -> None:
        self._vocabulary = vocabulary
        self._most = most
        self._budget = budget
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
        most, chance = self.limits(len(new))
        for number, tokens in enumerate(new):
            state: _State | None = None
            draft: list[int] = []
            if tokens:
                length, row = lengths[number], rows[number]
                old = length - len(tokens)
                known = row[:old].tobytes()
                state = before.take(number, known) or _State(known, old)
                state.tokens = known + row[old:length].tobytes()
                state.waiting += tokens
                if most > 0:
                    draft = self._draft(state, row, most, chance)
                    if state.reply is not None and state.reply.ended:
                        state = None
            states.append(state)
            drafts.append(draft)
        self._states = states
        return drafts

    def limits(self, requests: int) -> tuple[int, float]:
        """The longest draft in a batch of so many requests, 0 for none, and its least probability."""
        room = self._budget // max(requests, 1) - 1
        if room >= _SHORTEST:
            return min(self._most, room), 0.0
        return (self._most, _NEARLY_SURE) if requests <= _MOST_REQUESTS else (0, 1.0)

    def _draft(self, state: _State, row: Row, most: int, chance: float) -> list[int]:
        try:
            if not state.is_read:
                state.is_read = True
                state.reply = self._read(row, state.prompt)
            waiting, state.waiting = state.waiting, []
            if state.reply is None:
                return []
            state.reply.advance(waiting)
            return state.reply.draft(most, chance)
        except Exception:  # A draft is never worth an engine.
            _logger.exception("A request gets no more drafts")
            state.reply = None
            return []

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


class _Before:
    """The states of the last step, each of which belongs to one row at most."""

    def __init__(self, states: list[_State | None]) -> None:
        self._states = states
        self._elsewhere: dict[bytes, list[int]] | None = None

    def take(self, number: int, tokens: bytes) -> _State | None:
        """The state with these tokens: of the same row, mostly, else of any other."""
        states = self._states
        if number < len(states) and (state := states[number]) is not None and state.tokens == tokens:
            return self._claim(number)
        if self._elsewhere is None:
            self._elsewhere = {}
            for place, state in enumerate(states):
                if state is not None:
                    self._elsewhere.setdefault(state.tokens, []).append(place)
        for place in self._elsewhere.get(tokens, ()):
            if states[place] is not None:
                return self._claim(place)
        return None

    def _claim(self, number: int) -> _State | None:
        state, self._states[number] = self._states[number], None
        return state
