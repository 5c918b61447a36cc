"""JSON numbers to Python and back without losing a digit.

Integers of any length stay integers: neither ``float`` nor Python's limit on the length of integer
texts is in the way. A number with a fraction or an exponent is a ``float``, so that ``5.0`` and
``-0.0`` come back as they were.
"""

from __future__ import annotations

import math

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
