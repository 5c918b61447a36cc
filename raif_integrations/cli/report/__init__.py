"""``raif-integrations report``: what RAIF saves, and costs, for a user's own tools and schemas.

``subjects`` finds the schemas, ``payloads`` and ``samples`` the values, ``tokenizers`` counts, ``measure``
compares, and ``terminal`` and ``page`` show the comparison.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from raif_integrations.cli.console import note, say
from raif_integrations.errors import ConfigurationError

if TYPE_CHECKING:
    from raif_integrations.cli.console import Subparsers

_DESCRIPTION = """\
Counts the tokens of your own tools and schemas, in the prompt and in the reply, as RAIF and as JSON:

  raif-integrations report myapp.tools:search myapp.models:Invoice --tokenizer Qwen/Qwen3-4B
  raif-integrations report tools.json --payloads calls.jsonl --tokenizer ./model --html report.html

A schema is a Pydantic class, a function, a tool or a list of tools (module:name or file.py:name), or a file
with a JSON Schema, an OpenAI tool or a list of them.

Payloads are lines of JSON: a value, or a call {"name": ..., "arguments": {...}}. Without them, values
are made from the schema, the same ones each time.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "report",
        help="compare the tokens of RAIF and JSON for your own tools and schemas",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("schemas", nargs="+", metavar="SCHEMA", help="module:name, file.py:name or file.json")
    parser.add_argument("--payloads", type=Path, metavar="FILE", help="values to count, one a line of JSON")
    parser.add_argument(
        "--tokenizer",
        metavar="NAME",
        help="folder, tokenizer.json or hub name of the model's tokenizer, or tiktoken:o200k_base; "
        "without it UTF-8 bytes are counted",
    )
    parser.add_argument("--samples", type=int, default=20, help="values made of each schema (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the values that are made (%(default)s)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page with plots")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Counts, and prints the table or JSON.

    Raises:
        ConfigurationError: A schema, the payloads or the tokenizer cannot be read.
        ImportError: The page or the tokenizer needs a package that is not installed.
    """
    from raif_integrations.cli.report.measure import compare
    from raif_integrations.cli.report.payloads import read_payloads
    from raif_integrations.cli.report.subjects import find_subjects
    from raif_integrations.cli.report.terminal import lines
    from raif_integrations.cli.report.tokenizers import load_counter

    if arguments.samples < 1:
        raise ConfigurationError(f"--samples is {arguments.samples}, but must be 1 or more.")
    if arguments.html is not None:
        from raif_integrations.cli.report.page import check_plots

        check_plots()
    subjects = [subject for reference in arguments.schemas for subject in find_subjects(reference)]
    counter = load_counter(arguments.tokenizer)
    given = read_payloads(arguments.payloads, subjects) if arguments.payloads else None
    report = compare(subjects, counter, given, samples=arguments.samples, seed=arguments.seed)
    if arguments.json:
        say(json.dumps(report.to_dict(), indent=2, ensure_ascii=False))
    else:
        for line in lines(report):
            say(line)
    if arguments.html is not None:
        from raif_integrations.cli.report.page import page

        arguments.html.write_text(page(report), encoding="utf-8")
        note(f"the page is in {arguments.html}")
    return 0
