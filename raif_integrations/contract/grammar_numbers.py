"""The languages of numbers: bounded in length, so that no model can write digits without end.

An integer has at most :data:`MAX_DIGITS` digits unless its bounds say more. A number has as many before
the point, as many after it, or one digit before the point and an exponent within the range of doubles.
"""

from __future__ import annotations

import math

MAX_DIGITS = 20
"""Enough for every 64-bit integer, signed or not."""

_LONGEST_BOUND = 40
"""Bounds with more digits than this are left to the validator."""

_FRACTION = f'"." [0-9]{{1,{MAX_DIGITS}}}'
_POSITIVE = '([0-9] [0-9]? | [12] [0-9] [0-9] | "30" [0-7])'
_NEGATIVE = '"-" ([0-9] [0-9]? | [12] [0-9] [0-9] | "3" [0-2] [0-9])'
_EXPONENT = f'[eE] ("+"? {_POSITIVE} | {_NEGATIVE})'
_SMALL_EXPONENT = f"[eE] {_NEGATIVE}"
_LARGE_EXPONENT = '[eE] "+"? ([1-9] [0-9]? | [12] [0-9] [0-9] | "30" [0-7])'
_LARGEST = '("1" ("." [0-6] [0-9]{0,19})? | "1.7" [0-8] [0-9]{0,18} | "1.7976931348623157") [eE] "+"? "308"'
"""Numbers of 309 digits, up to the largest double."""


def integer(minimum: int | float | None, maximum: int | float | None) -> str:
    """Body of a rule for an integer.

    Args:
        minimum: Inclusive lower bound.
        maximum: Inclusive upper bound.

    Returns:
        The body; ``""`` stands for no text at all if no integer lies between the bounds.
    """
    low, high = _floor(minimum, up=True), _floor(maximum, up=False)
    if low is None and high is None:
        return f'"0" | "-"? [1-9] [0-9]{{0,{MAX_DIGITS - 1}}}'
    return " | ".join(_integers(low, high)) or '""'


def number(minimum: int | float | None, maximum: int | float | None) -> str:
    """Body of a rule for a number.

    The sign and the part before the point keep to the bounds; a bound between two integers is left to
    the validator there.

    Args:
        minimum: Inclusive lower bound.
        maximum: Inclusive upper bound.
    """
    low, high = _floor(minimum, up=False), _floor(maximum, up=True)
    if low is None and high is None:
        return (
            f'"-"? ("0" ({_FRACTION})? | [1-9] ([0-9]{{1,{MAX_DIGITS - 1}}} ({_FRACTION})?'
            f" | ({_FRACTION})? ({_EXPONENT})?) | {_LARGEST})"
        )
    parts = _bounded_numbers(low, high)
    return " | ".join(parts) or '""'


def _bounded_numbers(low: int | None, high: int | None) -> list[str]:
    parts: list[str] = []
    if high is None or high >= 0:
        parts.extend(_magnitudes("", max(low or 0, 0), high))
    if low is None or low < 0:
        parts.extend(
            _magnitudes('"-" ', max(-high if high is not None else 0, 0), None if low is None else -low)
        )
    return parts


def _magnitudes(sign: str, low: int, high: int | None) -> list[str]:
    """Numbers between two non-negative integers, the sign in front."""
    if high is None:
        digits = max(MAX_DIGITS, len(str(low)) + 1)
        parts = [f"{sign}{body} ({_FRACTION})?" for body in _digit_ranges(low, 10**digits - 1)]
        parts.append(f"{sign}[1-9] ({_FRACTION})? {_EXPONENT if low <= 0 else _LARGE_EXPONENT}")
        parts.append(f"{sign}{_LARGEST}")
        return parts
    parts = [f"{sign}{body} ({_FRACTION})?" for body in _digit_ranges(low, high - 1)]
    parts.extend(f'{sign}{body} ("." "0"{{1,{MAX_DIGITS}}})?' for body in _digit_ranges(high, high))
    if low == 0 and high > 0:
        parts.append(f"{sign}[1-9] ({_FRACTION})? {_SMALL_EXPONENT}")
    return parts


def _floor(bound: int | float | None, *, up: bool) -> int | None:
    if bound is None or (isinstance(bound, float) and not math.isfinite(bound)):
        return None
    whole = math.ceil(bound) if up else math.floor(bound)
    return whole if len(str(abs(whole))) <= _LONGEST_BOUND else None


def _integers(low: int | None, high: int | None) -> list[str]:
    digits = max(MAX_DIGITS, *(len(str(abs(bound))) + 1 for bound in (low, high) if bound is not None))
    top = 10**digits - 1
    first = -top if low is None else low
    last = top if high is None else high
    parts: list[str] = []
    if first < 0:
        parts.extend(f'"-" {body}' for body in _digit_ranges(max(1, -last), -first))
    if last >= 0:
        parts.extend(_digit_ranges(max(0, first), last))
    return parts


def _digit_ranges(low: int, high: int) -> list[str]:
    """Bodies that together match the decimal numbers from ``low`` to ``high`` without leading zeros."""
    parts = []
    while low <= high:
        width = len(str(low))
        end = min(high, 10**width - 1)
        if low == 10 ** (width - 1) and end == 10**width - 1 and width > 1:
            last = len(str(high)) if high == 10 ** len(str(high)) - 1 else len(str(high)) - 1
            last = max(last, width)
            parts.append(f"[1-9] [0-9]{{{width - 1},{last - 1}}}")
            end = 10**last - 1
        else:
            parts.extend(_same_width(str(low), str(end)))
        low = end + 1
    return parts


def _same_width(low: str, high: str) -> list[str]:
    """Ranges between two numbers of the same number of digits."""
    if len(low) == 1:
        return [_digit(low, high)]
    if low[1:] == "0" * (len(low) - 1) and high[1:] == "9" * (len(high) - 1):
        return [f"{_digit(low[0], high[0])} {_any_digits(len(low) - 1)}"]
    if low[0] == high[0]:
        return [f'"{low[0]}" {rest}' for rest in _same_width(low[1:], high[1:])]
    parts = [f'"{low[0]}" {rest}' for rest in _same_width(low[1:], "9" * (len(low) - 1))]
    if int(high[0]) - int(low[0]) > 1:
        between = _digit(str(int(low[0]) + 1), str(int(high[0]) - 1))
        parts.append(f"{between} {_any_digits(len(low) - 1)}")
    parts.extend(f'"{high[0]}" {rest}' for rest in _same_width("0" * (len(high) - 1), high[1:]))
    return parts


def _digit(low: str, high: str) -> str:
    return f'"{low}"' if low == high else f"[{low}-{high}]"


def _any_digits(count: int) -> str:
    return "[0-9]" if count == 1 else f"[0-9]{{{count},{count}}}"
