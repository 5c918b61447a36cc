"""What is found while a text is read: repairs, errors, truncation."""

from __future__ import annotations

from raif_integrations.contract.emission import Emitter
from raif_integrations.contract.paths import Path
from raif_integrations.contract.quotes import HABITS, QUOTES_MESSAGE
from raif_integrations.contract.reading import DOUBTFUL_QUOTES, Note
from raif_integrations.contract.report import FieldError, Repair
from raif_integrations.contract.validation import excerpt_of, path_text

_MOST_REPAIRS = 200


class Findings:
    """The report of one text under construction. After an error nothing more is emitted.

    Args:
        emitter: The emitter of the text, or ``None``.
        envelope: Paths begin with the key of the envelope, which is left out of reports.
        constrained: The text was generated under the contract's grammar.

    Attributes:
        errors: What could not be read.
        repairs: What was put right.
        truncated: The text ends before a unit does.
    """

    def __init__(self, emitter: Emitter | None, *, envelope: bool, constrained: bool) -> None:
        self._emitter = emitter
        self._skip = 1 if envelope else 0
        self._constrained = constrained
        self.errors: list[FieldError] = []
        self.repairs: list[Repair] = []
        self.truncated = False

    def note(self, kind: str, detail: str, path: Path = ()) -> None:
        """Adds a repair."""
        if len(self.repairs) < _MOST_REPAIRS:
            self.repairs.append(Repair(kind, path_text(path[self._skip :]), excerpt_of(detail)))

    def note_once(self, kind: str, detail: str) -> None:
        """Adds a repair of the whole text, if there is none of its kind."""
        if not self.has(kind):
            self.note(kind, detail)

    def noting(self, path: Path) -> Note:
        """Takes the repairs of one field."""

        def take(kind: str, detail: str) -> None:
            if kind != DOUBTFUL_QUOTES:
                self.note(kind, detail, path)
            elif not self._constrained:
                self.fail(path, "syntax", QUOTES_MESSAGE, detail)

        return take

    def has(self, *kinds: str) -> bool:
        """Whether there is a repair of one of the kinds."""
        return any(repair.kind in kinds for repair in self.repairs)

    @property
    def shows_habit(self) -> bool:
        """The text is written in the habit of another notation."""
        return self.has(*HABITS)

    def fail(self, path: Path, rule: str, message: str, excerpt: str = "") -> None:
        """Adds an error."""
        self.errors.append(FieldError(path_text(path[self._skip :]), rule, message, excerpt_of(excerpt)))
        if self._emitter is not None:
            self._emitter.hold()

    def truncate(self, path: Path, message: str) -> None:
        """Reports the field that the end of the text falls into."""
        self.truncated = True
        self.fail(path, "truncated", message)
