"""What a check found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from raif_integrations.errors import RaifIntegrationsError

Level: TypeAlias = Literal["ok", "info", "warn", "fail"]
"""``info`` is neither good nor bad, ``warn`` may cause trouble, ``fail`` does."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        level: How bad it is.
        subject: What was looked at, in a word or three.
        text: What was found.
        remedy: What to do about it.
    """

    level: Level
    subject: str
    text: str
    remedy: str | None = None


def failure(subject: str, error: RaifIntegrationsError) -> Finding:
    """What an error of this package says, as a finding."""
    return Finding("fail", subject, error.message, error.hint)


@dataclass(slots=True)
class Attempt:
    """Whether a step worked; see :func:`attempt`.

    Attributes:
        findings: The failure, if there was one.
    """

    findings: list[Finding] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """It did not."""
        return bool(self.findings)


@contextmanager
def attempt(subject: str) -> Iterator[Attempt]:
    """Turns an error of this package into a finding; every other one passes.

    Example:
        ::

            with attempt("chat") as chat:
                reply = engine.generate(request)
            yield from chat.findings
    """
    made = Attempt()
    try:
        yield made
    except RaifIntegrationsError as error:
        made.findings.append(failure(subject, error))
