"""``raif-integrations doctor``: what is installed, what a server is, and whether RAIF works on it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING

from raif_integrations.cli.console import say
from raif_integrations.errors import ConfigurationError

if TYPE_CHECKING:
    from raif_integrations.cli.console import Subparsers
    from raif_integrations.cli.diagnosis.findings import Finding

_DESCRIPTION = """\
Looks for what keeps RAIF from working, and says what to do about it.

  raif-integrations doctor                                        this installation
  raif-integrations doctor --base-url http://localhost:8000/v1    a running vLLM server, too
  raif-integrations doctor --embedded --model MODEL               a model in this process, too

With a server or a model it has that write an object and a tool call in RAIF. Exit code 1 means that something
does not work.
"""

_TIMEOUT = 120.0
_TRIAL = "RAIF there and back"


def add_parser(subparsers: Subparsers) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "doctor",
        help="find out why something does not work",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--base-url", metavar="URL", help="address of a vLLM server, http://host:port/v1")
    parser.add_argument(
        "--api-key", metavar="KEY", help="the server's key (default: the environment variable VLLM_API_KEY)"
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="model or adapter of the server to try (default: an adapter named after RAIF, else the first "
        "model); with --embedded, folder or hub name of the model",
    )
    parser.add_argument("--embedded", action="store_true", help="load --model in this process and try it")
    parser.add_argument(
        "--adapter", metavar="PLACE", help="with --embedded, folder or hub name of an adapter to try"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=_TIMEOUT,
        metavar="SECONDS",
        help="how long to wait for a reply (default: %(default)g)",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Looks, and prints what it finds.

    Returns:
        1 if something does not work, else 0.

    Raises:
        ConfigurationError: The options contradict each other.
    """
    _check(arguments)
    from raif_integrations.cli.diagnosis.listing import Listing, as_json

    listing = None if arguments.json else Listing()
    sections: dict[str, list[Finding]] = {}

    def show(title: str, findings: Iterable[Finding]) -> None:
        if listing is not None:
            listing.section(title)
        found = sections.setdefault(title, [])
        for finding in findings:
            found.append(finding)
            if listing is not None:
                listing.add(finding)

    _look(arguments, show)
    every = [finding for found in sections.values() for finding in found]
    if listing is None:
        say(as_json(sections))
    else:
        listing.end(every)
    return int(any(finding.level == "fail" for finding in every))


def _check(arguments: argparse.Namespace) -> None:
    if arguments.embedded and arguments.base_url:
        raise ConfigurationError("Both --embedded and --base-url are given.", hint="Give one of them.")
    if arguments.embedded and not arguments.model:
        raise ConfigurationError("--embedded needs a model.", hint="Give --model with a folder or hub name.")
    if not arguments.embedded and arguments.adapter:
        raise ConfigurationError(
            "--adapter is for --embedded.", hint="Name an adapter of a server with --model."
        )
    if (arguments.model or arguments.api_key) and not (arguments.base_url or arguments.embedded):
        raise ConfigurationError("--model and --api-key need something to try.", hint="Give --base-url too.")
    if not arguments.timeout > 0:
        raise ConfigurationError(f"--timeout is {arguments.timeout:g}.", hint="Give seconds above 0.")


def _look(arguments: argparse.Namespace, show: Callable[[str, Iterable[Finding]], None]) -> None:
    from raif_integrations.cli.diagnosis.installation import check_installation

    show(
        "This installation",
        check_installation(runs_models=arguments.embedded, tries_vllm=not arguments.base_url),
    )
    if arguments.base_url:
        _look_at_server(arguments, show)
    elif arguments.embedded:
        _look_at_model(arguments, show)


def _look_at_server(arguments: argparse.Namespace, show: Callable[[str, Iterable[Finding]], None]) -> None:
    from raif_integrations.cli.diagnosis.round_trip import check_any_client, check_round_trip
    from raif_integrations.cli.diagnosis.server import Target, check_server
    from raif_integrations.engines.server import ServerEngine

    target = Target()
    with ServerEngine(
        arguments.base_url,
        api_key=arguments.api_key,
        model=arguments.model,
        timeout=arguments.timeout,
        max_retries=0,
    ) as engine:
        show("Server", check_server(engine, arguments.model, target))
        if target.name is not None:
            decoded = check_any_client(engine, target.name) if target.decodes else ()
            show(_TRIAL, chain(check_round_trip(engine, target.name), decoded))


def _look_at_model(arguments: argparse.Namespace, show: Callable[[str, Iterable[Finding]], None]) -> None:
    from raif_integrations.cli.diagnosis.round_trip import check_round_trip
    from raif_integrations.settings import EngineSettings

    settings = EngineSettings(model=arguments.model, adapter=arguments.adapter, timeout=arguments.timeout)
    with settings.create() as engine:
        show(_TRIAL, check_round_trip(engine, settings.target))
