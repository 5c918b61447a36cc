"""Scores and intervals, against figures worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from answers_items import Item, parse_item
from answers_scoring import Call, Score, is_good_reply, leaves, right_share, same, score_calls, score_object
from answers_statistics import mean, share, wilson
from raif_integrations import OutputContract

SCHEMA = {
    "title": "Boat",
    "type": "object",
    "properties": {"name": {"type": "string"}, "length": {"type": "number"}, "crew": {"type": "integer"}},
    "required": ["name", "length"],
}
BOAT = parse_item(
    {
        "id": "record-1",
        "kind": "record",
        "messages": [{"role": "user", "content": "Vega, 9.5 m"}],
        "schema": SCHEMA,
        "value": {"name": "Vega", "length": 9.5},
    }
)


def planned(*calls: dict[str, Any], facts: tuple[str, ...] = ()) -> Item:
    return parse_item({"id": "p", "kind": "plan", "messages": [], "calls": calls, "facts": facts})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("length=9.5\nname=Vega", Score(exact=True, fields=1.0, valid=True)),
        ("length=9.50\nname=Vega", Score(exact=True, fields=1.0, valid=True)),
        ("length=9\nname=Vega", Score(exact=False, fields=0.5, valid=True)),
        ("crew=3\nlength=9.5\nname=Vega", Score(exact=False, fields=2 / 3, valid=True)),
        ("name=Vega", Score(exact=False, fields=0.5, valid=False)),
        ("length=long\nname=vega", Score(exact=False, fields=0.0, valid=False)),
    ],
    ids=["right", "same number", "wrong field", "invented field", "missing field", "nothing right"],
)
def test_objects(text: str, expected: Score) -> None:
    assert score_object(BOAT, OutputContract.from_json_schema(SCHEMA).decode(text)) == expected


def test_a_cut_off_object_is_not_valid() -> None:
    decoded = OutputContract.from_json_schema(SCHEMA).decode("length=9.5\nname=Vega", finished=False)
    score = score_object(BOAT, decoded)
    assert (score.exact, score.valid) == (False, False)


def test_no_object_is_wrong() -> None:
    assert score_object(BOAT, None) == Score(exact=False, fields=0.0, valid=False)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([Call("turn", {"by": 5})], Score(exact=True, fields=1.0, valid=True, choice=True)),
        ([Call("turn", {"by": 6})], Score(exact=False, fields=0.0, valid=True, choice=True)),
        ([Call("turn", None)], Score(exact=False, fields=0.0, valid=False, choice=True)),
        ([Call("stop", {"now": True})], Score(exact=False, fields=0.0, valid=True, choice=False)),
        (
            [Call("turn", {"by": 5}), Call("stop", {"now": True})],
            Score(exact=False, fields=0.5, valid=True, choice=False),
        ),
        ([], Score(exact=False, fields=0.0, valid=False, choice=False)),
    ],
    ids=["right", "wrong argument", "not valid", "wrong tool", "one too many", "a reply instead"],
)
def test_calls(calls: list[Call], expected: Score) -> None:
    assert score_calls(planned({"name": "turn", "arguments": {"by": 5}}), calls, "") == expected


def test_calls_of_one_tool_count_in_any_order() -> None:
    item = planned({"name": "ask", "arguments": {"of": "a"}}, {"name": "ask", "arguments": {"of": "b"}})
    turned = [Call("ask", {"of": "b"}), Call("ask", {"of": "a"})]
    assert score_calls(item, turned, "") == Score(exact=True, fields=1.0, valid=True, choice=True)
    twice = [Call("ask", {"of": "a"}), Call("ask", {"of": "a"})]
    assert score_calls(item, twice, "") == Score(exact=False, fields=0.5, valid=True, choice=True)


def test_arguments_that_do_not_count_are_not_compared() -> None:
    score = score_calls(planned({"name": "send"}), [Call("send", {"text": "whatever"})], "")
    assert score == Score(exact=True, fields=None, valid=True, choice=True)


def test_a_tool_without_arguments() -> None:
    item = planned({"name": "ring", "arguments": {}})
    assert score_calls(item, [Call("ring", {})], "").exact is True
    assert score_calls(item, [Call("ring", {"often": 2})], "").exact is False


def test_a_reply_where_one_is_right() -> None:
    item = planned(facts=("412.75",))
    assert score_calls(item, [], "There are 412.75 left.") == Score(choice=True, reply=True)
    assert score_calls(item, [], "There are 1412.75 left.") == Score(choice=True, reply=False)
    assert score_calls(item, [Call("turn", {})], "412.75") == Score(choice=False, reply=False)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("Leaves lose their green in autumn.", True),
        ("Use x = 5 here.", True),
        ("", False),
        ("  \n", False),
        ("name=Vega", False),
        ("Sure.\nboat.name=Vega", False),
        ("rows::a,b\nrows[0]=1,2", False),
        ("<schema>\nname:s\n</schema>", False),
        ("Fine. </tool_call>", False),
    ],
)
def test_replies_for_a_person(text: str, good: bool) -> None:
    assert is_good_reply(text, ()) is good


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (5, 5.0, True),
        (1, True, False),
        (0, False, False),
        ("5", 5, False),
        ([1, 2], [2, 1], False),
        ({"a": None}, {}, False),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}, True),
    ],
)
def test_equality(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal


def test_leaves_of_a_deep_object() -> None:
    value = {"a": {"b": 1, "c": []}, "rows": [{"x": 1}, {"x": 2}]}
    assert dict(leaves(value)) == {
        ("a", "b"): 1,
        ("a", "c"): [],
        ("rows", 0, "x"): 1,
        ("rows", 1, "x"): 2,
    }
    assert right_share(value, {"a": {"b": 1, "c": []}, "rows": [{"x": 1}]}) == 3 / 4
    assert right_share({}, {}) == 1.0


def test_wilson_against_published_values() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    found = [wilson(*counts) for counts in ((81, 263), (15, 148), (0, 20), (1, 29))]
    assert [(round(rate.low, 4), round(rate.high, 4)) for rate in found] == [
        (0.2553, 0.3662),
        (0.0624, 0.1605),
        (0.0000, 0.1611),
        (0.0061, 0.1718),
    ]


def test_shares_and_means() -> None:
    assert share([True, False, True, True]).value == 0.75
    rate = mean([0.0, 0.5, 1.0] * 40)
    assert rate.value == pytest.approx(0.5)
    # The standard error is 0.408 / sqrt(120) = 0.0373.
    assert rate.low == pytest.approx(0.5 - 1.96 * 0.0373, abs=0.01)
    assert rate.high == pytest.approx(0.5 + 1.96 * 0.0373, abs=0.01)
    assert mean([0.0, 0.5, 1.0] * 40) == rate


@pytest.mark.parametrize("counts", [(0, 0), (3, 2), (-1, 5)])
def test_a_share_of_nothing_is_refused(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="There are no"):
        wilson(*counts)
    with pytest.raises(ValueError, match="no mean"):
        mean([])
