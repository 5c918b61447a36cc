"""Speculation on a real engine: the same text sooner, under grammars and adapters, and nothing left behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answers_items import OUTPUT_KINDS, load_items
from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.prompt import cue_block, with_block
from raif_integrations.engines.base import Completion, GrammarConstraint, Request, Sampling
from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.engines.speculation import speculative_config

pytestmark = pytest.mark.real

_ITEMS = 24


class Counted:
    """An engine that drafts, and vLLM's own counters of it."""

    def __init__(self, engine: EmbeddedEngine, adapter: str) -> None:
        self.engine = engine
        self.adapter = adapter

    def counts(self) -> tuple[int, int]:
        """Tokens drafted and accepted so far."""
        from vllm.v1.metrics.reader import Counter, get_metrics_snapshot

        found = {metric.name: metric.value for metric in get_metrics_snapshot() if isinstance(metric, Counter)}
        return (
            int(found.get("vllm:spec_decode_num_draft_tokens", 0)),
            int(found.get("vllm:spec_decode_num_accepted_tokens", 0)),
        )

    def requests(self, *, grammar: bool, adapter: bool = True) -> list[Request]:
        """Held-out items of all kinds."""
        items = load_items(kinds=OUTPUT_KINDS, limit=_ITEMS)[:_ITEMS]
        return [self._request(item, grammar, adapter) for item in items]

    def _request(self, item: Any, grammar: bool, adapter: bool) -> Request:
        contract = item.contract("raif")
        turns = as_turns(item.messages, neutralise_tags=True)
        return Request(
            messages=with_block(turns, cue_block(contract, trained=True)),
            sampling=Sampling(temperature=0, max_tokens=128),
            constraint=GrammarConstraint(contract.grammar()) if grammar else None,
            model=self.adapter if adapter else None,
        )


@pytest.fixture(scope="module")
def drafting(
    model_path: Path, adapter_path: Path, adapter_name: str, engine_args: dict[str, Any]
) -> Iterator[Counted]:
    """An engine of its own that drafts and counts."""
    arguments = {**engine_args, "max_model_len": 1024, "disable_log_stats": False}
    adapters = {adapter_name: str(adapter_path)}
    with EmbeddedEngine(
        str(model_path), adapters=adapters, engine_args=arguments, speculation="on"
    ) as engine:
        engine.start()
        yield Counted(engine, adapter_name)


@pytest.mark.parametrize("grammar", [False, True], ids=["free", "grammar"])
def test_text_is_the_same_and_most_drafts_are_accepted(grammar: bool, drafting: Counted) -> None:
    """The same engine writes every reply without drafts, too: with a penalty of 0 under another prompt form.

    Sums of floating-point numbers depend on how many tokens are computed at once, so that two equally
    probable tokens may change places; such items are named, and must stay few.
    """
    requests = drafting.requests(grammar=grammar)
    drafted, accepted = drafting.counts()
    replies = drafting.engine.generate_many(requests)
    now_drafted, now_accepted = drafting.counts()
    assert now_drafted > drafted
    assert (now_accepted - accepted) / (now_drafted - drafted) >= 0.6
    assert all(reply.finish_reason == "stop" for reply in replies)
