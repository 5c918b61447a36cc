"""What the commands say: results on standard output, everything else on standard error."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
    """What a command adds its parser to."""

PROGRAM = "raif-integrations"


def say(text: str = "") -> None:
    """Writes a line of a command's result."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Writes a line about what the command does, beside its result."""
    sys.stderr.write(f"{PROGRAM}: {text}\n")
    sys.stderr.flush()
