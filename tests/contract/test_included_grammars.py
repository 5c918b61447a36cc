"""Grammars inside of a larger one: their rules get names of their own, their texts stay."""

from __future__ import annotations

import pytest
from xgrammar import testing

from raif_integrations.contract.contract import OutputContract
from raif_integrations.contract.ebnf import Rules, sequence
from raif_integrations.contract.grammar import GrammarBodies


def test_included_rules_do_not_collide() -> None:
    rules = Rules()
    rules.define(rules.reserve("word"), '"own"')
    first = rules.include('root ::= word word\nword ::= "a"\n', "x")
    second = rules.include('root ::= word\nword ::= "b" | [word] | "\\"word\\\\"\n', "x")
    grammar = rules.text(sequence(first, '"/"', second, '"/"', "word"))
    for text in ("aa/b/own", "aa/w/own", 'aa/"word\\/own'):
        assert testing._is_grammar_accept_string(grammar, text), text
    assert not testing._is_grammar_accept_string(grammar, "aa/own/own")


def test_an_included_grammar_is_written_once() -> None:
    rules = Rules()
    text = 'root ::= "a" root | "b"'
    assert rules.include(text, "x") == rules.include(text, "y")


def test_a_grammar_needs_a_root() -> None:
    with pytest.raises(ValueError, match="root"):
        Rules().include('start ::= "a"', "x")


def test_trees_share_rules_and_stay_apart() -> None:
    left = OutputContract.from_json_schema(
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    )
    right = OutputContract.from_json_schema(
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "required": ["a"],
            "additionalProperties": False,
        }
    )
    rules = Rules()
    bodies = GrammarBodies(rules)
    (first, _), (second, _) = bodies.body(left.tree), bodies.body(right.tree)
    grammar = rules.text(f'"l\\n" {first} | "r\\n" {second}')
    assert testing._is_grammar_accept_string(grammar, "l\na=x")
    assert testing._is_grammar_accept_string(grammar, "r\na=1\nb=x")
    assert not testing._is_grammar_accept_string(grammar, "r\na=x")
    alone = sum(len(contract.grammar()) for contract in (left, right))
    assert len(grammar) < alone
