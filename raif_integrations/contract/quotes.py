"""Texts in quotes: whether these belong to the text or are the writer's habit.

RAIF has no quotes, so ``name='Bob'`` says that the name is written with them. Models that learned other
notations quote every text. One text alone does not tell; all of them together do.
"""

from __future__ import annotations

from raif_integrations.contract.paths import Path
from raif_integrations.contract.reading import unquoted

HABITS = frozenset({"quotes_removed", "notation_normalized"})
"""Repairs that show a writer at home in another notation."""

QUOTES_MESSAGE = "the quotes around it may or may not belong to it"


class Quotes:
    """The quoted texts of one document.

    Attributes:
        doubtful: Path of each text in quotes, with the text between them.
    """

    def __init__(self) -> None:
        self.doubtful: list[tuple[Path, str]] = []
        self._plain = 0
        self._nested = False

    def see(self, path: Path, written: str) -> bool:
        """Takes a text as written; true if it stands in quotes."""
        inner = unquoted(written)
        if inner is None:
            self._plain += bool(written)
            return False
        self._nested = self._nested or written[0] in inner
        self.doubtful.append((path, inner))
        return True

    def is_habit(self, *, others: bool) -> bool:
        """Whether the quotes belong to no text: every text has them, and something else shows it too.

        Args:
            others: Something that is no text stood in quotes, or in another notation.
        """
        return not self._plain and not self._nested and (others or len(self.doubtful) > 1)
