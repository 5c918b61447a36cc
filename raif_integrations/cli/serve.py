"""``raif-integrations serve``: a vLLM server that speaks RAIF."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from raif_integrations.cli.console import note, say
from raif_integrations.engines.speculation import DEFAULT_SPECULATION
from raif_integrations.errors import ConfigurationError

if TYPE_CHECKING:
    from raif_integrations.cli.console import Subparsers
    from raif_integrations.cli.serving.command_line import ServerCommand
    from raif_integrations.cli.serving.flags import VllmFlags

_DESCRIPTION = """\
Starts vLLM's OpenAI-compatible server for RAIF: with this package's plugin, so that any OpenAI client gets
tool calls and structured output; with LoRA adapters; and with a chat template, if the model has none.
When the server answers, it prints the code for a client. Ctrl-C ends the server and all its processes.

  raif-integrations serve Qwen/Qwen3-4B --adapter raif=skrrt-sh/raif-qwen3-4b-lora --port 8001

MODEL comes first. Every option that is not listed here is passed on to vLLM as it stands, and an option
you give yourself is never overridden.
"""

# vLLM takes up to half a minute to end its processes in good order, after what --shutdown-timeout gives
# to requests under way.
_STOP_SECONDS = 30.0


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "serve",
        help="start a vLLM server that speaks RAIF",
        description=_DESCRIPTION,
        usage="%(prog)s MODEL [options] [any option of vLLM's server]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("model", metavar="MODEL", help="folder or hub name of the model")
    # Everything behind MODEL; _own_options sorts out what is vLLM's.
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    _add_options(parser)
    parser.set_defaults(run=run, parser=parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--adapter",
        action="append",
        default=[],
        metavar="NAME=PLACE",
        help="LoRA adapter to serve: a folder or a hub name, with the name clients ask for (without one, "
        "the last part of the place); may be given several times",
    )
    parser.add_argument(
        "--chat-template",
        default="auto",
        metavar="TEMPLATE",
        help="auto (default): the model's own, or a packaged one if it has none; none: leave it to vLLM; the "
        "name of a packaged template (see `raif-integrations template`); or a path",
    )
    parser.add_argument(
        "--no-plugin",
        dest="plugin",
        action="store_false",
        help="start a plain vLLM server; this package's own clients need no more",
    )
    parser.add_argument(
        "--speculation",
        choices=("auto", "on", "off"),
        default=DEFAULT_SPECULATION,
        help="draft keys from the cue and values from the prompt, which vLLM verifies: on, off, or auto "
        "(default), which does it without a GPU where this vLLM can",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the server's command line and start nothing"
    )


def run(arguments: argparse.Namespace) -> int:
    """Starts the server and stays until it ends.

    Returns:
        The server's exit code.

    Raises:
        ConfigurationError: vLLM is not installed, or the command line cannot work.
    """
    from raif_integrations._extras import remedy
    from raif_integrations.cli.installed_vllm import find_vllm
    from raif_integrations.cli.serving.command_line import ServeRequest, server_command
    from raif_integrations.cli.serving.flags import shown

    own, passed_on = _own_options(arguments)
    vllm = find_vllm()
    if vllm is None:
        raise ConfigurationError("vLLM, which does the serving, is not installed.", hint=remedy("vllm"))
    request = ServeRequest(own.model, own.adapter, own.chat_template, own.plugin, own.speculation, passed_on)
    command = server_command(request, vllm, os.environ)
    if own.dry_run:
        say(shlex.join(shown(command.arguments)))
        return 0
    for subject, decision in command.decisions.items():
        note(f"{subject}: {decision}.")
    return _serve(own.model, command)


def _own_options(arguments: argparse.Namespace) -> tuple[argparse.Namespace, list[str]]:
    """Our own options, wherever they stand, and the rest, which is vLLM's."""
    parser: argparse.ArgumentParser = arguments.parser
    if any(option in arguments.rest for option in ("-h", "--help")):
        parser.print_help()
        parser.exit()
    # A parser without positional arguments leaves the values of vLLM's flags where they stand.
    own = argparse.ArgumentParser(prog=parser.prog, usage=parser.usage, add_help=False, allow_abbrev=False)
    _add_options(own)
    return own.parse_known_args(arguments.rest, arguments)


def _serve(model: str, command: ServerCommand) -> int:
    from raif_integrations.cli.serving.address import answers, base_url, demands_key
    from raif_integrations.cli.serving.process import ServerRun
    from raif_integrations.cli.serving.snippet import ServedAt, client_snippet

    given = command.given
    api = base_url(given)
    if api is not None and answers(api):
        raise ConfigurationError(
            f"A server is running at {api} already.", hint="Give another --port, or stop it first."
        )

    def announce() -> None:
        name = given.value("served-model-name") or model
        keyed = demands_key(given, os.environ)
        say("\n" + client_snippet(ServedAt(api or "", name, command.adapters, command.plugin, keyed)))

    return ServerRun(command.arguments, os.environ, stop_seconds=_stop_seconds(given)).until_end(
        is_ready=lambda: api is not None and answers(api), when_ready=announce
    )


def _stop_seconds(given: VllmFlags) -> float:
    try:
        return _STOP_SECONDS + float(given.value("shutdown-timeout") or 0)
    except ValueError:  # vLLM will say so.
        return _STOP_SECONDS
