"""JSON numbers to Python and back without losing a digit.

Integers of any length stay integers: neither ``float`` nor Python's limit on the length of integer
texts is in the way. A number with a fraction or an exponent is a ``float``, so that ``5.0`` and
``-0.0`` come back as they were.
"""

from __future__ import annotations

import json
import math
from typing import Any

_CHUNK = 4000
"""Digits converted at once; below Python's own limit of 4,300."""


def parse_number(text: str) -> int | float:
    """Reads a text that matches JSON's number grammar.

    Raises:
        ValueError: The number is beyond the range of a double, so that it would become infinite.
    """
    if text.lstrip("-").isdigit():
        return int(text) if len(text) <= _CHUNK else _parse_long(text)
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is beyond the range of a double")
    return value


def write_number(value: int | float) -> str:
    """Writes a number as JSON does.

    Raises:
        ValueError: The number is infinite or not a number.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number")
        return repr(value)
    try:
        return str(int(value))
    except ValueError:
        return _write_long(value)


def dump_json(value: Any) -> str:
    """JSON text of a value; integers of any length.

    Raises:
        ValueError: The value is not JSON data.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return _dump(value)


def _dump(value: Any) -> str:
    """As :func:`dump_json`, piece by piece, for integers that Python would not write."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key, ensure_ascii=False)}: {_dump(below)}" for key, below in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_dump, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return write_number(value)
    return json.dumps(value, ensure_ascii=False)


def _parse_long(text: str) -> int:
    """Reads a long integer by halves."""
    if text.startswith("-"):
        return -_parse_long(text[1:])
    if len(text) <= _CHUNK:
        return int(text)
    middle = len(text) // 2
    high, low = text[:middle], text[middle:]
    return _parse_long(high) * _power(len(low)) + _parse_long(low)


def _power(digits: int) -> int:
    return int(pow(10, digits))


def _write_long(value: int) -> str:
    """Writes a long integer in chunks."""
    if value < 0:
        return "-" + _write_long(-value)
    # log10(2) a little too small, so that the halves are never empty.
    digits = int(value.bit_length() * 0.30102)
    if digits < _CHUNK:
        return str(value)
    low_digits = digits // 2
    high, low = divmod(value, _power(low_digits))
    return _write_long(high) + _write_long(low).rjust(low_digits, "0")
