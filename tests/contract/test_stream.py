"""The stream: append-only, equal to the one-shot decode, growing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from raif_integrations.contract import OutputContract
from raif_integrations.contract.emission import Event
from raif_integrations.errors import ConfigurationError
from tests.contract.strategies import chunks, documents, identical, objects, texts

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "city": {"type": "string"},
        "note": {"type": ["string", "null"]},
        "body": {"type": "string"},
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
        },
        "tags": {"type": "array", "items": {"type": "string"}},
        "user": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
    },
}
CONTRACT = OutputContract.from_json_schema(SCHEMA)
LINES = [
    "count=1",
    "count=x",
    "city=Oslo",
    "city: Oslo",
    "city = Oslo",
    "note=null",
    "note=nul",
    "note:s=null",
    "items::a,b",
    "items[0]=1,x",
    "items[1]=2,y",
    "items[3]=2,y",
    "items[0].a=1",
    "items[0].b=x",
    "items[1].b=x",
    "tags=[",
    "x",
    "]",
    "tags=[]",
    "tags=a",
    "body=<<<",
    ">>>",
    ">>>1",
    "body=<<<1",
    ">",
    "body=<",
    "body=<<<abc",
    "def>>>",
    "user={",
    "name=Bob",
    "}",
    "user.name=Bob",
    "user.age=3",
    "user.zzz=1",
    "user={name=B,age=3}",
    "{",
    '"count": 1',
    "```",
    "<raif>",
    "</raif>",
    "<think>",
    "</think>",
    "prose",
    "",
    "  ",
    '{"count": 1}',
    "count=1\r",
    "city=Oslo\r",
    "zzz=1",
    "zzz.y=2",
    "city='a'",
    "user=",
]
SETTINGS = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@SETTINGS
@given(
    st.lists(st.one_of(st.sampled_from(LINES), texts()), max_size=9).map("\n".join),
    st.lists(st.integers(0, 10**6), max_size=8),
    st.sampled_from(["stop", "length", None]),
    st.booleans(),
    st.sampled_from(["auto", "json"]),
)
@example("city='a'\ncity='a'", [], "stop", False, "auto")
@example("city='a'\ncount=1\ncity='a'", [3, 9], "stop", False, "auto")
@example("city='a'\nnote='b'", [], "stop", False, "auto")
@example("city='a'\n\"count\": 1", [4], "stop", False, "auto")
def test_any_text_in_any_pieces_is_the_one_shot_decode(
    text: str, cuts: list[int], reason: str | None, constrained: bool, wire: Any
) -> None:
    contract = OutputContract.from_json_schema(SCHEMA, wire=wire)
    decoder = contract.decoder(constrained=constrained)
    for piece in chunks(text, cuts):
        decoder.push(piece)
    decoded = decoder.finish(reason)
    assert decoded == contract.decode(text, finished=reason != "length", constrained=constrained)
    assert decoded.ok or decoded.errors or decoded.truncated
    if decoded.ok:
        assert identical(json.loads(decoder.json), decoded.value)
        assert contract.validate(decoded.value) == ()


@SETTINGS
@given(
    st.one_of(objects(), documents()),
    st.lists(st.integers(0, 10**6), max_size=12),
    st.booleans(),
    st.sampled_from(["auto", "json"]),
)
def test_json_deltas_are_the_value(
    document: tuple[Any, Any], cuts: list[int], constrained: bool, wire: Any
) -> None:
    schema, value = document
    contract = OutputContract.from_json_schema(schema, wire=wire)
    decoder = contract.decoder(constrained=constrained)
    pieces, events = [], []
    for piece in chunks(contract.encode(value), cuts):
        events += decoder.push(piece)
        pieces.append(decoder.take_json())
    decoded = decoder.finish("stop")
    pieces.append(decoder.take_json())
    assert decoded.ok
    assert identical(json.loads("".join(pieces)), value)
    assert "".join(pieces) == decoder.json
    assert identical(decoder.value, value)


def grown(text: str, *, contract: OutputContract = CONTRACT, **options: Any) -> list[str]:
    """The JSON text after each character."""
    decoder = contract.decoder(**options)
    shown = []
    for character in text:
        decoder.push(character)
        shown.append(decoder.json)
    return shown


def test_strings_grow_while_they_are_written() -> None:
    shown = grown("city=New York")
    assert shown[len("city=N") - 1] == '{"city": "N'
    assert shown[-1] == '{"city": "New York'


def test_blocks_grow_line_by_line() -> None:
    shown = grown("body=<<<\nab\ncd\n>>>\n")
    assert shown[len("body=<<<\na") - 1] == '{"body": "a'
    assert shown[len("body=<<<\nab\nc") - 1] == '{"body": "ab\\nc'
    assert shown[-1] == '{"body": "ab\\ncd"'


@pytest.mark.parametrize(
    ("start", "certain"),
    [("note=nul", False), ("note=nulx", True), ("city=<", False), ("city='", False), ("city=a\r", True)],
)
def test_what_may_still_change_is_held(start: str, certain: bool) -> None:
    assert bool(grown(start)[-1]) is certain


def test_numbers_appear_when_their_line_ends() -> None:
    shown = grown("count=12\n")
    assert shown[-2] == ""
    assert shown[-1] == '{"count": 12'


def test_table_rows_appear_when_complete() -> None:
    shown = grown("items::a,b\nitems[0]=1,x\nitems[1]=2,y\n")
    assert shown[len("items::a,b\nitems[0]=1,x") - 1] == ""
    assert shown[len("items::a,b\nitems[0]=1,x\n") - 1] == '{"items": [{"a": 1, "b": "x"}'
    assert shown[-1] == '{"items": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}'


def test_constrained_objects_close_when_they_are_left() -> None:
    text = "user.name=Bob\ncity=O"
    assert grown(text)[-1] == '{"user": {"name": "Bob"'
    assert grown(text, constrained=True)[-1] == '{"user": {"name": "Bob"}, "city": "O'


def test_objects_with_all_their_keys_close_when_they_are_left() -> None:
    assert grown("user.name=Bob\nuser.age=3\ncity=O")[-1] == '{"user": {"name": "Bob", "age": 3}, "city": "O'


def test_strings_grow_inside_elements() -> None:
    schema = {
        "type": "object",
        "properties": {
            "o": {
                "type": "array",
                "items": {"type": "object", "properties": {"n": {"type": "string"}, "l": {"type": "array"}}},
            }
        },
    }
    contract = OutputContract.from_json_schema(schema)
    for constrained in (False, True):
        assert grown("o[0].n=abc", contract=contract, constrained=constrained)[-1] == '{"o": [{"n": "abc'


def test_events() -> None:
    decoder = CONTRACT.decoder()
    events = decoder.push("count=5\ncity=ab") + decoder.push("c\nuser.name=x\n")
    assert events == [
        Event("object", ()),
        Event("value", ("count",), 5),
        Event("text", ("city",), "ab"),
        Event("text_end", ("city",), "c"),
        Event("object", ("user",)),
        Event("value", ("user", "name"), "x"),
    ]


def test_the_growing_value_is_a_fresh_copy() -> None:
    decoder = CONTRACT.decoder()
    decoder.push("tags=[\na\n")
    first = decoder.value
    decoder.push("b\n")
    assert first == {"tags": ["a"]}
    assert decoder.value == {"tags": ["a", "b"]}


def test_envelopes_are_invisible() -> None:
    contract = OutputContract.from_json_schema({"type": "array", "items": {"type": "string"}})
    decoder = contract.decoder()
    assert decoder.value is None
    decoder.push("value=[\na\n")
    assert decoder.json == '["a"'
    decoder.push("]")
    assert decoder.finish().value == ["a"]
    assert decoder.json == '["a"]'


@pytest.mark.parametrize(
    ("text", "value", "path"),
    [
        ("city=Oslo\ncount=1", {"city": "Oslo"}, "count"),
        ("city=Oslo\nbody=<<<\nx\ny", {"city": "Oslo"}, "body"),
        ("city=Oslo\ntags=[\na\nb", {"city": "Oslo", "tags": ["a"]}, "tags"),
        ("items::a,b\nitems[0]=1,x\nitems[1]=2", {"items": [{"a": 1, "b": "x"}]}, "items"),
        ('{"city": "Os', {}, ""),
    ],
)
def test_truncation_is_reported_and_the_complete_part_kept(text: str, value: Any, path: str) -> None:
    decoded = CONTRACT.decode(text, finished=False)
    assert decoded.truncated
    assert not decoded.ok
    assert decoded.value == value
    assert [error.path for error in decoded.errors if error.rule == "truncated"] == [path]


@pytest.mark.parametrize("text", ["body=<<<\nx", "tags=[\na", "body=<<<x"])
def test_open_units_are_truncated_whatever_the_reason_says(text: str) -> None:
    decoded = CONTRACT.decode(text)
    assert decoded.truncated
    assert not decoded.ok


def test_a_complete_line_cut_off_is_still_truncated() -> None:
    decoded = CONTRACT.decode("city=Oslo\n", finished=False)
    assert (decoded.truncated, decoded.ok, decoded.value) == (True, False, {"city": "Oslo"})


def test_a_repair_that_contradicts_what_was_streamed_is_refused_and_not_shown() -> None:
    contract = OutputContract.from_json_schema(
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            "required": ["b"],
        }
    )
    decoder = contract.decoder(constrained=True)
    decoder.push("a=x\nb=y\n")
    decoded = decoder.finish("stop")
    shown = decoder.take_json()
    assert not decoded.ok
    good = contract.decode("a=z\nb=1")
    assert not decoder.amend(good).ok
    assert decoder.json == shown
    assert decoder.take_json() == ""


def test_a_repair_may_bring_an_integer_of_any_length() -> None:
    contract = OutputContract.from_json_schema({"type": "object", "properties": {"b": {"type": "integer"}}})
    decoder = contract.decoder()
    decoder.push("b=x")
    decoder.finish("stop")
    good = contract.decode(f"b={'9' * 5000}")
    assert decoder.amend(good).ok
    assert decoder.json == '{"b": ' + "9" * 5000 + "}"


def test_finish_is_final() -> None:
    decoder = CONTRACT.decoder()
    decoder.push("city=Oslo")
    assert decoder.finish("stop") is decoder.finish("length")
    with pytest.raises(ConfigurationError, match="finish"):
        decoder.push("x")


class TestJsonWire:
    contract = OutputContract.from_json_schema(SCHEMA, wire="json")

    def test_grows(self) -> None:
        shown = grown('{"city": "New York", "count": 5, "tags": ["a"]}', contract=self.contract)
        assert shown[len('{"city": "New') - 1] == '{"city": "New'
        assert shown[len('{"city": "New York", "count": 5,') - 1] == '{"city": "New York", "count": 5'

    @pytest.mark.parametrize("escape", [r"\u00e9", r"\ud83d\ude00", r"\n", r"\"", r"\ud83d", r"\ud83dx"])
    def test_escapes_cut_anywhere(self, escape: str) -> None:
        text = f'{{"city": "a{escape}b"}}'
        shown = grown(text, contract=self.contract)
        value = json.loads(text)
        decoder = self.contract.decoder()
        for character in text:
            decoder.push(character)
        assert decoder.finish().value == value
        assert json.loads(shown[-1] + "}" * (shown[-1][-1] != "}")) == value

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('{"city": "Os', {}),
            ('{"city": "Oslo", "tags": ["a", "b', {"city": "Oslo", "tags": ["a"]}),
            ('{"city": "Oslo", "count": 1', {"city": "Oslo"}),
            ("{", {}),
        ],
    )
    def test_truncation_keeps_the_complete_part(self, text: str, value: Any) -> None:
        decoded = self.contract.decode(text, finished=False)
        assert decoded.truncated
        assert decoded.value == value

    @pytest.mark.parametrize(
        "text", ['{"city": "a", "city": "b"}', '{"count": NaN}', "no json", '{"city": "a"']
    )
    def test_refused(self, text: str) -> None:
        assert not self.contract.decode(text).ok

    @pytest.mark.parametrize("value", [5, "text", None, True, [1, "a"], {"value": 1}, 1.5])
    def test_roots_of_any_type(self, value: Any) -> None:
        contract = OutputContract.from_json_schema({}, wire="json")
        decoder = contract.decoder()
        for character in contract.encode(value):
            decoder.push(character)
        assert identical(decoder.finish().value, value)
        assert identical(json.loads(decoder.json), value)
