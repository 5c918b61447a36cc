"""The small model's tokenizer, and what a server makes of replies with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from tests.vllm_plugin.chat_requests import Replies


@pytest.fixture(scope="session")
def tokenizer(model_path: Path) -> Any:
    return AutoTokenizer.from_pretrained(model_path)


@pytest.fixture(scope="session")
def thinking_tokenizer(model_path: Path) -> Any:
    """A tokenizer that knows the tags of reasoning as tokens."""
    made = AutoTokenizer.from_pretrained(model_path)
    made.add_tokens(["<think>", "</think>"])
    return made


@pytest.fixture(scope="session")
def replies(tokenizer: Any) -> Replies:
    return Replies(tokenizer)


@pytest.fixture(scope="session")
def thinking_replies(thinking_tokenizer: Any) -> Replies:
    return Replies(thinking_tokenizer)
