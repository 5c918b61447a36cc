"""Findings as a list for people, or as JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from raif_integrations.cli.console import say
from raif_integrations.cli.diagnosis.findings import Finding, Level

_COLOURS: dict[Level, str] = {"ok": "32", "info": "2", "warn": "33", "fail": "1;31"}
_SIGNS: dict[Level, str] = {"ok": "ok", "info": "-", "warn": "warn", "fail": "FAIL"}
_SIGN_WIDTH = max(map(len, _SIGNS.values()))
_SUBJECT_WIDTH = 18
_INDENT = " " * (2 + _SIGN_WIDTH + 2 + _SUBJECT_WIDTH + 2)
_NARROWEST = 40


class Listing:
    """Prints findings as they come."""

    def __init__(self) -> None:
        self._coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._width = max(shutil.get_terminal_size().columns - len(_INDENT), _NARROWEST)
        self._sections = 0

    def section(self, title: str) -> None:
        """Begins a section."""
        if self._sections:
            say()
        self._sections += 1
        say(self._styled(title, "1"))

    def add(self, finding: Finding) -> None:
        """Prints a finding and its remedy."""
        sign = self._styled(f"{_SIGNS[finding.level]:<{_SIGN_WIDTH}}", _COLOURS[finding.level])
        first, *rest = self._lines(finding.text) or [""]
        say(f"  {sign}  {finding.subject:<{_SUBJECT_WIDTH}}  {first}")
        for line in rest:
            say(f"{_INDENT}{line}")
        for number, line in enumerate(self._lines(finding.remedy or "", margin=3)):
            say(f"{_INDENT}{'   ' if number else '-> '}{line}")

    def end(self, findings: Sequence[Finding]) -> None:
        """Prints the sum."""
        counts = Counter(finding.level for finding in findings)
        named: tuple[tuple[Level, str], ...] = (("fail", "problem"), ("warn", "warning"))
        problems = [
            f"{counts[level]} {word}{'' if counts[level] == 1 else 's'}"
            for level, word in named
            if counts[level]
        ]
        say(f"\n{' and '.join(problems) or 'Everything is in order'}.")

    def _lines(self, text: str, *, margin: int = 0) -> list[str]:
        return [
            piece
            for line in text.splitlines()
            for piece in wrap(line, self._width - margin, break_long_words=False, break_on_hyphens=False)
        ]

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._coloured else text


def as_json(sections: Mapping[str, Iterable[Finding]]) -> str:
    """The findings as JSON: whether all is well, and each finding with its section."""
    findings = [
        {
            "section": section,
            "level": finding.level,
            "subject": finding.subject,
            "text": finding.text,
            "remedy": finding.remedy,
        }
        for section, found in sections.items()
        for finding in found
    ]
    healthy = all(finding["level"] != "fail" for finding in findings)
    return json.dumps({"ok": healthy, "findings": findings}, indent=2, ensure_ascii=False)
