"""A tokenizer of single bytes and a model of two layers, made on the spot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """Each byte is a token; the chat template is ChatML."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|end|>", "<|im_start|>", "<|im_end|>"]
    vocabulary = {token: index for index, token in enumerate([*special, *alphabet])}
    made = Tokenizer(models.BPE(vocabulary, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|end|>",
        pad_token="<|end|>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
    )
    tokenizer.chat_template = _TEMPLATE
    return tokenizer


@pytest.fixture
def tiny_model(tokenizer: Any) -> Callable[[], Any]:
    """Makes the same random model again and again."""

    def make() -> Any:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM

        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=2048,
            eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>"),
        )
        return LlamaForCausalLM(config)

    return make


@pytest.fixture
def tiny_base(tmp_path: Path, tokenizer: Any, tiny_model: Callable[[], Any]) -> Path:
    """The folder of such a model with its tokenizer."""
    folder = tmp_path / "base"
    tiny_model().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
