"""Keeps a leading ``<think>…</think>`` apart from the answer, piece by piece."""

from __future__ import annotations

_OPEN = "<think>"
_CLOSE = "</think>"


class ReasoningSplitter:
    """Splits a reply into reasoning and answer while it is written.

    Only a ``<think>`` at the very start counts; later ones are part of the answer. Each piece is
    looked at once, so the cost is linear.

    Args:
        inside: The reply begins inside the reasoning: the chat template wrote the ``<think>``.
    """

    def __init__(self, *, inside: bool = False) -> None:
        self._state = "thinking" if inside else "start"
        self._held = ""

    @property
    def ended(self) -> bool:
        """What comes from now on is the answer."""
        return self._state in ("after", "answer")

    def push(self, text: str) -> tuple[str, str]:
        """Takes the next piece.

        Args:
            text: New text of the reply.

        Returns:
            New reasoning and new answer text; either may be empty.
        """
        if self._state == "answer" and not self._held:
            return "", text
        self._held += text
        reasoning = ""
        if self._state == "start":
            stripped = self._held.lstrip()
            if len(stripped) < len(_OPEN) and _OPEN.startswith(stripped):
                return "", ""
            if not stripped.startswith(_OPEN):
                self._state = "answer"
                return "", self._take(len(self._held))
            self._state = "thinking"
            self._held = stripped[len(_OPEN) :]
        if self._state == "thinking":
            end = self._held.find(_CLOSE)
            if end < 0:
                return self._take(len(self._held) - _overlap(self._held, _CLOSE)), ""
            reasoning = self._take(end)
            self._held = self._held[len(_CLOSE) :]
            self._state = "after"
        self._held = self._held.lstrip()
        if not self._held:
            return reasoning, ""
        self._state = "answer"
        return reasoning, self._take(len(self._held))

    def finish(self) -> tuple[str, str]:
        """Ends the reply and hands out what was held back: as reasoning if thinking never ended."""
        held = self._take(len(self._held))
        if self._state == "thinking":
            return held, ""
        return ("", held) if self._state == "start" else ("", "")

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that begins ``tag``."""
    for length in range(min(len(text), len(tag) - 1), 0, -1):
        if tag.startswith(text[-length:]):
            return length
    return 0
