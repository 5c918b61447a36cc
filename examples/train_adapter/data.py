"""The examples of a run, encoded once and kept beside its checkpoints."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from train_adapter.answering import answers
from train_adapter.encoding import Encoded, encode
from train_adapter.items import Item
from train_adapter.prompts import Example, Format, examples_of

_CHAT_TOKENS = 48
_MOST_CHAT = 128


def load_items(path: Path) -> list[Item]:
    """Reads a file of exercises.

    Raises:
        ValueError: A line is not one; the message names it.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found.append(Item.from_dict(json.loads(line)))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}, line {number} is no exercise: {error}.") from None
    return found


def encoded(path: Path, tokenizer: Any, model: Any, form: Format, longest: int, cache: Path) -> list[Encoded]:
    """The examples of a file of exercises.

    Args:
        path: The exercises.
        tokenizer: The base model's.
        model: The base model; it answers the exercises that are plain chat, so that it goes on chatting
            as it did.
        form: What the model learns to write.
        longest: Most tokens of an example; longer ones are left out.
        cache: File to keep the result in.
    """
    mark = f"{form} {longest} {tokenizer.name_or_path} "
    mark += hashlib.sha256(path.read_bytes() + str(tokenizer.chat_template).encode()).hexdigest()
    if cache.is_file():
        kept = json.loads(cache.read_text(encoding="utf-8"))
        if kept["mark"] == mark:
            return [Encoded(tuple(ids), start) for ids, start in kept["examples"]]
    found = _encode(load_items(path), tokenizer, model, form, longest)
    cache.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"mark": mark, "examples": [[one.ids, one.start] for one in found]})
    cache.write_text(text, encoding="utf-8")
    return found


def _encode(items: list[Item], tokenizer: Any, model: Any, form: Format, longest: int) -> list[Encoded]:
    from tqdm import tqdm

    found: list[Encoded] = []
    chat: list[Item] = []
    for item in tqdm(items, desc="encoding", unit=" exercises", mininterval=2):
        if item.kind == "chat" and item.reply is None:
            chat.append(item)
            continue
        found += [encode(tokenizer, example) for example in examples_of(item, form)]
    found += _chat(chat[:_MOST_CHAT], tokenizer, model)
    kept = [one for one in found if len(one.ids) <= longest]
    if len(kept) < len(found):
        print(f"{len(found) - len(kept)} examples have more than {longest} tokens: left out", file=sys.stderr)
    return kept


def _chat(items: list[Item], tokenizer: Any, model: Any) -> list[Encoded]:
    """Plain chat, answered by the base model itself; a long answer is learnt as far as it goes."""
    found: list[Encoded] = []
    for at in range(0, len(items), 32):
        asked = [Example("chat", item.messages, "") for item in items[at : at + 32]]
        prompts = [encode(tokenizer, example, ends=False).ids for example in asked]
        said = answers(model, tokenizer, prompts, _CHAT_TOKENS)
        found += [Encoded((*p, *answer), len(p)) for p, answer in zip(prompts, said, strict=True)]
    return found
