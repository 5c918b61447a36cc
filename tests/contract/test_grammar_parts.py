"""The parts of the grammar writer: expressions, formats, numbers, escaping and element order."""

from __future__ import annotations

import random
import re

import pytest

from benchmarks.ebnf_walk import Walker
from raif_integrations.contract import ebnf
from raif_integrations.contract.automaton import inverted, words, write
from raif_integrations.contract.contract import OutputContract
from raif_integrations.contract.ebnf import Rules
from raif_integrations.contract.formats import checker
from raif_integrations.contract.grammar_formats import FORMATS
from raif_integrations.contract.grammar_numbers import integer, number
from raif_integrations.contract.regular import NotRegularError, searching

testing = pytest.importorskip("xgrammar.testing")

EXPRESSIONS = [
    "^a+b?$",
    "abc",
    "^[A-Z]{3}-\\d{2,4}$",
    "^(foo|bar)*$",
    "x$",
    "^x",
    "(^a|b$)",
    "^$",
    "",
    "^[^\\s]+$",
    "a.c",
    "^\\S.*\\S$",
    "^(?:[a-z]+\\.)*[a-z]+$",
    "[-a]",
    "[a\\-z]",
    "^\\$\\{x\\}$",
    "^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$",
    "^#([0-9a-f]{3}){1,2}$",
    "a|^b|c$",
    "^(a|$)",
    "^\\/[a-z]*$",
    "^(?<year>\\d{4})?$",
    "a{2,}?",
    "\\x41|\\u0062",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_mean_what_python_says(expression: str) -> None:
    automaton = searching(expression)
    python = re.sub(r"(?<!\\)\$", r"\\Z", expression).replace("(?<year>", "(?P<year>")
    draw = random.Random(expression)
    for _ in range(1500):
        text = "".join(draw.choice("abcxyzAB-01 .@_f#o/r${}\n") for _ in range(draw.randint(0, 7)))
        assert automaton.accepts(text) == (re.search(python, text, re.ASCII) is not None), text


@pytest.mark.parametrize(
    "expression", ["(?=a)b", "(?<!a)b", "\\bfoo", "(a)\\1", "\\p{L}", "a{2,1}", "(", "[z-a]", "*a", "a\\"]
)
def test_other_expressions_are_refused(expression: str) -> None:
    with pytest.raises(NotRegularError):
        searching(expression)


@pytest.mark.parametrize("name", FORMATS)
def test_formats_agree_with_the_validator(name: str) -> None:
    rules = Rules()
    start = write(searching(FORMATS[name]), rules, "text")
    walker = Walker(rules.text(start), seed=1)
    for number_of in range(300):
        text = walker.sentence(number_of)
        assert checker().conforms(text, name), text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("date", "2024-02-29"),
        ("date", "2000-02-29"),
        ("date", "0004-12-31"),
        ("time", "23:59:60Z"),
        ("time", "01:02:03.5+02:00"),
        ("date-time", "2024-02-29T12:00:00z"),
        ("ipv6", "::"),
        ("ipv6", "1::"),
        ("ipv6", "1:2:3:4:5:6:7::"),
        ("ipv6", "::ffff:1.2.3.4"),
        ("ipv6", "1:2:3:4:5:6:1.2.3.4"),
        ("ipv6", "1:2::7:8"),
        ("email", "a@b.c"),
        ("duration", "P1Y2M3DT4H5M6.5S"),
        ("duration", "PT1M"),
        ("uri", "http://a.b/c?x=[1]"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
        ("hostname", "xn--a.b-c"),
        ("json-pointer", "/a/~0"),
    ],
)
def test_formats_take_what_is_usual(name: str, text: str) -> None:
    assert checker().conforms(text, name)
    assert searching(FORMATS[name]).accepts(text)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (None, None),
        (0, None),
        (5, None),
        (None, -3),
        (0, 100),
        (-10, 10),
        (17, 1234),
        (-500, -20),
        (0, 0),
        (None, 7),
    ],
)
def test_integers_keep_their_bounds(low: int | None, high: int | None) -> None:
    grammar = f"root ::= {integer(low, high)}"
    draw = random.Random(str((low, high)))
    some = [
        *range(-30, 130),
        *(draw.randint(-3000, 3000) for _ in range(100)),
        *(10**k + d for k in (3, 9) for d in (-1, 0, 1)),
    ]
    for value in some:
        inside = (low is None or value >= low) and (high is None or value <= high)
        assert testing._is_grammar_accept_string(grammar, str(value)) == inside, value
    for text in ("", "-0", "01", "1.0", "+1", "9" * 60):
        assert not testing._is_grammar_accept_string(grammar, text), text


@pytest.mark.parametrize(
    ("low", "high"),
    [(None, None), (0, None), (0, 1), (-90, 90), (-180.0, 180.0), (1, None), (None, 0), (10, 20)],
)
def test_numbers_keep_their_bounds(low: float | None, high: float | None) -> None:
    grammar = f"root ::= {number(low, high)}"
    for value in (
        0,
        1,
        1.0,
        0.5,
        1e-7,
        99.99,
        100.5,
        -0.5,
        -1,
        -90,
        -90.5,
        1e300,
        -1e-9,
        180.0,
        15.25,
        2e-300,
        20.0,
        20.5,
    ):
        inside = (low is None or value >= low) and (high is None or value <= high)
        assert testing._is_grammar_accept_string(grammar, repr(value)) == inside, value


@pytest.mark.parametrize(
    "text", ['a"\\\n', "\x0bA1", "\x01f", "\u0085f", "\u2028ab", "]a", "a-c", "[^x]", "é\U0001f600"]
)
def test_any_text_can_be_spelled(text: str) -> None:
    assert testing._is_grammar_accept_string(f"root ::= {ebnf.literal(text)}", text)
    chars = ebnf.charset(text)
    inside, outside = ebnf.char_class(chars), ebnf.char_class(ebnf.complement(chars))
    for char in text:
        assert testing._is_grammar_accept_string(f"root ::= {inside}", char), char
        assert not testing._is_grammar_accept_string(f"root ::= {outside}", char), char
    assert testing._is_grammar_accept_string(f"root ::= {outside}", "\U00010348")


@pytest.mark.parametrize("text", ["\0", "a\ud800"])
def test_what_no_grammar_can_spell_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot spell"):
        ebnf.literal(text)


def test_words_and_their_complement() -> None:
    automaton = words(["a", "ab", "b"])
    for text in ("", "a", "ab", "b", "ba", "abc", "\n"):
        assert automaton.accepts(text) == (text in ("a", "ab", "b"))
        assert inverted(automaton).accepts(text) != automaton.accepts(text)


ORDERS = {
    "type": "object",
    "properties": {
        "o": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "lines": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "n": {"type": "object", "properties": {"x": {"type": "integer"}}},
                                "q": {"type": "integer"},
                            },
                            "required": ["q"],
                        },
                    },
                },
                "required": ["id"],
            },
        }
    },
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("o[0].id=1\no[1].id=2", [{"id": 1}, {"id": 2}]),
        ("o[7].id=1\no[7].id=2", [{"id": 1}, {"id": 2}]),
        (
            "o[0].id=1\no[0].lines[0].q=1\no[0].lines[1].q=2\no[1].id=2",
            [{"id": 1, "lines": [{"q": 1}, {"q": 2}]}, {"id": 2}],
        ),
        (
            "o[3].id=1\no[9].lines[5].n.x=1\no[2].lines[8].q=1\no[2].lines[8].q=2\no[2].id=2",
            [{"id": 1, "lines": [{"n": {"x": 1}, "q": 1}, {"q": 2}]}, {"id": 2}],
        ),
    ],
)
def test_elements_are_told_apart_by_the_order_of_their_keys(text: str, value: list[object]) -> None:
    contract = OutputContract.from_json_schema(ORDERS)
    assert testing._is_grammar_accept_string(contract.grammar(), text)
    decoded = contract.decode(text, constrained=True)
    assert decoded.ok, decoded.errors
    assert decoded.value == {"o": value}
    assert not decoded.repairs
