"""Past tool calls and their results: shown as this package's own clients show them, by every template."""

from __future__ import annotations

import json
from typing import Any

import pytest
import raif
from hypothesis import given, settings
from hypothesis import strategies as st

from raif_integrations.conversation.history import arguments_text, as_turns
from tests.chat_templates.rendering import NAMES, render

each = pytest.mark.parametrize("name", NAMES)

TOOLS = [
    {
        "type": "function",
        "function": {"name": "get_weather", "description": "d", "parameters": {"type": "object"}},
    }
]


def call(number: int, name: str, arguments: Any) -> dict[str, Any]:
    """A call in a message as vLLM hands it to a template: with arguments that are no longer JSON text."""
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def result(number: int, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}


SYSTEM = {"role": "system", "content": "Be brief."}
QUESTION = {"role": "user", "content": "Weather and time in Paris?"}
WEATHER = call(1, "get_weather", {"city": "Paris", "days": [1, 2], "unit": None})
TIME = call(2, "get_time", {"zone": "CET"})

HISTORIES = {
    "one call": [QUESTION, calls(WEATHER), result(1, "18 C")],
    "text before it": [QUESTION, calls(WEATHER, content="Let me see."), result(1, "18 C")],
    "two at once": [QUESTION, calls(WEATHER, TIME), result(1, "18 C"), result(2, "14:05")],
    "one after the other": [QUESTION, calls(WEATHER), result(1, "18 C"), calls(TIME), result(2, "14:05")],
    "in two rounds": [
        QUESTION,
        calls(WEATHER, TIME),
        result(1, "18 C"),
        result(2, "14:05"),
        {"role": "assistant", "content": "18 C, 14:05."},
        {"role": "user", "content": "And the date?"},
        calls(call(3, "get_date", {})),
        result(3, "1 May"),
    ],
    "answered in another order": [QUESTION, calls(WEATHER, TIME), result(2, "14:05"), result(1, "18 C")],
    "no arguments": [QUESTION, calls(call(1, "get_date", {})), result(1, "1 May")],
    "arguments left out": [QUESTION, calls(call(1, "get_date", None)), result(1, "1 May")],
    "an empty result": [QUESTION, calls(WEATHER), result(1, "")],
    "no result yet": [QUESTION, calls(WEATHER)],
}


@each
@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_history_is_shown_as_our_clients_show_it(name: str, history: list[dict[str, Any]]) -> None:
    messages = [SYSTEM, *history]
    assert render(name, messages) == render(name, as_turns(messages))


@each
def test_the_text_itself(name: str) -> None:
    rendered = render(name, HISTORIES["two at once"])
    made = (
        "<tool_call>\nget_weather\ncity=Paris\nunit=null\ndays=[\n1\n2\n]\n</tool_call>\n"
        "<tool_call>\nget_time\nzone=CET\n</tool_call>"
    )
    results = (
        "<tool_response>\nget_weather\n18 C\n</tool_response>\n"
        "<tool_response>\nget_time\n14:05\n</tool_response>"
    )
    assert rendered.count(made) == rendered.count(results) == 1
    assert rendered.index(made) < rendered.index(results)
    between = rendered[rendered.index(made) + len(made) : rendered.index(results)]
    assert between in (
        "<|im_end|>\n<|im_start|>user\n",
        "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
    )


@each
@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_tool_definitions_are_ignored(name: str, history: list[dict[str, Any]]) -> None:
    messages = [SYSTEM, *history]
    assert render(name, messages, tools=TOOLS) == render(name, messages)
    assert render(name, history[:1], tools=TOOLS, tool_choice="auto") == render(name, history[:1])


@each
def test_a_result_that_names_its_tool_needs_no_id(name: str) -> None:
    named = [{"role": "tool", "name": tool, "content": "1"} for tool in ("first", "second")]
    rendered = render(name, [QUESTION, calls(WEATHER, TIME), *named])
    assert "<tool_response>\nfirst\n1\n</tool_response>\n<tool_response>\nsecond\n1\n" in rendered


@each
def test_arguments_that_stayed_text_are_shown_as_they_are(name: str) -> None:
    rendered = render(name, [QUESTION, calls(call(1, "get_weather", '{"city": "Pa'))])
    assert '<tool_call>\nget_weather\n{"city": "Pa\n</tool_call>' in rendered


def test_qwen3_keeps_the_reasoning_behind_open_calls() -> None:
    thoughtful = calls(WEATHER) | {"reasoning_content": "I need the weather.\n"}
    rendered = render("qwen3", [QUESTION, thoughtful, result(1, "18 C")])
    assert "<|im_start|>assistant\n<think>\nI need the weather.\n</think>\n\n<tool_call>\n" in rendered
    answered = [QUESTION, thoughtful, result(1, "18 C"), {"role": "assistant", "content": "18 C."}, QUESTION]
    assert "I need the weather." not in render("qwen3", answered)


def test_qwen3_takes_no_argument_for_reasoning() -> None:
    written = calls(call(1, "write", {"text": "a</think>b", "title": "x"}), content="Now.")
    rendered = render("qwen3", [QUESTION, written, result(1, "done")])
    assert "Now.\n<tool_call>\nwrite\ntext=a</think>b\ntitle=x\n</tool_call>" in rendered


def test_qwen3_takes_no_result_for_a_question() -> None:
    """With our clients, a result stands in a user turn, and the cue for the next call behind it."""
    shown = "<tool_response>\n18 C\n</tool_response>\n\n<schema>\ncity:s\n</schema>"
    thoughtful = {"role": "assistant", "content": "Hm.", "reasoning_content": "I need the weather."}
    rendered = render("qwen3", [QUESTION, thoughtful, {"role": "user", "content": shown}])
    assert "<think>\nI need the weather.\n</think>\n\nHm." in rendered


# Arguments as RAIF-G

EXAMPLES: dict[str, dict[str, Any]] = {
    "scalars": {"b": 1, "a": "x y", "t": True, "f": False, "n": None, "z": -0.5},
    "texts that look like something else": {
        "a": "12",
        "b": "true",
        "c": "null",
        "d": "",
        "e": "[]",
        "f": "{}",
    },
    "texts with marks": {
        "a": " x ",
        "b": "{k=v}",
        "c": "x[",
        "d": ">>>",
        "e": "<<<x",
        "f": "x=1",
        "g": "a,b",
    },
    "texts that open a block": {
        "a": "[",
        "b": "x=[",
        "c": "<<a1",
        "d": "=<<<",
        "e": "<b>",
        "f": "<<<<",
        "g": "[x",
    },
    "texts of several lines": {"a": "one\ntwo", "b": "x", "c": "\n"},
    "nested": {"z": {"b": {"c": 1}, "a": "x"}, "a": {}, "b": {"c": {}}},
    "lists": {"a": [1, "x", None], "b": [], "c": ["a,b", "12", "]", ""], "d": [[1], [2, 3]], "e": [{}]},
    "a table": {"items": [{"sku": "A", "n": 1}, {"n": 2, "sku": "B,C"}], "total": 3},
    "rows that differ": {"items": [{"sku": "A"}, {"n": 2}], "one": [{"sku": "A", "n": 1}]},
    "rows that do not fit on a line": {
        "items": [{"a": "x\ny"}, {"a": "z"}],
        "deep": [{"a": [1]}, {"a": [2]}],
    },
    "keys with marks": {"a.b": 1, "c[0]": 2, "d=e": {"f:g": "x"}, " h": 1},
    "order of keys": {"b": 1, "B": 2, "a": 3, "_": 4},
}


def arguments_of(name: str, arguments: dict[str, Any]) -> str:
    """The body of a call as a template shows it."""
    rendered = render(name, [QUESTION, calls(call(1, "f", arguments))])
    body = rendered.partition("<tool_call>\nf")[2].rpartition("\n</tool_call>")[0]
    return body.removeprefix("\n")


@each
@pytest.mark.parametrize("arguments", EXAMPLES.values(), ids=EXAMPLES)
def test_arguments_are_written_as_the_codec_writes_them(name: str, arguments: dict[str, Any]) -> None:
    assert arguments_of(name, arguments) == arguments_text(arguments)


_TEXTS = st.text(alphabet=st.sampled_from('ab 1-.,={}[]<>:\né"'), max_size=8) | st.sampled_from(
    ["true", "null", "12", "1e5", "-3", "{a=1}", "[", "]", "<<<x>>>", "nan", "x[", "[1]"]
)
_SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | _TEXTS
_KEYS = st.text(alphabet=st.sampled_from("abAB.[]=:, 1-{}"), min_size=1, max_size=4)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_KEYS, inner, max_size=3)
        | st.lists(st.fixed_dictionaries({"a": _SCALARS, "b": _SCALARS}), min_size=2, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(_KEYS, _VALUES, min_size=1, max_size=4))
def test_any_arguments_can_be_read_back(arguments: dict[str, Any]) -> None:
    try:
        exact = raif.decode(raif.encode(arguments, {"profile": "generation"})) == arguments
    except ValueError:
        exact = False
    written = arguments_of("chatml", arguments)
    if exact:
        assert raif.decode(written) == arguments
    assert json.dumps(arguments)
