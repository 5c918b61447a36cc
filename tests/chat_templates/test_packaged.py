"""The templates as files: named, complete, and rendered alike by transformers and vLLM."""

from __future__ import annotations

from pathlib import Path

import pytest

from raif_integrations import chat_template, chat_template_names, chat_template_path
from raif_integrations.chat_templates import served_families
from raif_integrations.errors import ConfigurationError
from tests.chat_templates.rendering import NAMES, render
from tests.chat_templates.test_tool_histories import HISTORIES, SYSTEM


def test_every_family_has_a_template() -> None:
    assert chat_template_names() == ("chatml", "llama3.2", "qwen2.5", "qwen3")
    for name in chat_template_names():
        assert chat_template_path(name).read_text(encoding="utf-8") == chat_template(name)
        assert served_families(name)


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"'gpt'.*chatml, llama3\.2, qwen2\.5, qwen3"):
        chat_template("gpt")


def shared_part(name: str) -> str:
    """The macros that write past calls, which vLLM cannot include from another file."""
    text = chat_template(name)
    begin, end = text.index("{#- Past tool calls as RAIF-G"), text.rindex("{%- endmacro %}")
    return text[begin:end]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_templates_share_is_the_same_in_each(name: str) -> None:
    assert shared_part(name) == shared_part(NAMES[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_transformers_renders_the_same(name: str, history: list[dict[str, object]]) -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    variables = {"bos_token": "<s>", "date_string": "26 Jul 2024", "add_generation_prompt": True}
    (rendered,), _ = render_jinja_template(
        [[SYSTEM, *history]], chat_template=chat_template(name), **variables
    )
    assert rendered == render(name, [SYSTEM, *history], **variables)


@pytest.mark.parametrize("name", NAMES)
def test_a_models_tokenizer_takes_it(name: str, model_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_path)
    history = HISTORIES["in two rounds"]
    rendered = tokenizer.apply_chat_template(
        history,
        chat_template=chat_template(name),
        add_generation_prompt=True,
        tokenize=False,
        date_string="26 Jul 2024",
    )
    assert rendered == render(name, history, bos_token=tokenizer.bos_token, date_string="26 Jul 2024")
