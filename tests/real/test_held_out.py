"""Twenty of the held-out items, which the adapter gets right at temperature 0.

They were chosen from the right answers of ``benchmarks/answers.py``, spread over the kinds, and are fixed.
The adapter has never seen them. A change of the cue, the grammar, the decoder or the adapter that costs right
answers shows here.
"""

from __future__ import annotations

import pytest

from answers_items import OUTPUT_KINDS, Item, load_items
from answers_methods import TurnMethod, score_result
from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.turn import run_turn

pytestmark = pytest.mark.real

RIGHT = (
    "record-011",
    "record-021",
    "record-043",
    "record-052",
    "tool-015",
    "tool-029",
    "tool-041",
    "table-001",
    "table-022",
    "nested-006",
    "nested-025",
    "digits-008",
    "digits-011",
    "enum-003",
    "enum-016",
    "optional-002",
    "optional-008",
    "list-005",
    "list-018",
    "plan-005",
)
ITEMS = {item.id: item for item in load_items()}


def test_they_are_twenty_of_many_kinds() -> None:
    kinds = {ITEMS[name].kind for name in RIGHT}
    assert len(set(RIGHT)) == 20
    assert kinds >= {*OUTPUT_KINDS, "tool", "plan"} - {"multiline"}


@pytest.mark.parametrize("item", [pytest.param(ITEMS[name], id=name) for name in RIGHT])
def test_a_held_out_item_comes_back_right(
    embedded_engine: EmbeddedEngine, adapter_name: str, item: Item
) -> None:
    method = TurnMethod("adapter", "adapter", adapter_name, "raif", trained=True, constrain=True)
    result = run_turn(embedded_engine, method.request(item))
    score = score_result(item, result)
    wrong = result.report
    if item.kind == "plan":
        assert score.choice, wrong
    else:
        assert score.exact, wrong
