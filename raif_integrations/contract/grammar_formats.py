"""The string formats that ``formats`` checks, as regular expressions for a grammar.

They say what ``formats`` says, with three exceptions: a host name's length is left to the validator, a leap
second is written in UTC only, and few of the IPv6 addresses that end in an IPv4 address are written at all.
"""

from __future__ import annotations

_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP = "(?:0[48]|[2468][048]|[13579][26])"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{{2}}{_LEAP}|{_LEAP}00)-02-29)"
)
_HOUR = "(?:[01][0-9]|2[0-3])"
_MINUTE = "[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]+)?"
_TIME = f"(?:{_HOUR}:{_MINUTE}:{_MINUTE}{_FRACTION}(?:[zZ]|[+-]{_HOUR}:{_MINUTE})|23:59:60{_FRACTION}[zZ])"
_SECONDS = "[0-9]+(?:[.][0-9]+)?S"
_CLOCK = f"(?:[0-9]+H(?:[0-9]+M)?(?:{_SECONDS})?|[0-9]+M(?:{_SECONDS})?|{_SECONDS})"
_DAYS = "(?:[0-9]+Y(?:[0-9]+M)?(?:[0-9]+D)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_HEX = "[0-9a-fA-F]"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = f"{_HEX}{{1,4}}"
_IPV6 = "|".join(
    [
        f"(?:{_GROUP}:){{7}}{_GROUP}",
        f"(?:{_GROUP}:){{6}}{_IPV4}",
        f"{_GROUP}(?::{_GROUP}){{0,6}}::",
        *(
            f"{_GROUP}(?::{_GROUP}){{{before - 1}}}::{_GROUP}(?::{_GROUP}){{0,{6 - before}}}"
            for before in range(1, 7)
        ),
        f"::(?:{_GROUP}(?::{_GROUP}){{0,6}})?",
        f"::(?:[fF]{{4}}:)?{_IPV4}",
    ]
)
_LABEL = "[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*"
_URI_TEXT = r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*"

FORMATS = {
    name: f"^(?:{expression})$"
    for name, expression in {
        "date": _DATE,
        "time": _TIME,
        "date-time": f"{_DATE}[Tt]{_TIME}",
        "duration": f"P(?:[0-9]+W|{_DAYS}(?:T{_CLOCK})?|T{_CLOCK})",
        "email": r"[^@\s]+@[^@\s]+|\"[^\"]*\"@[^@\s]+",
        "hostname": rf"{_LABEL}(?:\.{_LABEL})*",
        "host-name": rf"{_LABEL}(?:\.{_LABEL})*",
        "ipv4": _IPV4,
        "ipv6": _IPV6,
        "uri": rf"[A-Za-z][A-Za-z0-9+.\-]*:{_URI_TEXT}",
        "uri-reference": _URI_TEXT,
        "uuid": f"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}",
        "json-pointer": "(?:/(?:[^~/]|~[01])*)*",
    }.items()
}
"""Anchored expressions by the name of the format."""
