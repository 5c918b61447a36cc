"""One written value to one typed value.

The shape of the place decides what a text means; a ``:s=``-like tag only chooses among the types the
shape allows. Where the shape allows a single reading, careless forms (quotes around a number, ``True``)
are read and noted; where it does not, they are refused.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable
from typing import Any, TypeAlias

from raif_integrations.contract.layout import CLOSE, NUMBER, OPEN, WHITESPACE
from raif_integrations.contract.numerals import parse_number
from raif_integrations.contract.shape import (
    ARRAY,
    BOOLEAN,
    EVERY_KIND,
    NULL,
    OBJECT,
    STRING,
    Shape,
)
from raif_integrations.contract.shape import NUMBER as NUMBERS

Note: TypeAlias = Callable[[str, str], None]
"""Takes a repair: its kind, and what was found."""

DOUBTFUL_QUOTES = "doubtful_quotes"
"""Noted for a text in quotes that may or may not belong to it; no repair, but a question."""

_TRAILING_COMMA = re.compile(r"""("(?:[^"\\]|\\.)*+"?)|,(\s*+[}\]])""", re.S)
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_KIND_NAMES = {
    NULL: "null",
    BOOLEAN: "a boolean",
    NUMBERS: "a number",
    STRING: "a string",
    OBJECT: "an object",
    ARRAY: "an array",
}


class MisreadError(Exception):
    """A text that does not fit its place.

    Args:
        message: What was expected, for a person.
        rule: The JSON Schema keyword, or ``syntax``.
    """

    def __init__(self, message: str, rule: str = "type") -> None:
        self.message = message
        self.rule = rule
        super().__init__(message)


def expected(shape: Shape) -> str:
    """What may stand in a place, in words."""
    names = [name for bit, name in _KIND_NAMES.items() if shape.kinds & bit]
    return " or ".join(names) or "nothing"


def is_wrapped(text: str) -> bool:
    """Whether a text stands in ``<<<`` and ``>>>``."""
    return text.startswith(OPEN) and text.endswith(CLOSE) and len(text) >= len(OPEN) + len(CLOSE)


def read_leaf(text: str, tag: str | None, shape: Shape, note: Note) -> Any:
    """Reads what stands behind a key.

    Args:
        text: The text after the separator.
        tag: The type tag (``s``, ``n``, ``b``, ``t``), or ``None``.
        shape: The place.
        note: Takes repairs.

    Raises:
        MisreadError: The text does not fit the place.
    """
    if tag in ("s", "t") and shape.kinds & STRING:
        return text[len(OPEN) : -len(CLOSE)] if is_wrapped(text) else text
    if tag == "n" and shape.kinds & NUMBERS and NUMBER.fullmatch(text):
        return _number(text)
    if tag == "b" and shape.kinds & BOOLEAN and text in ("true", "false"):
        return text == "true"
    if tag is not None:
        note("tag_ignored", f":{tag}= where {expected(shape)} is expected")
    return read_text(text, shape, note)


def read_text(text: str, shape: Shape, note: Note) -> Any:
    """Reads an untagged text: a leaf's, a table cell's or an array row's.

    Raises:
        MisreadError: The text does not fit the place.
    """
    kinds = shape.kinds
    if is_wrapped(text):
        inner = text[len(OPEN) : -len(CLOSE)]
        if kinds & STRING:
            return inner
        note("wrapper_removed", text)
        return read_text(inner, shape, note)
    if kinds == STRING:
        return _string(text, shape, note)
    found, value = _other_scalar(text, shape)
    if not found and kinds & (OBJECT | ARRAY) and text[:1] in ("{", "["):
        found, value = _container(text, shape, note)
    if found:
        return value
    return _string(text, shape, note) if kinds & STRING else _carelessly(text, shape, note)


def _string(text: str, shape: Shape, note: Note) -> str:
    return text if shape.words is None or text in shape.words else _unquoted_word(text, shape, note)


def _other_scalar(text: str, shape: Shape) -> tuple[bool, Any]:
    """Whether a text is a number, a boolean or null, and its value.

    Where it is a good string too, it is one of these only if the schema admits the value.

    Raises:
        MisreadError: It is a number that cannot be kept.
    """
    kinds = shape.kinds
    may_be_text = kinds & STRING and kinds != EVERY_KIND and (shape.words is None or text in shape.words)
    value: Any
    if kinds & NUMBERS and NUMBER.fullmatch(text):
        try:
            value = _number(text)
        except MisreadError:
            if may_be_text:
                return False, None
            raise
    elif kinds & BOOLEAN and text in ("true", "false"):
        value = text == "true"
    elif kinds & NULL and text == "null":
        value = None
    else:
        return False, None
    return (False, None) if may_be_text and not shape.admits(value) else (True, value)


def _number(text: str) -> int | float:
    try:
        return parse_number(text)
    except ValueError as error:
        raise MisreadError(f"{error}", "syntax") from error


def unquoted(text: str) -> str | None:
    """The text inside matching quotes, or ``None``."""
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1]
    return None


def _unquoted_word(text: str, shape: Shape, note: Note) -> str:
    """A word of a fixed set, without quotes or spaces around it; any other text as it is."""
    words = shape.words or frozenset()
    trimmed = text.strip(WHITESPACE)
    for candidate in (trimmed, unquoted(trimmed)):
        if candidate is not None and candidate in words:
            note("quotes_removed" if candidate != trimmed else "spaces_removed", text)
            return candidate
    return text


def _carelessly(text: str, shape: Shape, note: Note) -> Any:
    """Reads a careless form of a number, boolean or null where no string may stand."""
    trimmed = text.strip(WHITESPACE)
    bare = unquoted(trimmed)
    candidate = trimmed if bare is None else bare.strip(WHITESPACE)
    if candidate != text:
        kind = "quotes_removed" if bare is not None else "spaces_removed"
        if shape.kinds & NUMBERS and NUMBER.fullmatch(candidate):
            note(kind, text)
            return _number(candidate)
    word = _WORDS.get(candidate.lower(), candidate)
    if (isinstance(word, bool) and shape.kinds & BOOLEAN) or (word is None and shape.kinds & NULL):
        note("literal_normalized", text)
        return word
    if shape.kinds & NUMBERS and candidate[:1] == "+" and NUMBER.fullmatch(candidate[1:]):
        note("number_normalized", text)
        return _number(candidate[1:])
    if candidate != text and shape.kinds & (OBJECT | ARRAY) and candidate[:1] in ("{", "["):
        found, value = _container(candidate, shape, note)
        if found:
            note("spaces_removed", text)
            return value
    raise MisreadError(f"{expected(shape)} is expected")


# Containers on one line


def _container(text: str, shape: Shape, note: Note) -> tuple[bool, Any]:
    """Reads ``{}``, ``[]``, an inline object, or JSON in place of a unit."""
    if text == "{}" and shape.kinds & OBJECT:
        return True, {}
    if text == "[]" and shape.kinds & ARRAY:
        return True, []
    if text.startswith("{") and text.endswith("}") and shape.kinds & OBJECT:
        value = read_inline_object(text, shape, note)
        if value is not None:
            return True, value
    wanted = dict if text[0] == "{" else list
    if not shape.kinds & (OBJECT if wanted is dict else ARRAY):
        return False, None
    found, value = parse_json(text, note)
    if found and isinstance(value, wanted):
        if shape.kinds != EVERY_KIND:  # the form of deep values below an untyped field
            note("json_read", text)
        return True, value
    if wanted is list and text.endswith("]") and not shape.kinds & STRING:
        return True, _bracket_list(text, shape, note)
    return False, None


def _bracket_list(text: str, shape: Shape, note: Note) -> list[Any]:
    """``[1, 2]`` or ``[red, blue]`` where the commas cannot belong to a free string.

    Raises:
        MisreadError: An element is free text, so that its commas cannot be told from separators.
    """
    values = []
    for index, part in enumerate(split_top(text[1:-1])):
        below = shape.element(index)
        if below.is_free_text:
            raise MisreadError("a list is expected, one element a line between [ and ]", "syntax")
        values.append(read_text(part.strip(WHITESPACE), below, note))
    note("list_on_one_line", text)
    return values


def read_inline_object(text: str, shape: Shape, note: Note) -> dict[str, Any] | None:
    """``{a=1,b=two}``; ``None`` if the text has not that form.

    Raises:
        MisreadError: A value does not fit its place, or a key is there twice where no text may stand.
    """
    pairs = _pairs(text[1:-1], shape, note)
    if pairs is None:
        return None
    found: dict[str, Any] = {}
    for key, written in pairs:
        if key in found:
            if shape.kinds & STRING:
                return None
            raise MisreadError(f"the key {key!r} is written twice in one object", "syntax")
        below = shape.child(key)
        if unquoted(written) is not None and below.is_free_text:
            note(DOUBTFUL_QUOTES, written)
        found[key] = read_text(written, below, note)
    return found


def _pairs(inner: str, shape: Shape, note: Note) -> list[tuple[str, str]] | None:
    """The keys and texts of an inline object; a piece that is no pair belongs to the text before it."""
    pairs: list[tuple[str, str]] = []
    for part in split_top(inner):
        equals = find_top(part, "=")
        key = part[: max(equals, 0)]
        foreign = bool(key) and not shape.is_open and not (key in shape.declared or shape.spaced_key(key))
        if equals <= 0 or (foreign and pairs):
            if not pairs or not shape.child(pairs[-1][0]).is_free_text:
                return None
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]},{part}")
            note("comma_in_cell", part)
            continue
        if is_wrapped(key):
            key = key[len(OPEN) : -len(CLOSE)]
        elif key not in shape.declared:
            key = shape.spaced_key(key) or key
        if not key:
            return None
        pairs.append((key, part[equals + 1 :]))
    return pairs


def split_top(text: str) -> list[str]:
    """Splits at commas outside of ``<<<…>>>`` and ``{…}``."""
    if OPEN not in text and "{" not in text:
        return text.split(",")
    parts: list[str] = []
    start = position = depth = 0
    while position < len(text):
        if text.startswith(OPEN, position):
            end = text.find(CLOSE, position + len(OPEN))
            if end < 0:
                break
            position = end + len(CLOSE)
            continue
        character = text[position]
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(0, depth - 1)
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
        position += 1
    parts.append(text[start:])
    return parts


def find_top(text: str, wanted: str) -> int:
    """Index of a character outside of ``<<<…>>>``, or -1."""
    position = 0
    while position < len(text):
        if text.startswith(OPEN, position):
            end = text.find(CLOSE, position + len(OPEN))
            if end < 0:
                return -1
            position = end + len(CLOSE)
            continue
        if text[position] == wanted:
            return position
        position += 1
    return -1


# JSON in place of RAIF


class _RepeatedKeyError(ValueError):
    """A JSON object with a key twice."""


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKeyError("a key stands twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    parse_int=parse_number,
    parse_float=parse_number,
    parse_constant=_refuse_constant,
    object_pairs_hook=_object_of,
)


def load_json(text: str) -> Any:
    """Reads JSON text: numbers exactly, ``NaN`` and repeated keys refused.

    Raises:
        ValueError: It is not such JSON.
    """
    return _DECODER.decode(text)


def load_json_at(text: str, start: int) -> tuple[Any, int]:
    """Reads the JSON value that begins at a position: the value and where it ends.

    Raises:
        ValueError: There is no such JSON.
    """
    return _DECODER.raw_decode(text, start)


def parse_json(text: str, note: Note) -> tuple[bool, Any]:
    """Reads JSON, or what a Python programmer writes for it (single quotes, ``True``).

    Returns:
        Whether it could be read, and the value.
    """
    try:
        return True, load_json(text)
    except (ValueError, RecursionError):
        pass
    try:
        value = load_json(_TRAILING_COMMA.sub(lambda found: found.group(1) or found.group(2), text))
    except (ValueError, RecursionError):
        pass
    else:
        note("trailing_comma_removed", text[-40:])
        return True, value
    try:
        text = _as_python(text.strip())
        tree = ast.parse(text, mode="eval")
        if _repeats_key(tree) or _joins_strings(text):
            return False, None
        value = ast.literal_eval(tree)
        json.dumps(value, allow_nan=False)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, tokenize.TokenError):
        return False, None
    if not _is_json(value):
        return False, None
    note("python_literal_read", text[:40])
    return True, value


_ESCAPE = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\(.)", re.S)


def _as_python(text: str) -> str:
    """Text whose escapes mean in Python what they mean in JSON: ``\\/``, and pairs of surrogates."""

    def rewritten(found: re.Match[str]) -> str:
        if found[1] is not None:
            pair = bytes.fromhex(found[1] + found[2]).decode("utf-16-be")
            return f"\\U{ord(pair):08x}"
        return "/" if found[3] == "/" else found[0]

    return _ESCAPE.sub(rewritten, text)


def _joins_strings(text: str) -> bool:
    """Whether strings stand side by side, which Python joins and a model that lost a comma does not."""
    before = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NL, tokenize.COMMENT):
            continue
        is_string = token.type == tokenize.STRING
        if is_string and (before == tokenize.STRING or token.string[0].isalpha()):  # or has a prefix
            return True
        before = token.type
    return False


def _repeats_key(tree: ast.AST) -> bool:
    """Whether a Python literal holds a dict with a key twice."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if len(set(keys)) != len(keys):
                return True
    return False


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(below) for key, below in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, (bool, int, float, str))
