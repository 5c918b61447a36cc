"""``raif-integrations template``: where the packaged chat templates are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from raif_integrations.chat_templates import chat_template_names, chat_template_path, served_families
from raif_integrations.cli.console import say

if TYPE_CHECKING:
    from raif_integrations.cli.console import Subparsers

_DESCRIPTION = """\
Prints the path of a packaged chat template, for vLLM's own --chat-template:

  vllm serve MODEL --chat-template "$(raif-integrations template qwen3)"

Without a name it lists the templates and the models they are made for. They ignore `tools`, because
what a model must know of its tools is already in its messages, and render everything else as the
model family's own template does.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "template",
        help="print the path of a packaged chat template, or list them all",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="one of the names the list shows")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints one template's path, or the list.

    Raises:
        ConfigurationError: There is no template of that name.
    """
    if arguments.name is not None:
        say(str(chat_template_path(arguments.name)))
        return 0
    names = chat_template_names()
    width = max(map(len, names))
    for name in names:
        say(f"{name:<{width}}  {served_families(name)}")
    return 0
