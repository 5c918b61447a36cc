"""How many drafted tokens an engine would accept whose model answers the held-out items rightly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from answers_items import OUTPUT_KINDS, load_items
from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.prompt import cue_block, with_block
from raif_integrations.engines.speculation.vocabulary import Vocabulary
from tests.speculation.replays import Replay, accepted

_LONGEST_DRAFT = 10


def right_replies(trained: bool) -> Iterator[tuple[str, str, str]]:
    """Kind, prompt and right reply of each item."""
    for item in load_items(kinds=OUTPUT_KINDS):
        contract = item.contract("raif")
        assert contract is not None
        turns = with_block(
            as_turns(item.messages, neutralise_tags=True), cue_block(contract, trained=trained)
        )
        shown = "".join(f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in turns)
        yield item.kind, f"{shown}<|im_start|>assistant\n", contract.encode(item.value)


@pytest.mark.parametrize("trained", [True, False], ids=["trained", "described"])
def test_most_drafted_tokens_are_right(trained: bool, vocabulary: Vocabulary) -> None:
    drafted = right = steps = tokens = 0
    by_kind: dict[str, list[int]] = {}
    for kind, prompt, text in right_replies(trained):
        assert vocabulary.end is not None
        reply = [*vocabulary.ids(text), vocabulary.end]
        replay = Replay.of(vocabulary, prompt)
        at, new = 1, reply[:1]
        while at < len(reply):
            replay.reply.advance(new)
            draft = replay.reply.draft(_LONGEST_DRAFT, 0.0)
            count = accepted(draft, reply[at:])
            drafted, right, steps = drafted + len(draft), right + count, steps + 1
            shares = by_kind.setdefault(kind, [0, 0])
            shares[0] += len(draft)
            shares[1] += count
            new = reply[at : at + count + 1]
            at += count + 1
        tokens += len(reply)
    assert right / drafted >= 0.7
    assert tokens / steps >= 3.5
    assert {kind for kind, (all_of_it, good) in by_kind.items() if good < 0.6 * all_of_it} == set()
