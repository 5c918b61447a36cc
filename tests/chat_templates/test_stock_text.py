"""Without tools each template renders what its family's own template renders.

The expected texts are what the templates published with Llama-3.2-3B-Instruct, Qwen2.5-7B-Instruct,
Qwen3-8B and, for ChatML, OpenAI's description of the format give for these conversations.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from raif_integrations import chat_template
from tests.chat_templates.rendering import render


def system(text: str) -> dict[str, str]:
    return {"role": "system", "content": text}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str, **more: str) -> dict[str, str]:
    return {"role": "assistant", "content": text, **more}


CHAT = [user("Hi"), assistant("Hello."), user("Bye")]
BRIEF = [system("Be brief."), *CHAT]
SPACED = [system(" Be brief.\n"), user("  Hi \n"), assistant("\nHello. "), user("Bye")]
LATE_SYSTEM = [user("Hi"), assistant("Hello."), system("Be rude."), user("Bye")]
THOUGHT = "<think>\nA greeting.\n</think>\n\nHello."

CHATML_CHAT = """\
<|im_start|>user
Hi<|im_end|>
<|im_start|>assistant
Hello.<|im_end|>
<|im_start|>user
Bye<|im_end|>
<|im_start|>assistant
"""
CHATML_BRIEF = """\
<|im_start|>system
Be brief.<|im_end|>
"""
CHATML_SPACED = """\
<|im_start|>system
 Be brief.
<|im_end|>
<|im_start|>user
  Hi\x20
<|im_end|>
<|im_start|>assistant

Hello. <|im_end|>
<|im_start|>user
Bye<|im_end|>
<|im_start|>assistant
"""
CHATML_LATE_SYSTEM = """\
<|im_start|>user
Hi<|im_end|>
<|im_start|>assistant
Hello.<|im_end|>
<|im_start|>system
Be rude.<|im_end|>
<|im_start|>user
Bye<|im_end|>
<|im_start|>assistant
"""
QWEN_SYSTEM = """\
<|im_start|>system
You are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>
"""
HI = """\
<|im_start|>user
Hi<|im_end|>
"""
OPEN = "<|im_start|>assistant\n"


@pytest.mark.parametrize("name", ["chatml", "qwen2.5", "qwen3"])
@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (BRIEF, CHATML_BRIEF + CHATML_CHAT),
        (SPACED, CHATML_SPACED),
        ([system(""), user("Hi")], "<|im_start|>system\n<|im_end|>\n" + HI + OPEN),
    ],
    ids=["system", "whitespace is kept", "an empty system message"],
)
def test_chatml_families_with_a_system_message(
    name: str, messages: list[dict[str, str]], expected: str
) -> None:
    assert render(name, messages) == expected
    assert render(name, messages, add_generation_prompt=False) == expected.removesuffix(OPEN)


@pytest.mark.parametrize(
    ("name", "default_system"), [("chatml", ""), ("qwen2.5", QWEN_SYSTEM), ("qwen3", "")]
)
@pytest.mark.parametrize(
    ("messages", "expected"),
    [(CHAT, CHATML_CHAT), (LATE_SYSTEM, CHATML_LATE_SYSTEM), ([user("Hi")], HI + OPEN)],
    ids=["chat", "a late system message", "one question"],
)
def test_chatml_families_without_one(
    name: str, default_system: str, messages: list[dict[str, str]], expected: str
) -> None:
    assert render(name, messages) == default_system + expected


# Qwen3


@pytest.mark.parametrize(
    ("variables", "end"),
    [
        ({}, ""),
        ({"enable_thinking": True}, ""),
        ({"enable_thinking": False}, "<think>\n\n</think>\n\n"),
    ],
    ids=["default", "thinking", "not thinking"],
)
def test_qwen3_may_be_kept_from_thinking(variables: dict[str, Any], end: str) -> None:
    assert render("qwen3", CHAT, **variables) == CHATML_CHAT + end
    assert render("qwen3", BRIEF, **variables) == CHATML_BRIEF + CHATML_CHAT + end


@pytest.mark.parametrize(
    "answer",
    [
        assistant(THOUGHT),
        assistant("<think>\n\n</think>\n\nHello."),
        assistant("A greeting.</think>\n\n\nHello."),
        assistant("Hello.", reasoning_content="A greeting."),
    ],
    ids=["thought", "empty thought", "no opening tag", "reasoning_content"],
)
def test_qwen3_drops_the_reasoning_of_earlier_questions(answer: dict[str, str]) -> None:
    assert render("qwen3", [user("Hi"), answer, user("Bye")]) == CHATML_CHAT


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (assistant("Hello."), "<think>\n\n</think>\n\nHello."),
        (assistant(THOUGHT), THOUGHT),
        (assistant("<think>A greeting.</think>Hello."), THOUGHT),
        (assistant("\n\nHello.", reasoning_content="\n\nA greeting.\n"), THOUGHT),
        (assistant(THOUGHT, reasoning_content="Else."), "<think>\nElse.\n</think>\n\n" + THOUGHT),
    ],
    ids=["none", "in the text", "on one line", "reasoning_content", "both"],
)
def test_qwen3_shows_the_reasoning_of_a_last_answer(answer: dict[str, str], shown: str) -> None:
    expected = f"{HI}<|im_start|>assistant\n{shown}<|im_end|>\n"
    assert render("qwen3", [user("Hi"), answer], add_generation_prompt=False) == expected


@pytest.mark.parametrize(
    ("first", "shown"),
    [
        (assistant("One."), "One."),
        (assistant("<think>\n\n</think>\n\nOne."), "One."),
        (assistant("<think>\nHm.\n</think>\n\nOne."), "<think>\nHm.\n</think>\n\nOne."),
    ],
    ids=["none", "empty", "some"],
)
def test_qwen3_shows_only_reasoning_there_was_before_the_last_answer(
    first: dict[str, str], shown: str
) -> None:
    rendered = render("qwen3", [user("Hi"), first, assistant("Two.")], add_generation_prompt=False)
    assert rendered == (
        f"{HI}<|im_start|>assistant\n{shown}<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\nTwo.<|im_end|>\n"
    )


# Llama 3.2

LLAMA_SYSTEM = """\
<|begin_of_text|><|start_header_id|>system<|end_header_id|>

Cutting Knowledge Date: December 2023
Today Date: {today}

{system}<|eot_id|>"""
LLAMA_CHAT = """\
<|start_header_id|>user<|end_header_id|>

Hi<|eot_id|><|start_header_id|>assistant<|end_header_id|>

Hello.<|eot_id|><|start_header_id|>user<|end_header_id|>

Bye<|eot_id|>"""
LLAMA_LATE_SYSTEM = """\
<|start_header_id|>user<|end_header_id|>

Hi<|eot_id|><|start_header_id|>assistant<|end_header_id|>

Hello.<|eot_id|><|start_header_id|>system<|end_header_id|>

Be rude.<|eot_id|><|start_header_id|>user<|end_header_id|>

Bye<|eot_id|>"""
LLAMA_OPEN = "<|start_header_id|>assistant<|end_header_id|>\n\n"


@pytest.mark.parametrize(
    ("messages", "said", "turns"),
    [
        (CHAT, "", LLAMA_CHAT),
        (BRIEF, "Be brief.", LLAMA_CHAT),
        (SPACED, "Be brief.", LLAMA_CHAT),
        (LATE_SYSTEM, "", LLAMA_LATE_SYSTEM),
    ],
    ids=["chat", "system", "whitespace is trimmed", "a late system message"],
)
def test_llama(messages: list[dict[str, str]], said: str, turns: str) -> None:
    expected = LLAMA_SYSTEM.format(today="01 Feb 2026", system=said) + turns
    assert render("llama3.2", messages) == expected + LLAMA_OPEN
    assert render("llama3.2", messages, add_generation_prompt=False) == expected


def test_llamas_date_can_be_given() -> None:
    expected = LLAMA_SYSTEM.format(today="26 July 2024", system="") + LLAMA_CHAT + LLAMA_OPEN
    assert render("llama3.2", CHAT, date_string="26 July 2024") == expected


def test_llamas_date_without_a_clock_is_the_familys_own() -> None:
    template = ImmutableSandboxedEnvironment(trim_blocks=True).from_string(chat_template("llama3.2"))
    rendered = template.render(messages=CHAT, bos_token="", add_generation_prompt=False)
    assert "\nToday Date: 26 Jul 2024\n\n" in rendered


def test_llamas_date_is_of_the_day_it_is_rendered() -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    before = datetime.now()
    (rendered,), _ = render_jinja_template(
        [CHAT], chat_template=chat_template("llama3.2"), bos_token="<|begin_of_text|>"
    )
    days = {day.strftime("%d %b %Y") for day in (before, datetime.now())}
    assert rendered in {LLAMA_SYSTEM.format(today=day, system="") + LLAMA_CHAT for day in days}
