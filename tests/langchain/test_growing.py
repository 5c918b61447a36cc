"""JSON values read while they are written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raif_integrations.langchain.growing import GrowingJson, copied

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    value=st.dictionaries(st.text(), JSON) | st.lists(JSON),
    sizes=st.lists(st.integers(1, 7), min_size=1),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
)
def test_the_last_value_is_the_whole_value_however_the_text_is_cut(value, sizes, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    reader, position, turn = GrowingJson(), 0, 0
    while position < len(text):
        size = sizes[turn % len(sizes)]
        reader.push(text[position : position + size])
        position, turn = position + size, turn + 1
    assert reader.value == value


def _snapshots(text):
    reader = GrowingJson()
    return [copied(reader.value) for character in text if reader.push(character)]


def test_only_complete_leaves_are_part_of_the_value():
    assert _snapshots('{"a": "xy", "b": [10, 2], "c": {"d": true}}') == [
        {},
        {"a": "xy"},
        {"a": "xy", "b": []},
        {"a": "xy", "b": [10]},
        {"a": "xy", "b": [10, 2]},
        {"a": "xy", "b": [10, 2], "c": {}},
        {"a": "xy", "b": [10, 2], "c": {"d": True}},
    ]


@pytest.mark.parametrize("text", ['"text"', "12", "null "])
def test_a_scalar_does_not_grow(text):
    assert _snapshots(text) == []


def test_a_copy_shares_nothing():
    value = {"a": [{"b": 1}]}
    other = copied(value)
    other["a"][0]["b"] = 2
    assert value == {"a": [{"b": 1}]}
