"""What a turn asks of its driver: generations to start and deltas to read."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

from raif_integrations.engines.base import Delta, Request
from raif_integrations.turn.types import TurnEvent


@dataclass(frozen=True, slots=True)
class Open:
    """Start these generations side by side. They are numbered from 0 in the order they are opened."""

    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class Next:
    """Send the next delta of a generation, or ``None`` when it has ended."""

    number: int


Step: TypeAlias = Open | Next | TurnEvent
"""What a turn yields: something for its driver to do, or an event."""

Steps: TypeAlias = Generator[Step, Delta | None, None]
"""A turn under way."""
