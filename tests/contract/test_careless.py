"""Careless writers: read right where the schema decides, refused where it does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import raif

from raif_integrations.contract import OutputContract

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "zip": {"type": "string"},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "active": {"type": "boolean"},
        "unit": {"enum": ["C", "F"]},
        "note": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
                "required": ["name", "price"],
            },
        },
        "user": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "x.y": {"type": "string"}},
        },
        "body": {"type": "string"},
        "a.b": {"type": "string"},
        "c:d": {"type": "integer"},
    },
    "additionalProperties": False,
}
CONTRACT = OutputContract.from_json_schema(SCHEMA)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("zip=02134", {"zip": "02134"}),
        ("zip=123\nbody=null", {"zip": "123", "body": "null"}),
        ("zip=1e5\nbody=true", {"zip": "1e5", "body": "true"}),
        ("zip=9007199254740993", {"zip": "9007199254740993"}),
        ("body={a}={b}", {"body": "{a}={b}"}),
        ("body=[", {"body": "["}),
        ("body=a=<<<", {"body": "a=<<<"}),
        ("body={", {"body": "{"}),
        ("zip:n=02134", {"zip": "02134"}),
        ("count:s=5", {"count": 5}),
        ("count='5'", {"count": 5}),
        ('count="5"', {"count": 5}),
        ("count= 5 ", {"count": 5}),
        ("count=+5", {"count": 5}),
        ("active=True", {"active": True}),
        ("active='false'", {"active": False}),
        ("note=None", {"note": "None"}),
        ("note=null", {"note": None}),
        ("note:s=null", {"note": "null"}),
        ("unit='C'", {"unit": "C"}),
        ("unit= C", {"unit": "C"}),
        ("zip: Oslo", {"zip": "Oslo"}),
        ("count: 5\nzip: Oslo", {"count": 5, "zip": "Oslo"}),
        ("zip = Oslo\ncount = 5", {"zip": "Oslo", "count": 5}),
        ("zip: 'Oslo'\ncount: '5'", {"zip": "Oslo", "count": 5}),
        ('"zip": "Oslo",\n"count": 5,', {"zip": "Oslo", "count": 5}),
        ("zip='Oslo'\nbody='x y'", {"zip": "Oslo", "body": "x y"}),
        ("zip='Oslo'\ncount='5'", {"zip": "Oslo", "count": 5}),
        ("tags=[\nred, blue\n]", {"tags": ["red, blue"]}),
        ('tags=["red", "blue"]', {"tags": ["red", "blue"]}),
        ("tags=['red', 'blue']", {"tags": ["red", "blue"]}),
        ("sizes=[1, 2]", {"sizes": [1, 2]}),
        ("tags=red\ntags=blue", {"tags": ["red", "blue"]}),
        ("sizes=1\nsizes=2", {"sizes": [1, 2]}),
        ('user={"name": "Bob", "age": 3}', {"user": {"name": "Bob", "age": 3}}),
        ("user={name=Bob,age=3}", {"user": {"name": "Bob", "age": 3}}),
        ("user={\n  name=Bob\n  age=3\n}", {"user": {"name": "Bob", "age": 3}}),
        ("user.x.y=v\na.b=w", {"user": {"x.y": "v"}, "a.b": "w"}),
        ("c:d=5", {"c:d": 5}),
        (
            "items::name,price\nitems[0]=nut, big,1\nitems[1]=bolt,2",
            {"items": [{"name": "nut, big", "price": 1}, {"name": "bolt", "price": 2}]},
        ),
        ("items::name, price\nitems[0]=nut,1", {"items": [{"name": "nut", "price": 1}]}),
        ("items=[\n{name=a, b,price=1}\n]", {"items": [{"name": "a, b", "price": 1}]}),
        ("body=<<<\na\n>>>>\n>>", {"body": "a\n>>>>"}),
        ("body=<<<ab\nx\n>>>cd", {"body": "x"}),
        ("body=<<\nx\n>>", {"body": "x"}),
        ("body=<<<x\ny>>>", {"body": "x\ny"}),
        ("body=<\nzip=5", {"body": "<", "zip": "5"}),
        ("zip=a\nzip=a", {"zip": "a"}),
        ("user.age=1\nzip=a\nuser.name=b", {"user": {"age": 1, "name": "b"}, "zip": "a"}),
        (
            "items[0].name=a\nitems[1].name=b\nitems[0].price=1\nitems[1].price=2",
            {"items": [{"name": "a", "price": 1}, {"name": "b", "price": 2}]},
        ),
        ("items[1].name=a\nitems[1].price=1", {"items": [{"name": "a", "price": 1}]}),
        ("", {}),
        ("\n \n", {}),
        ("{}", {}),
    ],
)
def test_read_right(text: str, value: Any) -> None:
    decoded = CONTRACT.decode(text)
    assert decoded.ok, decoded
    assert decoded.value == value


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("count=five", "count"),
        ("count=", "count"),
        ("active=yes", "active"),
        ("tags=red, blue", "tags"),
        ("tags=[red, blue]", "tags"),
        ("tags=[\na\n\nb\n]", "tags[1]"),
        ("items::name,price\nitems[0]=nut", "items[0]"),
        ("zip=a\nzip=b", "zip"),
        ("zip='Oslo'", "zip"),
        ("zip='Oslo'\nbody=x", "zip"),
        ("zip: 'a' and 'b'", "zip"),
        ("body=one\ntwo\ncount=5", ""),
        ("count=5\nbody=one\n\ntwo", "body"),
        ("foreign=1", ""),
        ("zip=a\nforeign=1", ""),
        ("I cannot help with that.", ""),
        ("user=Bob", "user"),
        ("count=null", "count"),
        ("count=1e999", "count"),
        ('{"count": 5', ""),
        ("items[2].name=a\nitems[0].name=b", "items[0].name"),
        ("items::name,price\nzip=a", "items"),
    ],
)
def test_refused(text: str, path: str) -> None:
    decoded = CONTRACT.decode(text)
    assert not decoded.ok
    assert path in [error.path for error in decoded.errors], decoded.errors


BODY = "count=5\ntags=[\na\nb\n]\nunit=C"
VALUE = {"count": 5, "tags": ["a", "b"], "unit": "C"}


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{BODY}\n```",
        f"```raif\n{BODY}\n```\n",
        f"Here it is:\n\n```\n{BODY}\n```\n\nLet me know!",
        f"Sure!\n\n{BODY}\n\nHope this helps.",
        f"<think>\ncount=7?\nno\n</think>\n\n{BODY}",
        f"<think>short</think>{BODY}",
        f"<raif>\n{BODY}\n</raif>",
        f"<|raif_start|>\n{BODY}\n<|raif_end|>",
        f"<tool_call>\nname\n{BODY}\n</tool_call>",
        f"{BODY}\n\n\n",
        f"\n\n{BODY}",
        BODY.replace("\n", "\r\n"),
        f"{BODY}\n</raif>\nmore\ncount=9",
        json.dumps(VALUE),
        f"```json\n{json.dumps(VALUE, indent=2)}\n```",
        f"Here:\n{json.dumps(VALUE)}\nDone.",
        repr(VALUE),
        json.dumps(VALUE, indent=1).replace("\n}", ",\n}"),
    ],
)
def test_what_stands_around_is_taken_away_and_reported(text: str) -> None:
    decoded = CONTRACT.decode(text)
    assert decoded.ok, decoded
    assert decoded.value == VALUE
    assert decoded.repairs or text.strip() == BODY
    assert decoded.raif in text


@pytest.mark.parametrize(
    "mark", ["</raif>", "```", "<think>", "</think>", "</tool_call>", "<raif>", "{", "]"]
)
def test_marks_inside_a_value_are_data(mark: str) -> None:
    value = {"body": f"before\n{mark}\nafter", "tags": [mark, "x"], "zip": mark}
    decoded = CONTRACT.decode(CONTRACT.encode(value))
    assert decoded.value == value
    assert decoded.repairs == ()


def test_the_order_of_keys_does_not_matter() -> None:
    value = {
        "zip": "1",
        "user": {"name": "b", "age": 2},
        "items": [{"name": "n", "price": 1.5}, {"name": "m", "price": 2}],
        "body": "x\ny",
    }
    text = CONTRACT.encode(value)
    units = [
        "zip:s=1",
        "user.age=2",
        "items::name,price\nitems[0]=n,1.5\nitems[1]=m,2",
        "user.name=b",
        "body=<<<\nx\ny\n>>>",
    ]
    assert CONTRACT.decode(text).value == value
    for turn in range(len(units)):
        decoded = CONTRACT.decode("\n".join([*units[turn:], *units[:turn]]))
        assert decoded.ok
        assert decoded.value == value


@pytest.mark.parametrize("profile", ["canonical", "generation"])
@pytest.mark.parametrize(
    "value",
    [
        {"zip": "1", "user": {"name": "b", "age": 2}, "tags": ["x"], "body": "l1\nl2"},
        {"items": [{"name": "a, b", "price": 1}], "sizes": [1, 2, 3], "note": None, "active": False},
    ],
)
def test_text_of_the_reference_encoder_is_read(profile: Any, value: dict[str, Any]) -> None:
    decoded = CONTRACT.decode(raif.encode(value, {"profile": profile}))
    assert decoded.ok, decoded
    assert decoded.value == value


WRITERS: dict[str, Callable[[str], str]] = {
    "think": lambda text: f"<think>\nabc\n</think>\n{text}",
    "fence": lambda text: f"```\n{text}\n```",
    "markers": lambda text: f"<raif>\n{text}\n</raif>",
}


@pytest.mark.parametrize("writer", WRITERS)
def test_frames_around_other_wires(writer: str) -> None:
    contract = OutputContract.from_json_schema(SCHEMA, wire="json")
    decoded = contract.decode(WRITERS[writer](json.dumps(VALUE, indent=2)))
    assert decoded.ok, decoded
    assert decoded.value == VALUE


@pytest.mark.parametrize(
    "text",
    [
        """{'tags': ['red' 'blue']}""",
        """{"tags": ["red"\n"blue"], 'x': True}""",
        """{'body': r'a\\/b'}""",
    ],
)
def test_what_python_and_json_read_differently_is_refused(text: str) -> None:
    assert not OutputContract.from_json_schema(SCHEMA, wire="json").decode(text).ok


@pytest.mark.parametrize(
    ("written", "body"),
    [(r"http:\/\/x", "http://x"), (r"\ud83d\ude00", "\U0001f600"), (r"a\\/b", r"a\/b"), (r"\n\t", "\n\t")],
)
def test_escapes_mean_in_a_python_literal_what_they_mean_in_json(written: str, body: str) -> None:
    contract = OutputContract.from_json_schema(SCHEMA, wire="json")
    decoded = contract.decode(f"""{{"body": "{written}", "active": True}}""")
    assert decoded.value == {"body": body, "active": True}
    assert json.loads(f'"{written}"') == body


@pytest.mark.parametrize("before", ["Here: ", "Here it is {as asked}: ", "<think>hm</think>"])
def test_json_that_begins_behind_words_on_its_line_is_read_whole(before: str) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    }
    contract = OutputContract.from_json_schema(schema)
    text = '{"name": "root", "children": [\n  {"name": "leaf"}\n]}'
    assert contract.decode(before + text).value == json.loads(text)
    decoder = contract.decoder()
    for character in before + text:
        decoder.push(character)
    assert decoder.finish("stop").ok
    assert json.loads(decoder.json) == json.loads(text)


def test_many_quotes_in_json_that_is_cut_off_are_read_at_once() -> None:
    contract = OutputContract.from_json_schema(SCHEMA, wire="json")
    assert contract.decode('{"body": "' + r"\"a}" * 20_000, finished=False).truncated
