"""The command ``raif-integrations``.

Each module here named after a command offers ``add_parser(subparsers)``: it adds the command's parser
and sets its default ``run``, a function from the parsed arguments to the exit code. At import such a
module loads nothing but :mod:`argparse` and its own helpers; what the command needs is imported when it
runs, so that ``--help`` answers at once, whatever is installed.

Exit codes: 0, done; 1, it failed (or ``doctor`` found a problem); 2, the command line is wrong; 130,
interrupted. ``serve`` ends with the server's own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from raif_integrations import __version__
from raif_integrations.cli import doctor, report, serve, template
from raif_integrations.cli.console import PROGRAM, note
from raif_integrations.errors import ConfigurationError, RaifIntegrationsError

_FAILED = 1
_WRONG_USAGE = 2
_INTERRUPTED = 130

_DESCRIPTION = "Tool calls and structured output from self-hosted models, over the compact RAIF format."
_EPILOG = f"`{PROGRAM} COMMAND --help` says what a command does and takes."


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        argv: The command line without the program's name; ``None`` is the process's own.

    Returns:
        The exit code.
    """
    arguments = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        code = run(arguments)
        sys.stdout.flush()
    except ConfigurationError as error:
        note(f"error: {error}")
        return _WRONG_USAGE
    except (RaifIntegrationsError, ImportError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            return _reader_left()
        note(f"error: {error}")
        return _FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description=_DESCRIPTION,
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (serve, doctor, template, report):
        command.add_parser(subparsers)
    return parser


def _reader_left() -> int:
    """Ends quietly when the output's reader is gone, as in ``raif-integrations template | head -1``."""
    # The interpreter flushes standard output once more when it ends, and would report the closed pipe.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
