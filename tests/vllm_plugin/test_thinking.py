"""Models that think: how a reply may begin, and a grammar that lets it."""

from __future__ import annotations

from typing import Any

import pytest
from xgrammar import testing

from raif_integrations.vllm_plugin.adjusting import settle
from raif_integrations.vllm_plugin.reasoning_parser import RaifReasoningParser
from raif_integrations.vllm_plugin.thinking import Thinking, after_thinking, tag_ids, thinking_of
from tests.vllm_plugin.chat_requests import PERSON, bound, chat

GRAMMAR = 'root ::= "a=" word\nword ::= [a-z]+\n'


def accepts(grammar: str, text: str) -> bool:
    return bool(testing._is_grammar_accept_string(grammar, text))


@pytest.mark.parametrize(
    "text",
    [
        "a=b",
        "<think></think>a=b",
        "<think>\nx < y\n</think>\n\na=b",
        "<think></thin</thi</think>a=b",
        "<think><</</t</think>\na=b",
        "<think><think></think>a=b",
    ],
)
def test_a_model_may_think_before_its_answer(text: str) -> None:
    assert accepts(after_thinking(GRAMMAR, Thinking.MAYBE), text)


@pytest.mark.parametrize(
    "text", ["<think>a=b", "a=b<think></think>", "<think></think>\n\n\na=b", "</think>a=b", "\na=b"]
)
def test_but_in_no_other_place(text: str) -> None:
    assert not accepts(after_thinking(GRAMMAR, Thinking.MAYBE), text)


def test_the_answer_begins_behind_the_first_closing_tag() -> None:
    grammar = after_thinking(GRAMMAR, Thinking.MAYBE)
    assert not accepts(grammar, "<think></think>x</think>a=b")


def test_behind_reasoning_the_template_opened_may_be_line_breaks() -> None:
    grammar = after_thinking(GRAMMAR, Thinking.OPEN)
    assert all(accepts(grammar, text) for text in ("a=b", "\na=b", "\n\na=b"))
    assert not accepts(grammar, "<think></think>a=b")
    assert after_thinking(GRAMMAR, Thinking.NONE) == GRAMMAR


@pytest.mark.parametrize(
    ("prompt", "thinking"),
    [
        ("assistant\n", Thinking.MAYBE),
        ("assistant\n<think>\n", Thinking.OPEN),
        ("assistant\n<think>\n\n</think>\n\n", Thinking.NONE),
        ("user: what is <think>? assistant: ", Thinking.MAYBE),
    ],
)
def test_the_end_of_the_prompt_tells(thinking_tokenizer: Any, prompt: str, thinking: Thinking) -> None:
    assert thinking_of(thinking_tokenizer, {"prompt": prompt}) is thinking
    ids = thinking_tokenizer.encode(prompt)
    assert thinking_of(thinking_tokenizer, {"prompt_token_ids": ids}) is thinking
    parser = RaifReasoningParser(thinking_tokenizer)
    assert parser.is_reasoning_end(ids) == (thinking is not Thinking.OPEN)


def test_a_model_without_the_tags_does_not_think(tokenizer: Any) -> None:
    assert tag_ids(tokenizer) is None
    assert thinking_of(tokenizer, {"prompt": "<think>\n"}) is Thinking.NONE
    parser = RaifReasoningParser(tokenizer)
    assert parser.is_reasoning_end([1])
    assert parser.is_reasoning_end_streaming([1], [1])
    assert parser.extract_content_ids([1, 2]) == [1, 2]
    assert parser.count_reasoning_tokens([1, 2]) == 0


def test_the_engine_learns_where_the_reasoning_ends(thinking_tokenizer: Any) -> None:
    parser = RaifReasoningParser(thinking_tokenizer)
    ids = thinking_tokenizer.encode("a</think>b")
    end = thinking_tokenizer.encode("</think>")
    assert parser.is_reasoning_end_streaming(ids, end)
    assert not parser.is_reasoning_end_streaming(ids, ids[:1])
    assert parser.extract_content_ids(ids) == ids[ids.index(end[0]) + 1 :]


@pytest.mark.parametrize(
    ("fields", "end", "thinking"),
    [
        ({"response_format": PERSON, "include_reasoning": False}, "<think>\n\n</think>\n\n", Thinking.NONE),
        ({"response_format": PERSON}, "<think>\n", Thinking.OPEN),
        ({"include_reasoning": False}, "<think>\n", Thinking.OPEN),
    ],
)
def test_reasoning_nobody_wants_is_closed(
    thinking_tokenizer: Any, fields: dict[str, Any], end: str, thinking: Thinking
) -> None:
    request = chat(**fields)
    binding = bound(request)
    prompt = settle(request, binding, thinking_tokenizer, {"prompt": "assistant\n<think>\n", "x": 1})
    assert prompt == {"prompt": f"assistant\n{end}", "x": 1}
    assert binding.thinking is thinking
