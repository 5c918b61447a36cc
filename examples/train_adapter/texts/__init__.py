"""Reads the word pools and templates that lie beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent


def _lines(name: str) -> list[str]:
    """The lines of a file, without comments."""
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("# ")]


@cache
def templates(name: str) -> tuple[str, ...]:
    """Templates of several lines, apart by a line ``%%``."""
    return tuple(part.strip("\n") for part in "\n".join(_lines(name)).split("\n%%\n"))


@cache
def lines(name: str) -> tuple[str, ...]:
    """Templates of one line."""
    return tuple(line for line in _lines(name) if line)


@cache
def blocks(name: str) -> tuple[tuple[str, ...], ...]:
    """Groups of lines, apart by empty lines."""
    groups = "\n".join(_lines(name)).split("\n\n")
    return tuple(tuple(group.strip("\n").split("\n")) for group in groups if group.strip())


@cache
def sections(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Groups of lines under headers in brackets; an escaped line break in a line becomes one."""
    found: list[tuple[str, list[str]]] = []
    for line in _lines(name):
        if line.startswith("[") and line.endswith("]"):
            found.append((line[1:-1], []))
        elif line and found:
            found[-1][1].append(line.replace("\\n", "\n"))
    return tuple((head, tuple(below)) for head, below in found)


@cache
def phrases(head: str) -> tuple[str, ...]:
    """The lines under one header of ``phrases.txt``."""
    return dict(sections("phrases.txt"))[head]


@cache
def pool(name: str) -> tuple[str, ...]:
    """The words of a pool."""
    below = dict(sections("pools.txt"))[name]
    return tuple(word for line in below for word in line.split(" | "))
