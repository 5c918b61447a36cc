"""Which chat template ``raif-integrations serve`` gives to vLLM."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raif_integrations import chat_template_path
from raif_integrations.errors import ConfigurationError
from tests.cli.fake_vllm import Compose, flags_of


def test_a_model_with_a_template_keeps_it(compose: Compose) -> None:
    command = compose()
    assert "chat-template" not in flags_of(command)
    assert command.decisions["chat template"] == "the model's own"


@pytest.mark.parametrize("name", ["chat_template.jinja", "chat_template.json"])
def test_a_template_in_a_file_of_its_own_counts(name: str, compose: Compose, model: Path) -> None:
    (model / "tokenizer_config.json").write_text('{"model_max_length": 1}')
    (model / name).write_text("{}")
    assert "chat-template" not in flags_of(compose())


def test_a_model_without_one_gets_its_familys(compose: Compose, model: Path) -> None:
    (model / "tokenizer_config.json").write_text(
        json.dumps({"added_tokens_decoder": {"151644": {"content": "<|im_start|>"}}})
    )
    command = compose()
    assert flags_of(command).value("chat-template") == str(chat_template_path("qwen3"))
    assert "qwen3" in command.decisions["chat template"]
    assert "has none" in command.decisions["chat template"]


def test_the_tokens_may_stand_in_tokenizer_json(compose: Compose, model: Path) -> None:
    (model / "config.json").write_text('{"model_type": "llama"}')
    (model / "tokenizer_config.json").write_text('{"model_max_length": 1}')
    (model / "tokenizer.json").write_text('{"added_tokens": [{"content": "<|start_header_id|>"}]}')
    assert flags_of(compose()).value("chat-template") == str(chat_template_path("llama3.2"))


def test_a_model_of_no_known_family_is_an_error_before_it_is_loaded(compose: Compose, model: Path) -> None:
    (model / "tokenizer_config.json").write_text('{"model_max_length": 1}')
    with pytest.raises(ConfigurationError, match=r"no chat template .*'qwen3'.*--chat-template"):
        compose()
    assert "chat-template" not in flags_of(compose(chat_template="none"))


def test_the_tokenizers_folder_is_where_the_template_would_be(
    compose: Compose, model: Path, tmp_path: Path
) -> None:
    (model / "tokenizer_config.json").unlink()
    other = tmp_path / "tokenizer"
    other.mkdir()
    (other / "tokenizer_config.json").write_text(
        '{"added_tokens_decoder": {"0": {"content": "<|im_start|>"}}}'
    )
    command = compose("--tokenizer", str(other))
    assert flags_of(command).value("chat-template") == str(chat_template_path("qwen3"))


def test_a_model_that_tells_nothing_is_left_to_vllm(compose: Compose, model: Path) -> None:
    (model / "tokenizer_config.json").unlink()
    command = compose()
    assert "chat-template" not in flags_of(command)
    assert "left to vLLM" in command.decisions["chat template"]


def test_a_template_can_be_named_or_be_a_path(compose: Compose, tmp_path: Path) -> None:
    own = tmp_path / "own.jinja"
    own.write_text("{{ messages }}")
    assert flags_of(compose(chat_template="chatml")).value("chat-template") == str(
        chat_template_path("chatml")
    )
    assert flags_of(compose(chat_template=str(own))).value("chat-template") == str(own)
    with pytest.raises(ConfigurationError, match=r"'chatlm'.*auto, none, or one of: chatml"):
        compose(chat_template="chatlm")
