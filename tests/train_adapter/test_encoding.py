"""Token ids: the loss is on the answer and its end, and on nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from train_adapter.encoding import batches, encode
from train_adapter.prompts import Example

CONVERSATION = [
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": "second"},
    {"role": "user", "content": "Oslo, é\n\n<schema>\ncity:s\n</schema>"},
]


def test_only_the_last_answer_and_its_end_are_learnt(tokenizer: Any) -> None:
    encoded = encode(tokenizer, Example("record", CONVERSATION, "city=Oslo"))
    given, learnt = encoded.ids[: encoded.start], encoded.ids[encoded.start :]
    assert tokenizer.decode(learnt) == "city=Oslo<|im_end|>"
    assert tokenizer.decode(given) == tokenizer.apply_chat_template(
        CONVERSATION, tokenize=False, add_generation_prompt=True
    )
    assert encoded.learnt == len("city=Oslo") + 1


def test_a_text_that_was_cut_off_has_no_end(tokenizer: Any) -> None:
    encoded = encode(tokenizer, Example("chat", CONVERSATION, "well"), ends=False)
    assert tokenizer.decode(encoded.ids[encoded.start :]) == "well"


def test_a_template_without_an_end_token_takes_the_tokenizers(tokenizer: Any) -> None:
    plain = tokenizer.__class__(tokenizer_object=tokenizer.backend_tokenizer, eos_token="<|end|>")
    plain.chat_template = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"
    encoded = encode(plain, Example("record", CONVERSATION, "a=b"))
    assert encoded.ids[-1] == plain.eos_token_id


@pytest.mark.parametrize("tokens", [50, 200, 1000])
def test_batches_hold_every_example_once_within_their_room(tokens: int) -> None:
    lengths = [(index * 37) % 90 + 1 for index in range(700)]
    made = batches(lengths, tokens, seed=3)
    assert sorted(index for batch in made for index in batch) == list(range(700))
    for batch in made:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= tokens


def test_the_order_depends_on_the_seed_only() -> None:
    lengths = [(index * 37) % 90 + 1 for index in range(700)]
    assert batches(lengths, 200, seed=3) == batches(lengths, 200, seed=3)
    assert batches(lengths, 200, seed=3) != batches(lengths, 200, seed=4)
