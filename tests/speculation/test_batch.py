"""Which state belongs to which row, whatever vLLM does with its batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raif_integrations.engines.speculation.batch import Drafter
from raif_integrations.engines.speculation.vocabulary import Vocabulary
from tests.speculation.replays import END, chat, prompt_for

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "name": {"type": "string"}},
    "required": ["city", "name"],
}
ADA = prompt_for("London: Ada Lovelace.", SCHEMA)
ALAN = prompt_for("Manchester: Alan Turing.", SCHEMA)


class Batch:
    """Requests in the rows of a batch, as vLLM keeps them: a row keeps what stood in it behind its end."""

    def __init__(self, vocabulary: Vocabulary, *prompts: str) -> None:
        self.vocabulary = vocabulary
        self.drafter = Drafter(vocabulary, 10, 96)
        self.rows = np.zeros((8, 2048), dtype=np.int32)
        self.requests = [vocabulary.ids(prompt) for prompt in prompts]

    def step(self, *texts: str) -> list[str]:
        """Each request gets a text; an empty one means that its prompt is still being read."""
        new = [self.vocabulary.ids(text) for text in texts]
        return self.take(new)

    def take(self, new: Sequence[Sequence[int]]) -> list[str]:
        return [self.vocabulary.text(draft) for draft in self.take_ids(new)]

    def take_ids(self, new: Sequence[Sequence[int]]) -> list[list[int]]:
        for number, tokens in enumerate(new):
            self.requests[number] = [*self.requests[number], *tokens]
            self.rows[number, : len(self.requests[number])] = self.requests[number]
        lengths = [len(request) for request in self.requests]
        return self.drafter.drafts(new, lengths, self.rows)


def test_each_row_has_its_own_draft(vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA, ALAN)
    assert batch.step("city", "city") == ["=", "="]
    assert batch.step("=London\nname=Ada", "=Man") == [f" Lovelace{END}", "chester\nname="]


def test_a_prompt_is_read_once(vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA, ALAN)
    batch.step("city", "city")
    for _ in range(20):
        batch.step("=", "=")
    assert batch.drafter.prompts_read == 2


def test_rows_change_places(vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA, ALAN)
    batch.step("city=London\n", "city=Manchester\n")
    batch.requests.reverse()
    assert batch.step("name=Al", "name=Ada") == [f"an Turing{END}", f" Lovelace{END}"]
    assert batch.drafter.prompts_read == 2


def test_a_hole_is_filled_from_the_end(vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, chat("Hello"), ADA, ALAN)
    batch.step("Hi", "city=London\n", "city=Manchester\n")
    batch.requests = [batch.requests[2], batch.requests[1]]
    assert batch.step("name=Al", "name=Ada") == [f"an Turing{END}", f" Lovelace{END}"]
    assert batch.drafter.prompts_read == 2


@pytest.mark.parametrize("length", ["other", "same"])
def test_a_new_request_in_an_old_row_starts_afresh(length: str, vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA)
    batch.step("city=London\nname=Ada")
    old = len(batch.requests[0])
    fresh = vocabulary.ids(prompt_for("Arlington: Grace Hopper.", SCHEMA))
    padding = vocabulary.ids(" x" * (old - len(fresh))) if length == "same" else []
    batch.requests[0] = [*padding, *fresh]
    assert length == "other" or len(batch.requests[0]) == old
    assert batch.step("city=Ar") == ["lington\nname="]
    assert batch.drafter.prompts_read == 2


def test_the_same_prompt_twice(vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA, ADA)
    batch.step("city", "city")
    assert batch.step("=Lon", "=Ada") == ["don\nname=", " Lovelace\nname="]
    assert batch.step("don\nname=Ada", "\nname=Lov") == [f" Lovelace{END}", f"elace{END}"]


def test_one_state_is_never_shared(vocabulary: Vocabulary) -> None:
    """A row whose tokens are another one's, and which has no state of its own."""
    batch = Batch(vocabulary, ADA)
    batch.step("city=London\n")
    batch.requests.append(batch.requests[0])
    assert batch.step("name=Ada", "name=Lov") == [f" Lovelace{END}", ""]
    assert batch.step(" Lovelace", "elace") == [END, ""]


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "aborted"])
def test_nothing_is_left_of_a_request_that_is_gone(ended: bool, vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA, ALAN)
    batch.step("city=London\n", "city=Manchester\n")
    assert batch.drafter.remembered == 2
    if ended:
        assert batch.step(END, "name=Al")[0] == ""
        assert batch.drafter.remembered == 1
    batch.requests.pop(0)
    batch.step("an")
    assert batch.drafter.remembered == 1
    batch.requests[0] = vocabulary.ids(chat("Hello"))
    batch.step("Hi")
    assert batch.drafter.remembered == 0


def test_a_request_that_pauses_gets_no_more_drafts(vocabulary: Vocabulary) -> None:
    """Where its reply began is not known any more."""
    batch = Batch(vocabulary, ADA, ALAN)
    batch.step("city=London\n", "city=Manchester\n")
    paused = batch.requests.pop(0)
    batch.step("name=Al")
    batch.requests.append(paused)
    assert batch.step("an", "name=Ada") == [f" Turing{END}", ""]
    assert batch.drafter.remembered == 1


def test_a_prompt_in_pieces(vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA, ALAN)
    assert batch.step("city", "") == ["=", ""]
    assert batch.step("=Lon", "city=Man") == ["don\nname=", "chester\nname="]


PLAIN = [
    "Hello, who are you?",
    "What does <schema>\ncity:s\n</schema> mean? Tell me in a sentence.",
    "Please explain the tag </schema> to me, at length and in your own words",
]


@pytest.mark.parametrize("request_text", PLAIN)
def test_plain_chat_gets_no_drafts(request_text: str, vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA + f"city=London\nname=Ada{END}\n" + chat(request_text))
    assert batch.step("city") == [""]
    assert batch.step("=London\nname=Ada") == [""]
    assert batch.drafter.remembered == 0
    assert batch.drafter.prompts_read <= 1


def test_larger_batches_get_shorter_drafts_then_keys_then_none(vocabulary: Vocabulary) -> None:
    drafter = Drafter(vocabulary, 10, 96)
    limits = [drafter.limits(size) for size in (1, 8, 16, 19, 20, 64, 256, 257)]
    assert limits == [(10, 0.0), (10, 0.0), (5, 0.0), (4, 0.0), (10, 0.9), (10, 0.9), (10, 0.9), (0, 1.0)]


def test_only_keys_are_drafted_in_a_crowd(vocabulary: Vocabulary) -> None:
    batch = Batch(vocabulary, ADA, ALAN)
    batch.drafter = Drafter(vocabulary, 10, 4)
    assert batch.step("city", "ci") == ["=", "ty="]
    assert batch.step("=Lon", "ty=Manchester\n") == ["", "name="]


def test_a_crowd_that_is_too_large_is_made_up_for(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While there are too many requests nothing is read or drafted."""
    monkeypatch.setattr("raif_integrations.engines.speculation.batch._MOST_REQUESTS", 1)
    batch = Batch(vocabulary, ADA, ALAN)
    batch.drafter = Drafter(vocabulary, 10, 4)
    assert batch.step("city", "city") == ["", ""]
    assert batch.step("=Lon", "=Man") == ["", ""]
    assert batch.drafter.prompts_read == 0
    batch.requests.pop()
    assert batch.step("don\nna") == ["me="]
    assert batch.drafter.prompts_read == 1


WRITTEN = [
    "city=",
    "\n",
    "name=[\n",
    "a::b,c\n",
    "<<<\n",
    ">>>\n",
    "city=<<<",
    "[",
    "]",
    "\ufffd",
    "city=é",
    "👩‍👩‍👧",
    "name[0]=",
]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_tokens_at_all(
    vocabulary: Vocabulary, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    """Whatever a model writes, and whatever the rows hold, a step ends with drafts of known tokens."""
    tokens = st.lists(st.integers(0, 49_151), min_size=1, max_size=12)
    prompts = data.draw(st.lists(st.sampled_from([ADA, ALAN, PLAIN[0]]), min_size=1, max_size=3))
    batch = Batch(vocabulary, *prompts)
    for _ in range(data.draw(st.integers(1, 6))):
        pieces = [
            data.draw(st.one_of(tokens, st.sampled_from(WRITTEN).map(vocabulary.ids), st.just([])))
            for _ in batch.requests
        ]
        drafts = batch.take_ids(pieces)
        assert all(0 <= number < 49_152 for draft in drafts for number in draft)
    assert caplog.records == []


def test_a_failing_draft_costs_one_request_its_drafts(
    vocabulary: Vocabulary, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = Batch(vocabulary, ADA, ALAN)
    batch.step("city", "city")

    def fail(text: str) -> str:
        raise ArithmeticError(text)

    reply = batch.drafter._states[0].reply  # type: ignore[union-attr]
    monkeypatch.setattr(reply, "advance", fail)
    assert batch.step("=Lon", "=Man") == ["", "chester\nname="]
    assert "A request gets no more drafts" in caplog.text
    assert batch.step("don\nname=Ada", "chester\nname=Al") == ["", f"an Turing{END}"]
