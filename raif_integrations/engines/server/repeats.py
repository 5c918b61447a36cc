"""Calls like an earlier one, sent as the SDK sent that one.

The SDK takes as much CPU time to build a request as the HTTP library takes for the whole exchange, and
all it builds, except for the body and the key, is the same for every call of an engine. So the first call
goes through the SDK, and later ones take the address and the headers from the request it sent: what the SDK
decides (authentication, default headers and query, its own headers) stays its decision.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from raif_integrations.engines.server.http import Call, HttpClient, HttpRequest, HttpResponse

_OF_ONE_CALL = ("content-length", "cookie")


@dataclass(frozen=True, slots=True)
class _Sent:
    """What stays of a request that was sent: everything but its body and what belongs to it alone."""

    kind: type[HttpRequest]
    method: str
    url: Any
    headers: Any = field(repr=False)
    timeout: float
    http_timeout: Any


class Repeats:
    """Remembers how calls were sent, for one client.

    Args:
        api_key: Returns the key, asked before every request.
        default_headers: The engine's own headers; an ``Authorization`` among them stays in force.
    """

    def __init__(self, api_key: Callable[[], str], default_headers: Mapping[str, str] | None) -> None:
        self._api_key = api_key
        self._keeps_authorization = any(name.lower() == "authorization" for name in default_headers or ())
        self._sent: dict[tuple[str, bool], _Sent] = {}

    def remember(self, call: Call, response: HttpResponse) -> HttpResponse:
        """Takes note of how the SDK made a call, unless it was sent on to another address.

        Returns:
            The same response.
        """
        if call.method == "POST" and not response.history:
            sent = response.request
            headers = sent.headers.copy()
            for name in _OF_ONE_CALL:
                headers.pop(name, None)
            self._sent[call.url, call.stream] = _Sent(
                type(sent), sent.method, sent.url, headers, call.timeout, sent.extensions["timeout"]
            )
        return response

    def request(self, call: Call, http: HttpClient) -> HttpRequest | None:
        """The HTTP request of a call that is like an earlier one.

        Returns:
            ``None`` if the SDK has to build it: there was none like it, the server set cookies, or the body
            holds something that only the SDK can write as JSON.

        Raises:
            UnicodeError: The body holds half a surrogate pair.
        """
        sent = self._sent.get((call.url, call.stream))
        if sent is None or sent.timeout != call.timeout or http.cookies:
            return None
        try:
            # As the SDK and the HTTP libraries write JSON.
            text = json.dumps(call.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except TypeError:
            return None
        if not self._keeps_authorization:
            headers = sent.headers.copy()
            headers["authorization"] = f"Bearer {self._api_key()}"
        else:
            headers = sent.headers
        return sent.kind(
            sent.method,
            sent.url,
            headers=headers,
            content=text.encode(),
            extensions={"timeout": sent.http_timeout},
        )
