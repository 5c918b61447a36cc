"""Replies replayed token by token, as an engine would hand them to a drafter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from raif_integrations.contract import OutputContract
from raif_integrations.conversation.prompt import cue_block
from raif_integrations.engines.speculation.prompts import read_prompt
from raif_integrations.engines.speculation.reply import Reply
from raif_integrations.engines.speculation.vocabulary import Vocabulary

END = "<|im_end|>"


def load(model: Path) -> Vocabulary:
    """The tokenizer of a model folder."""
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    return Vocabulary(tokenizer, [tokenizer.token_to_id(END)])


def chat(request: str, block: str = "") -> str:
    """A rendered prompt with a cue, as ChatML shows it."""
    asked = f"{request}\n\n{block}" if block else request
    return f"<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n"


def prompt_for(request: str, schema: dict[str, Any], *, trained: bool = True) -> str:
    """A rendered prompt that asks for an object."""
    return chat(request, cue_block(OutputContract.from_json_schema(schema), trained=trained))


@dataclass
class Replay:
    """One reply, fed by text.

    Attributes:
        vocabulary: The tokenizer.
        reply: The reply.
    """

    vocabulary: Vocabulary
    reply: Reply

    @classmethod
    def of(cls, vocabulary: Vocabulary, prompt: str) -> Replay:
        asked = read_prompt(prompt, max(0, len(prompt) - 200), vocabulary.special)
        assert asked is not None, prompt
        return cls(vocabulary, Reply(asked, vocabulary))

    def write(self, text: str) -> Replay:
        """Takes a text, divided as the model would divide it."""
        self.reply.advance(self.vocabulary.ids(text))
        return self

    def draft(self, most: int = 200, chance: float = 0.0) -> str:
        """The draft as text."""
        return self.vocabulary.text(self.reply.draft(most, chance))


def accepted(draft: Sequence[int], right: Sequence[int]) -> int:
    """How many tokens of a draft are right."""
    count = 0
    while count < min(len(draft), len(right)) and draft[count] == right[count]:
        count += 1
    return count
