"""Units that span several lines: text blocks, array literals.

A sink takes the lines of its unit until it is done. What it cannot decide before the end of the text (a
block whose closing line never comes) it decides in :meth:`finish`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from raif_integrations.contract.layout import CLOSE

_CLOSER_LIKE = re.compile(r">{1,3}[0-9a-fA-F]*")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a sink ended at the end of the text.

    Attributes:
        text: The text of the block, or ``None`` if it was cut off.
        replay: Lines that turned out to stand behind the block.
        repair: What was put right, if anything.
    """

    text: str | None
    replay: list[str] = field(default_factory=list)
    repair: str | None = None


class Block:
    """A text between ``<<<`` and ``>>>``.

    Args:
        nonce: The hexadecimal characters behind the opening.
        crlf: The opening line ended in a carriage return: so does every line.

    Attributes:
        lines: The lines so far.
        length: Length of the text so far.
    """

    def __init__(self, nonce: str, *, crlf: bool) -> None:
        self._closer = CLOSE + nonce
        self._nonce = nonce
        self._crlf = crlf
        self._suspect = False
        self.lines: list[str] = []
        self.length = 0

    @property
    def is_certain(self) -> bool:
        """No line so far may have been meant as the closing one."""
        return not self._suspect

    def feed(self, line: str) -> bool:
        """Takes a line; true if it closes the block."""
        bare = line[:-1] if line.endswith("\r") else line
        if bare == self._closer:
            return True
        if not self._suspect and _CLOSER_LIKE.fullmatch(bare):
            self._suspect = True
        content = line[:-1] if self._crlf and line.endswith("\r") else line
        self.length += len(content) + (1 if self.lines else 0)
        self.lines.append(content)
        return False

    @property
    def text(self) -> str:
        """The text so far."""
        return "\n".join(self.lines)

    def finish(self) -> Ending:
        """Decides where a block without its closing line ends."""
        exact = [index for index, line in enumerate(self.lines) if re.fullmatch(r">>>[0-9a-fA-F]*\r?", line)]
        if len(exact) == 1:
            return self._ending(exact[0], "closing_line_repaired")
        if exact:
            return Ending(None)
        short = [
            index for index, line in enumerate(self.lines) if re.fullmatch(rf">{{1,2}}{self._nonce}\r?", line)
        ]
        return self._ending(short[0], "closing_line_repaired") if len(short) == 1 else Ending(None)

    def _ending(self, index: int, repair: str) -> Ending:
        return Ending("\n".join(self.lines[:index]), self.lines[index + 1 :], repair)


class LooseBlock:
    """A text behind a doubtful opening (``<``, ``<<``, ``<<<text``), which may be no block at all.

    Args:
        first: The text on the opening line that belongs to the block, or ``None``.
        verbatim: What the line says if it opens no block.
        nonce: The hexadecimal characters behind the opening.
    """

    def __init__(self, first: str | None, verbatim: str, nonce: str = "") -> None:
        self._first = first
        self._verbatim = verbatim
        self._nonce = nonce
        self.lines: list[str] = []

    def feed(self, line: str) -> bool:
        """Takes a line; nothing is decided before the end of the text."""
        self.lines.append(line)
        return False

    def finish(self) -> Ending:
        """The block up to its closing line; without one, the opening line was the whole value."""
        for index, line in enumerate(self.lines):
            bare = line.rstrip("\r")
            if self._first is not None and bare.endswith(CLOSE):
                text = "\n".join([self._first, *self.lines[:index], bare[: -len(CLOSE)]])
                return Ending(text, self.lines[index + 1 :], "opening_line_repaired")
            if self._first is None and re.fullmatch(rf">{{1,3}}{self._nonce}", bare):
                return Ending("\n".join(self.lines[:index]), self.lines[index + 1 :], "opening_line_repaired")
        if self._first is not None:
            return Ending(None)
        return Ending(self._verbatim, self.lines)
