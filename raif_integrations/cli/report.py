"""``raif-integrations report``: the tokens of RAIF and JSON for a user's own schemas."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from raif_integrations.errors import ConfigurationError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser("report", help="compare the tokens of RAIF and JSON for your own schemas")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    raise ConfigurationError("The report is not there yet.")
