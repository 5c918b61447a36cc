"""``raif-integrations template``."""

from __future__ import annotations

from pathlib import Path

import pytest

from raif_integrations import chat_template_names, chat_template_path
from raif_integrations.chat_templates import fitting_chat_template, served_families
from raif_integrations.cli import main

CHATML = ["<|im_start|>", "<|im_end|>"]


@pytest.mark.parametrize("name", chat_template_names())
def test_a_name_prints_the_path(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["template", name]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert Path(line) == chat_template_path(name)
    assert Path(line).is_file()


def test_without_a_name_all_are_listed_with_their_families(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["template"]) == 0
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert listed == {name: served_families(name) for name in chat_template_names()}


def test_an_unknown_name_is_answered_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["template", "llama4"]) == 2
    said = capsys.readouterr().err
    assert "'llama4'" in said
    assert all(name in said for name in chat_template_names())


@pytest.mark.parametrize(
    ("model_type", "tokens", "name"),
    [
        ("llama", ["<|begin_of_text|>", "<|start_header_id|>", "<|eot_id|>"], "llama3.2"),
        ("llama", CHATML, "chatml"),
        ("qwen2", CHATML, "qwen2.5"),
        ("qwen2_moe", CHATML, "qwen2.5"),
        ("qwen3", CHATML, "qwen3"),
        ("qwen3_moe", CHATML, "qwen3"),
        ("mistral", CHATML, "chatml"),
        ("qwen3", [], None),
        ("llama", ["<s>", "</s>"], None),
        ("", [], None),
    ],
)
def test_the_fitting_template_follows_type_and_tokens(
    model_type: str, tokens: list[str], name: str | None
) -> None:
    assert fitting_chat_template(model_type, tokens) == name


def test_the_page_shows_the_list_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    assert main(["template"]) == 0
    listed = capsys.readouterr().out
    assert f"$ raif-integrations template\n{listed}$" in page.read_text(encoding="utf-8")
