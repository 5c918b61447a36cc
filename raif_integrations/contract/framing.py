"""What models write around a document: reasoning, fences, markers, prose."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from raif_integrations.contract.layout import CLOSE, OPEN, WHITESPACE
from raif_integrations.contract.reading import find_top

Separator: TypeAlias = Literal["=", ":", "::"]

REASONING = re.compile(r"[ \t]*<(think|thinking|reasoning|thought)>")
START_MARKERS = frozenset({"<raif>", "<|raif_start|>"})
END_MARKERS = frozenset(
    {"</raif>", "<|raif_end|>", "</tool_call>", "</schema>", "<|im_end|>", "<|eot_id|>", "</s>"}
)
FENCE = re.compile(r"[ \t]*(```|~~~)[^`=:]*$")
JSON_START = re.compile(r"""\s*[{\[]\s*(?:["'}\]{\[]|-?[0-9]|true|false|null|$)""")

_TAGGED = re.compile(r"([sntbo])=")


class WrittenLeaf(NamedTuple):
    """A line taken apart.

    Attributes:
        key: The path as written.
        separator: What stands behind it.
        tag: The type tag, if any.
        rest: The text after separator and tag.
        relaxed: Another notation's spaces, quotes and comma were taken away.
    """

    key: str
    separator: Separator
    tag: str | None
    rest: str
    relaxed: bool = False


def split_leaf(line: str) -> WrittenLeaf | None:
    """Takes a line apart at its first separator outside of a quoted key; ``None`` if there is none."""
    position = min((at for at in (find_top(line, "="), find_top(line, ":")) if at >= 0), default=-1)
    if position <= 0:
        return None
    return _split_at(line, position)


def split_after(line: str, key: str) -> WrittenLeaf | None:
    """Takes a line apart behind a first key that is known to stand unquoted at its start."""
    rest = line[len(key) :]
    if rest[:1] in ("=", ":"):
        return _split_at(line, len(key))._replace(key=f"{OPEN}{key}{CLOSE}")
    below = split_leaf(rest) if rest[:1] in (".", "[") else None
    return below._replace(key=f"{OPEN}{key}{CLOSE}{below.key}") if below is not None else None


def _split_at(line: str, position: int) -> WrittenLeaf:
    key, rest = line[:position], line[position + 1 :]
    if line[position] == "=":
        return WrittenLeaf(key, "=", None, rest)
    if rest.startswith(":"):
        return WrittenLeaf(key, "::", None, rest[1:])
    tagged = _TAGGED.match(rest)
    if tagged:
        return WrittenLeaf(key, "=", tagged.group(1), rest[2:])
    return WrittenLeaf(key, ":", None, rest)


def relaxed(leaf: WrittenLeaf) -> WrittenLeaf:
    """A leaf without the spaces, quotes and comma of another notation.

    These are ``key: value``, ``key = value`` and ``"key": "value",``; any other leaf stays as it is.
    """
    key = leaf.key.strip(WHITESPACE)
    quoted_key = len(key) > 2 and key[0] in "'\"" and key[-1] == key[0]
    spaced = leaf.separator == ":" or (leaf.key != key and leaf.key.endswith(" ")) or quoted_key
    if not spaced or key.startswith(OPEN):
        return leaf
    rest = leaf.rest.strip(WHITESPACE)
    if quoted_key:
        key = key[1:-1]
        rest = rest.removesuffix(",")
    if len(rest) >= 2 and rest[0] in "'\"" and rest[-1] == rest[0] and rest[0] not in rest[1:-1]:
        rest = rest[1:-1]
    return WrittenLeaf(key, leaf.separator if leaf.separator == "::" else "=", leaf.tag, rest, relaxed=True)
