"""Tokenizers by name or path, as functions that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from raif_integrations._extras import ExplainMissingExtra
from raif_integrations.errors import ConfigurationError

_TIKTOKEN = "tiktoken:"
_HINT = "Give a folder with tokenizer.json, the hub name of a model, or tiktoken:o200k_base."


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts what a text costs.

    Attributes:
        name: The tokenizer.
        unit: What is counted: ``tokens``, or ``bytes`` without a tokenizer.
        count: The number of them in a text.
    """

    name: str
    unit: str
    count: Callable[[str], int]


def load_counter(name: str | None) -> Counter:
    """Loads a tokenizer.

    Args:
        name: Folder, ``tokenizer.json`` or hub name; ``tiktoken:`` and an encoding's name; ``None`` counts
            UTF-8 bytes.

    Raises:
        ConfigurationError: There is no such tokenizer.
        ImportError: The library that reads it is not installed.
    """
    if name is None:
        return Counter("no tokenizer", "bytes", lambda text: len(text.encode()))
    if name.startswith(_TIKTOKEN):
        return _tiktoken(name.removeprefix(_TIKTOKEN))
    with ExplainMissingExtra():
        from tokenizers import Tokenizer
    path = Path(name)
    if path.is_dir():
        path /= "tokenizer.json"
    try:
        if path.is_file():
            tokenizer = Tokenizer.from_file(str(path))
        elif Path(name).exists():
            raise ConfigurationError(f"{name} holds no tokenizer.json.", hint=_HINT)
        else:
            tokenizer = Tokenizer.from_pretrained(name)
    except ConfigurationError:
        raise
    except Exception as error:  # the library raises bare exceptions, and the hub's own
        raise ConfigurationError(f"The tokenizer {name!r} cannot be loaded: {error}", hint=_HINT) from error
    shown = Path(name).resolve().name if Path(name).exists() else name
    return Counter(shown, "tokens", lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids))


def _tiktoken(encoding: str) -> Counter:
    with ExplainMissingExtra():
        import tiktoken
    try:
        found = tiktoken.get_encoding(encoding)
    except Exception as error:  # an unknown name, or no network to download it
        raise ConfigurationError(
            f"The tiktoken encoding {encoding!r} cannot be loaded: {error}",
            hint="Its file is downloaded at the first use.",
        ) from error
    return Counter(f"{_TIKTOKEN}{encoding}", "tokens", lambda text: len(found.encode_ordinary(text)))
