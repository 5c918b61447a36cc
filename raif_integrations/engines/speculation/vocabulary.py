"""Between tokens and text, as the model itself would divide it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

_ANCHOR: Final = "\n"
_UNKNOWN: Final = "\ufffd"
_MOST_HEADS: Final = 4096


class Vocabulary:
    """A tokenizer, as drafts need it.

    Args:
        tokenizer: A Hugging Face tokenizer, fast or ``tokenizers.Tokenizer`` itself.
        ends: Tokens that end a reply.

    Raises:
        TypeError: The tokenizer is not of that kind; it does not tell where its tokens begin.
    """

    def __init__(self, tokenizer: Any, ends: Sequence[int] = ()) -> None:
        backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
        if not hasattr(backend, "encode") or not hasattr(backend, "get_added_tokens_decoder"):
            raise TypeError(f"{type(tokenizer).__name__} is not a fast tokenizer.")
        self._backend = backend
        added = backend.get_added_tokens_decoder()
        special = {number: str(token.content) for number, token in added.items() if token.special}
        self.ends = frozenset(ends)
        """Tokens that end a reply."""
        self.end = ends[0] if ends else None
        """The token that ends a reply, as the model writes it; ``None`` if it is not known."""
        self.special = frozenset(special.values())
        """Texts of the special tokens."""
        self._opening = self._ids_of(_ANCHOR)
        self._anchor = self._opening[-1:]
        self._anchor_text = self.text(self._anchor)
        self._heads: dict[str, list[int]] = {}
        self._pieces: dict[int, str | None] = dict.fromkeys([*special, *self.ends])

    def _ids_of(self, text: str) -> list[int]:
        return list(self._backend.encode(text, add_special_tokens=False).ids)

    def text(self, ids: Sequence[int]) -> str:
        """The text of tokens, special ones included."""
        return str(self._backend.decode(list(ids), skip_special_tokens=False))

    def piece(self, number: int) -> str | None:
        """The text of one token inside a text; ``None`` for a special token or a part of a character."""
        piece = self._pieces.get(number, "")
        if piece == "":
            text = self._behind_anchor([number]) if number >= 0 else ""
            piece = self._pieces[number] = None if _UNKNOWN in text or not text else text
        return piece

    def inner(self, ids: Sequence[int]) -> str:
        """The text of tokens that stand inside a text; unfinished characters at the end are left out."""
        return self._behind_anchor(ids).rstrip(_UNKNOWN)

    def _behind_anchor(self, ids: Sequence[int]) -> str:
        return self.text([*self._anchor, *ids])[len(self._anchor_text) :]

    def sequel(self, ids: Sequence[int], text: str, following: str) -> list[int]:
        """The tokens a model writes for a text that follows another one.

        Where the first text was divided as the tokenizer divides both together, the tokens of both count:
        they may merge at the seam. Otherwise the model is on a way of its own, and the following text
        starts a new token.

        Args:
            ids: The tokens of the first text.
            text: Their text: the line, or the end of it from the beginning of a token on.
            following: The text to draft.
        """
        divided = self.ids(text + following)
        count = len(ids)
        if divided[:count] == list(ids):
            return divided[count:]
        return self.ids(following)

    def head(self, text: str) -> list[int]:
        """The tokens of a text of a cue that begins a line; looked up where they are known already."""
        ids = self._heads.get(text)
        if ids is None:
            if len(self._heads) >= _MOST_HEADS:
                self._heads.clear()
            ids = self._heads[text] = self.ids(text)
        return ids

    def ids(self, text: str) -> list[int]:
        """The tokens of a text that begins a line."""
        encoding = self._backend.encode(_ANCHOR + text, add_special_tokens=False)
        ids: list[int] = encoding.ids
        opening = self._opening
        if ids[: len(opening)] == opening:
            return ids[len(opening) :]
        offsets = encoding.offsets
        first = next((index for index, (start, _) in enumerate(offsets) if start >= 1), len(ids))
        if first == 0 or offsets[first - 1][1] > 1:
            return self._ids_of(text)
        return ids[first:]
