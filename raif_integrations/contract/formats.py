"""The string formats that are checked: those of JSON Schema whose grammar is fixed by a standard.

``jsonschema`` checks some of them only with further packages installed; what counts as valid must not
depend on that. Unknown formats are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Any

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(
    r"(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[zZ]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_DURATION = re.compile(
    r"P(?:\d+W|(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)", re.ASCII
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_URI_TEXT = r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*"
_URI = re.compile(rf"[A-Za-z][A-Za-z0-9+.\-]*:{_URI_TEXT}")
_URI_REFERENCE = re.compile(_URI_TEXT)
_HOSTNAME = re.compile(
    r"(?=.{1,253}$)(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?)"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?)*"
)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+|\"[^\"]*\"@[^@\s]+")
_JSON_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


def _whole(pattern: re.Pattern[str]) -> Any:
    """A check that a string matches a pattern from end to end; other types pass."""
    return lambda value: not isinstance(value, str) or pattern.fullmatch(value) is not None


def is_date(value: object) -> bool:
    """``full-date`` of RFC 3339."""
    if not isinstance(value, str):
        return True
    found = _DATE.fullmatch(value)
    if found is None:
        return False
    try:
        date(*map(int, found.groups()))
    except ValueError:
        return False
    return True


def is_time(value: object) -> bool:
    """``full-time`` of RFC 3339: seconds and an offset are required."""
    if not isinstance(value, str):
        return True
    found = _TIME.fullmatch(value)
    if found is None:
        return False
    hour, minute, second = (int(part) for part in found.groups()[:3])
    offset_hour, offset_minute = int(found.group(5) or 0), int(found.group(6) or 0)
    if hour > 23 or minute > 59 or second > 60 or offset_hour > 23 or offset_minute > 59:
        return False
    if second < 60:
        return True
    # A leap second is the last one of a day in UTC.
    offset = (offset_hour * 60 + offset_minute) * (-1 if found.group(4) == "-" else 1)
    return (hour * 60 + minute - offset) % 1440 == 1439


def is_date_time(value: object) -> bool:
    """``date-time`` of RFC 3339."""
    if not isinstance(value, str):
        return True
    return value[10:11] in ("T", "t") and is_date(value[:10]) and is_time(value[11:])


def _is_address(kind: type[IPv4Address] | type[IPv6Address]) -> Any:
    def check(value: object) -> bool:
        if not isinstance(value, str):
            return True
        try:
            kind(value)
        except (AddressValueError, ValueError):
            return False
        return "%" not in value

    return check


def _is_regex(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        re.compile(value)
    except re.error:
        return False
    return True


CHECKS: dict[str, Callable[[object], bool]] = {
    "date-time": is_date_time,
    "date": is_date,
    "time": is_time,
    "duration": _whole(_DURATION),
    "email": _whole(_EMAIL),
    "hostname": _whole(_HOSTNAME),
    "host-name": _whole(_HOSTNAME),
    "ipv4": _is_address(IPv4Address),
    "ipv6": _is_address(IPv6Address),
    "uri": _whole(_URI),
    "uri-reference": _whole(_URI_REFERENCE),
    "uuid": _whole(_UUID),
    "json-pointer": _whole(_JSON_POINTER),
    "regex": _is_regex,
}
"""The check of each format; values that are no strings pass."""


@cache
def checker() -> Any:
    """The format checker of ``jsonschema`` with these checks and no others."""
    import jsonschema

    made = jsonschema.FormatChecker(formats=())
    for name, check in CHECKS.items():
        made.checkers[name] = (check, ())
    return made
