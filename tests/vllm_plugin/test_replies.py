"""What a client gets, streamed or not, for what a model wrote: vLLM's own parser with the plugin's parts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raif_integrations.vllm_plugin import vllm_api
from raif_integrations.vllm_plugin.binding import Decoding
from raif_integrations.vllm_plugin.thinking import Thinking
from tests.vllm_plugin.chat_requests import (
    END,
    NOW,
    PERSON,
    TIME,
    TREE,
    WEATHER,
    Replies,
    bound,
    chat,
    cut,
    responses,
    schema_format,
)

THREE = [WEATHER, TIME, NOW]
NAMED = {"type": "function", "function": {"name": "get_time"}}
UNIQUE = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
    "required": ["tags"],
}

# Name: fields of the request, what the model wrote, content, calls.
REPLIES: dict[str, tuple[dict[str, Any], str, str | None, list[tuple[str, Any]]]] = {
    "plain": ({}, "Hi <|im there\n", "Hi <|im there\n", []),
    "one tool": ({"tools": [WEATHER]}, "get_weather\ncity=Oslo", None, [("get_weather", {"city": "Oslo"})]),
    "a tool without parameters": ({"tools": [NOW]}, "now", None, [("now", {})]),
    "two calls": (
        {"tools": THREE},
        "get_weather\ncity=Oslo\nget_time\nzone=CET",
        None,
        [("get_weather", {"city": "Oslo"}), ("get_time", {"zone": "CET"})],
    ),
    "an answer": ({"tools": THREE}, "reply\nHello\n\nnow", "Hello\n\nnow", []),
    "required": ({"tools": THREE, "tool_choice": "required"}, "now\nnow", None, [("now", {}), ("now", {})]),
    "required, one tool": (
        {"tools": [WEATHER], "tool_choice": "required"},
        "city=Oslo",
        None,
        [("get_weather", {"city": "Oslo"})],
    ),
    "named": ({"tools": THREE, "tool_choice": NAMED}, "zone=now", None, [("get_time", {"zone": "now"})]),
    "none": ({"tools": THREE, "tool_choice": "none"}, "get_time\nzone=x", "get_time\nzone=x", []),
    "a schema": ({"response_format": PERSON}, "age=3\nname=Ada", '{"age": 3, "name": "Ada"}', []),
    "a schema that is no object": (
        {"response_format": schema_format({"type": "array", "items": {"type": "integer"}})},
        "value=[\n1\n2\n]",
        "[1, 2]",
        [],
    ),
    "tools and a schema": (
        {"tools": THREE, "response_format": PERSON},
        "reply\nage=3\nname=Ada",
        '{"age": 3, "name": "Ada"}',
        [],
    ),
    "tools and a schema, a call": (
        {"tools": THREE, "response_format": PERSON},
        "get_time\nzone=x",
        None,
        [("get_time", {"zone": "x"})],
    ),
    "tools and JSON": (
        {"tools": THREE, "response_format": {"type": "json_object"}},
        'reply\n{"a": [1]}',
        '{"a": [1]}',
        [],
    ),
    "arguments as JSON": (
        {"tools": [TREE, NOW]},
        'tree\n{"n": "now", "c": []}\nnow',
        None,
        [("tree", {"n": "now", "c": []}), ("now", {})],
    ),
    "forced arguments as JSON": (
        {"tools": [TREE], "tool_choice": "required"},
        '{"n": "a", "c": [{"n": "b", "c": []}]}',
        None,
        [("tree", {"n": "a", "c": [{"n": "b", "c": []}]})],
    ),
    "JSON": ({"response_format": {"type": "json_object"}}, '{"a": 1}', '{"a": 1}', []),
    "a schema only JSON can carry": (
        {"response_format": schema_format(TREE["function"]["parameters"])},
        '{"n": "a", "c": []}',
        '{"n": "a", "c": []}',
        [],
    ),
}


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("name", REPLIES)
def test_streamed_and_whole_replies_are_the_same(replies: Replies, name: str, size: int) -> None:
    fields, text, content, calls = REPLIES[name]
    request = chat(**fields)
    binding = replies.adjust(request)
    written = text + END if binding.applied else text
    whole = replies.whole(request, written)
    assert whole[:2] == (None, content)
    assert [(called, json.loads(arguments)) for called, arguments in whole[2]] == calls
    assert replies.streamed(request, cut(written, size)) == whole


@pytest.mark.parametrize("name", ["one tool", "two calls", "a schema", "named", "arguments as JSON"])
def test_the_responses_api_gets_the_same(replies: Replies, name: str) -> None:
    fields, text, content, calls = REPLIES[name]
    given: dict[str, Any] = {}
    if "tools" in fields:
        given["tools"] = [{"type": "function", **one["function"]} for one in fields["tools"]]
    if "response_format" in fields:
        given["text"] = {"format": {"type": "json_schema", **fields["response_format"]["json_schema"]}}
    if "tool_choice" in fields:
        given["tool_choice"] = {"type": "function", "name": "get_time"}
    request = responses(**given)
    assert replies.adjust(request).applied
    whole = replies.whole(request, text + END)
    assert whole[:2] == (None, content)
    assert [(called, json.loads(arguments)) for called, arguments in whole[2]] == calls
    assert replies.streamed(request, cut(text + END, 2)) == whole


@pytest.mark.parametrize("name", [name for name, reply in REPLIES.items() if reply[3] and reply[1] != "now"])
def test_a_reply_that_is_cut_off_has_no_whole_last_call(replies: Replies, name: str) -> None:
    fields, text, _, calls = REPLIES[name]
    for end in range(1, len(text) + 1):
        request = chat(**fields)
        replies.adjust(request)
        given_choice = request.tool_choice
        _, content, found = replies.whole(request, text[:end])
        assert content is None
        assert [(called, json.loads(arguments)) for called, arguments in found] == calls[: len(found)]
        assert len(found) < len(calls)
        # This is what has vLLM before 0.33 report `length`.
        assert request.tool_choice == ("required" if found and given_choice == "auto" else given_choice)


def test_making_the_parser_turns_decoding_on(replies: Replies) -> None:
    replies.parser(chat())
    assert Decoding.is_on


def test_the_reasoning_parser_alone_adjusts_too(replies: Replies) -> None:
    request = chat(response_format=PERSON)
    bound(request)
    replies.parser(request).reasoning_parser.adjust_request(request)
    assert request.structured_outputs.grammar


@pytest.mark.parametrize("name", ["a schema", "two calls", "an answer", "plain"])
def test_a_copy_of_the_request_reads_the_same(
    replies: Replies, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """vLLM's batch endpoint renders with one copy of a request and reads with another one."""
    monkeypatch.setattr(vllm_api, "carries_requests", lambda: True)
    fields, text, _, _ = REPLIES[name]
    request = chat(**fields)
    written = text + END if replies.adjust(request).applied else text
    assert replies.whole(chat(**fields), written) == replies.whole(request, written)


def test_choices_of_one_request_do_not_disturb_each_other(replies: Replies) -> None:
    request = chat(tools=THREE, n=2)
    replies.adjust(request)
    replies.whole(request, "now\nget_time\nzone=C")
    assert request.tool_choice == "required"
    assert replies.whole(request, "reply\nHi" + END)[1] == "Hi"
    assert request.tool_choice == "auto"


def test_json_that_is_cut_off_has_no_end(replies: Replies) -> None:
    request = chat(response_format=PERSON)
    replies.adjust(request)
    _, content, _ = replies.whole(request, "age=3\nname=Ada")
    assert content == '{"age": 3, "name": "Ada'
    assert replies.streamed(request, ["age=3\n", "name=Ada"])[1] == content


def test_values_that_break_their_schema_have_no_end(replies: Replies) -> None:
    request = chat(response_format=schema_format(UNIQUE))
    replies.adjust(request)
    _, content, _ = replies.whole(request, "tags=[\na\na\n]" + END)
    assert content is not None
    assert not content.endswith("}")
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(content)


def test_the_end_token_inside_of_a_text_is_text(replies: Replies) -> None:
    request = chat(tools=[WEATHER], tool_choice="required")
    replies.adjust(request)
    written = f"city=a{END}b{END}"
    assert replies.whole(request, written)[2] == [("get_weather", json.dumps({"city": f"a{END}b"}))]
    assert replies.streamed(request, ["city=a", END, "b", END])[2] == replies.whole(request, written)[2]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("written", "content"),
    [
        ("reply\nHello. Observation:", "Hello. "),
        ("reply\nHello. Observ" + END, "Hello. Observ"),
        ("reply\nHello. Observ", "Hello. Observ"),
        ("reply\nObs Obse" + END, "Obs Obse"),
        ("reply\nHello.\n\n", "Hello."),
    ],
)
def test_stop_strings_are_not_shown(replies: Replies, written: str, content: str, size: int) -> None:
    request = chat(tools=[WEATHER], stop=["Observation:", "\n\n"])
    replies.adjust(request)
    assert replies.whole(request, written) == (None, content, [])
    assert replies.streamed(request, cut(written, size)) == (None, content, [])


def test_stop_strings_the_client_wants_are_shown(replies: Replies) -> None:
    request = chat(tools=[WEATHER], stop="Observation:", include_stop_str_in_output=True)
    replies.adjust(request)
    assert replies.whole(request, "reply\nObservation:")[1] == "Observation:"


def test_a_stop_string_inside_of_a_call_cuts_it_off(replies: Replies) -> None:
    request = chat(tools=[WEATHER], stop=["slo"])
    replies.adjust(request)
    assert replies.whole(request, "get_weather\ncity=Oslo") == (None, None, [])


def test_a_streamed_reply_begins_before_it_ends(replies: Replies) -> None:
    request = chat(response_format=PERSON)
    replies.adjust(request)
    parser = replies.parser(request)
    delta = parser.parse_delta("age=3\n", [1], request, [1], finished=False)
    assert delta.content == '{"age": 3'


def test_plain_chat_keeps_every_delta(replies: Replies) -> None:
    request = chat()
    replies.adjust(request)
    parser = replies.parser(request)
    deltas = [parser.parse_delta(text, [1], request, [1], finished=text == "") for text in ("a", " \n", "")]
    assert [delta.content for delta in deltas] == ["a", " \n", ""]


# Reasoning

THOUGHTS = "<think>\nOslo, I think.\n</think>\n\n"


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("name", ["two calls", "an answer", "a schema", "plain"])
def test_reasoning_the_model_opens_is_set_apart(thinking_replies: Replies, name: str, size: int) -> None:
    fields, text, content, calls = REPLIES[name]
    request = chat(**fields)
    end = END if thinking_replies.adjust(request, thinking=Thinking.MAYBE).applied else ""
    for thoughts, reasoning in ((THOUGHTS, "\nOslo, I think.\n"), ("", None)):
        whole = thinking_replies.whole(request, thoughts + text + end)
        assert whole[:2] == (reasoning, content)
        assert [called for called, _ in whole[2]] == [called for called, _ in calls]
        assert thinking_replies.streamed(request, cut(thoughts + text + end, size)) == whole


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("name", ["two calls", "an answer", "a schema"])
def test_reasoning_the_template_opens_is_set_apart(thinking_replies: Replies, name: str, size: int) -> None:
    fields, text, content, calls = REPLIES[name]
    request = chat(**fields)
    thinking_replies.adjust(request, thinking=Thinking.OPEN)
    prompt = thinking_replies.tokenizer.encode("<think>\n")
    written = f"Oslo?</think>\n\n  {text}{END}"
    whole = thinking_replies.whole(request, written)
    assert whole[:2] == ("Oslo?", content)
    assert [called for called, _ in whole[2]] == [called for called, _ in calls]
    assert thinking_replies.streamed(request, cut(written, size), prompt=prompt) == whole


def test_reasoning_that_never_ends_is_reasoning(thinking_replies: Replies) -> None:
    request = chat(tools=[WEATHER])
    thinking_replies.adjust(request, thinking=Thinking.OPEN)
    prompt = thinking_replies.tokenizer.encode("<think>\n")
    assert thinking_replies.whole(request, "Oslo</thi")[:1] == ("Oslo</thi",)
    assert thinking_replies.streamed(request, ["Oslo", "</thi"], prompt=prompt) == ("Oslo</thi", None, [])


def test_reasoning_tokens_are_counted(thinking_replies: Replies) -> None:
    parser = thinking_replies.parser(chat())
    encode = thinking_replies.tokenizer.encode
    assert parser.count_reasoning_tokens(encode("<think>a b c</think>d")) == 3
    assert parser.count_reasoning_tokens(encode("a b c</think>d")) == 3
    assert parser.count_reasoning_tokens(encode("<think>a b c")) == 3
    assert parser.count_reasoning_tokens(encode("a b c")) == 0
