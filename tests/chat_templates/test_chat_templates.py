"""What the packaged templates render, to the character."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from raif_integrations import chat_template, chat_template_names, chat_template_path
from raif_integrations.errors import ConfigurationError

CONVERSATION = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Bye"},
]
SYSTEM = {"role": "system", "content": "Be brief."}
CALLS = "<tool_call>\nget_weather\ncity=Paris\n</tool_call>\n<tool_call>\nget_time\nzone=CET\n</tool_call>"
TOOLS_USED = [
    {"role": "user", "content": "Weather and time in Paris?"},
    {"role": "assistant", "content": CALLS},
    {"role": "tool", "content": "18 C"},
    {"role": "tool", "content": "14:05"},
]
RESULTS = "<tool_response>\n18 C\n</tool_response>\n<tool_response>\n14:05\n</tool_response>"

# What each family's own template renders for CONVERSATION without tools: with and without SYSTEM.
CHATML_TURNS = (
    "<|im_start|>user\nHi<|im_end|>\n"
    "<|im_start|>assistant\nHello.<|im_end|>\n"
    "<|im_start|>user\nBye<|im_end|>\n"
    "<|im_start|>assistant\n"
)
CHATML_SYSTEM = "<|im_start|>system\nBe brief.<|im_end|>\n"
QWEN_SYSTEM = (
    "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"
)
LLAMA_SYSTEM = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n"
    "Cutting Knowledge Date: December 2023\nToday Date: 01 Feb 2026\n\n"
)
LLAMA_TURNS = (
    "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n"
)


def render(name: str, messages: list[dict[str, str]], **variables: Any) -> str:
    """Renders as transformers does: its Jinja settings and its helper functions."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["strftime_now"] = lambda form: datetime(2026, 2, 1).strftime(form)
    variables = {"add_generation_prompt": True, "bos_token": "<|begin_of_text|>", **variables}
    return environment.from_string(chat_template(name)).render(messages=messages, **variables)


def test_every_family_has_a_template() -> None:
    assert chat_template_names() == ("chatml", "llama3.2", "qwen2.5", "qwen3")
    for name in chat_template_names():
        assert chat_template_path(name).read_text(encoding="utf-8") == chat_template(name)


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"'gpt'.*chatml, llama3\.2, qwen2\.5, qwen3"):
        chat_template("gpt")


@pytest.mark.parametrize(
    ("name", "without_system", "with_system"),
    [
        ("chatml", CHATML_TURNS, CHATML_SYSTEM + CHATML_TURNS),
        ("qwen3", CHATML_TURNS, CHATML_SYSTEM + CHATML_TURNS),
        ("qwen2.5", QWEN_SYSTEM + CHATML_TURNS, CHATML_SYSTEM + CHATML_TURNS),
        (
            "llama3.2",
            LLAMA_SYSTEM + "<|eot_id|>" + LLAMA_TURNS,
            LLAMA_SYSTEM + "Be brief.<|eot_id|>" + LLAMA_TURNS,
        ),
    ],
)
def test_plain_conversation_is_the_familys_own(name: str, without_system: str, with_system: str) -> None:
    assert render(name, CONVERSATION) == without_system
    assert render(name, [SYSTEM, *CONVERSATION]) == with_system


@pytest.mark.parametrize("name", ["chatml", "qwen2.5", "qwen3"])
def test_calls_stay_in_one_turn_and_results_share_a_user_turn(name: str) -> None:
    assert render(name, [SYSTEM, *TOOLS_USED]) == (
        CHATML_SYSTEM + "<|im_start|>user\nWeather and time in Paris?<|im_end|>\n"
        f"<|im_start|>assistant\n{CALLS}<|im_end|>\n"
        f"<|im_start|>user\n{RESULTS}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_llama_shows_results_as_a_user_turn() -> None:
    assert render("llama3.2", TOOLS_USED).endswith(
        f"<|start_header_id|>assistant<|end_header_id|>\n\n{CALLS}<|eot_id|>"
        f"<|start_header_id|>user<|end_header_id|>\n\n{RESULTS}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )


@pytest.mark.parametrize("name", ["chatml", "llama3.2", "qwen2.5", "qwen3"])
def test_results_already_shown_as_a_user_turn_render_the_same(name: str) -> None:
    shown = [*TOOLS_USED[:2], {"role": "user", "content": RESULTS}]
    assert render(name, shown) == render(name, TOOLS_USED)


@pytest.mark.parametrize("name", ["chatml", "llama3.2", "qwen2.5", "qwen3"])
def test_tool_definitions_are_ignored(name: str) -> None:
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]
    assert render(name, CONVERSATION, tools=tools) == render(name, CONVERSATION)


def test_llama_takes_a_date() -> None:
    assert "Today Date: 26 Jul 2024\n\n" in render("llama3.2", CONVERSATION, date_string="26 Jul 2024")


def test_qwen3_can_skip_thinking() -> None:
    assert render("qwen3", CONVERSATION, enable_thinking=False) == CHATML_TURNS + "<think>\n\n</think>\n\n"


def test_qwen3_drops_the_reasoning_of_earlier_questions() -> None:
    thoughtful = [
        CONVERSATION[0],
        {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nHello."},
        CONVERSATION[2],
    ]
    assert render("qwen3", thoughtful) == CHATML_TURNS


def test_qwen3_keeps_the_reasoning_behind_open_calls() -> None:
    calls = {"role": "assistant", "content": CALLS, "reasoning_content": "Both tools.\n"}
    rendered = render("qwen3", [TOOLS_USED[0], calls, *TOOLS_USED[2:]])
    assert f"<|im_start|>assistant\n<think>\nBoth tools.\n</think>\n\n{CALLS}<|im_end|>\n" in rendered


@pytest.mark.parametrize("name", ["chatml", "llama3.2", "qwen2.5", "qwen3"])
def test_transformers_renders_the_same(name: str, model_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_path)
    rendered = tokenizer.apply_chat_template(
        [SYSTEM, *TOOLS_USED],
        chat_template=chat_template(name),
        add_generation_prompt=True,
        tokenize=False,
        date_string="26 Jul 2024",
    )
    variables = {"bos_token": tokenizer.bos_token, "date_string": "26 Jul 2024"}
    assert rendered == render(name, [SYSTEM, *TOOLS_USED], **variables)
