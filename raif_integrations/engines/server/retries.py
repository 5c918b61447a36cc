"""When a call to a server is made again, and after how long.

The SDK's own retries are switched off, because they also repeat a generation that timed out: a
timeout of ten minutes becomes half an hour, and a server that is too slow gets three times the work.
A generation has no side effects, so everything else that can pass is safe to repeat as long as no
part of the reply was handed out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time

from raif_integrations.errors import EngineError, EngineTimeoutError

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 8.0
_LONGEST_ASKED_WAIT = 120.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is made again.

    Attributes:
        max_retries: Largest number of repetitions.
    """

    max_retries: int

    def wait(self, error: EngineError, headers: Mapping[str, str], attempt: int) -> float | None:
        """Seconds to wait before the next attempt, or ``None`` if there is to be none.

        The server's ``Retry-After`` counts up to two minutes; a longer one ends the attempts. Without
        one the wait doubles from half a second to eight seconds, less up to a quarter at random, so
        that clients who failed together do not come back together.

        Args:
            error: Why the attempt failed.
            headers: The response's headers; empty if there was no response.
            attempt: Number of attempts made before this one.
        """
        if attempt >= self.max_retries or not error.retryable or isinstance(error, EngineTimeoutError):
            return None
        asked = _retry_after(headers)
        if asked is not None:
            return asked if asked <= _LONGEST_ASKED_WAIT else None
        wait = min(_FIRST_WAIT * 2.0**attempt, _LONGEST_WAIT)
        return wait * (1 - 0.25 * random.random())


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait (``Retry-After`` in seconds or as a date, RFC 9110 10.2.3)."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time()
        except ValueError:
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
