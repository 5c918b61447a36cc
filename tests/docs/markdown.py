"""The parts of a Markdown file that tests look at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"))
    if path.is_file()
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        language: What stands behind the fence.
        code: What is inside.
        line: Line of the file on which ``code`` starts.
    """

    language: str
    code: str
    line: int

    @property
    def prints(self) -> list[str]:
        """What the block says it prints: the comment lines right below a line that prints."""
        said: list[str] = []
        listening = False
        for line in self.code.splitlines():
            if listening and line.startswith("# "):
                said.append(line.removeprefix("# "))
            else:
                listening = line.lstrip().startswith("print(")
        return said


def blocks(page: Path, language: str) -> list[Block]:
    """The blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start(2)) + 1)
        for match in _FENCE.finditer(text)
        if match[1] == language
    ]


def links(page: Path) -> list[str]:
    """The targets of a page's links, in order."""
    return _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8")))
