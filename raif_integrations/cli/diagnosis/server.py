"""What a running server is, and whether its clients can use it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raif_integrations.cli.diagnosis.findings import Finding, attempt
from raif_integrations.engines.server import ServerEngine
from raif_integrations.engines.server.detection import ServerDescription, describe_server
from raif_integrations.turn.types import is_raif_name


@dataclass(slots=True)
class Target:
    """Which model of the server to ask; filled in by :func:`check_server`.

    Attributes:
        name: Name of the model or adapter; ``None`` if there is none to ask.
        decodes: A plugin decodes for any client there.
    """

    name: str | None = None
    decodes: bool = False


def check_server(engine: ServerEngine, wanted: str | None, target: Target) -> Iterator[Finding]:
    """Finds out what a server is.

    Args:
        engine: An engine for it.
        wanted: Model or adapter the user asks for.
        target: Gets the model to try, if the server can be tried.
    """
    with attempt("server") as reached:
        server = describe_server(engine)
    yield from reached.findings
    if reached.failed:
        return
    yield _version(engine, server)
    yield from _models(server)
    yield _plugin(server)
    for path, reason in server.refused.items():
        yield Finding("info", path, f"not told: {reason}")
    target.name, target.decodes = _target(server, wanted), bool(server.decodes)
    served = [*server.models, *server.adapters]
    if target.name is None:
        yield Finding(
            "warn", "asked", "no model to ask: the server does not list its models", "Give --model."
        )
    elif served and target.name not in served:
        yield Finding(
            "fail", "asked", f"{target.name} is not served here", f"Give --model one of: {', '.join(served)}."
        )
        target.name = None
    else:
        yield Finding("info", "asked", target.name)


def _version(engine: ServerEngine, server: ServerDescription) -> Finding:
    if server.version is None:
        return Finding(
            "warn", "server", f"{engine.base_url} answers, but does not say that it is vLLM", _GATEWAY
        )
    return Finding("ok", "server", f"vLLM {server.version} at {engine.base_url}")


_GATEWAY = (
    "If a gateway lies before it, let /version, /tokenize and the field `structured_outputs` through. "
    "A server other than vLLM knows no such field."
)


def _models(server: ServerDescription) -> Iterator[Finding]:
    for name in server.models:
        window = server.max_model_len.get(name)
        yield Finding("ok", "model", name + (f", {window} tokens of context" if window else ""))
    for name, parent in server.adapters.items():
        yield Finding("ok", "adapter", f"{name}, on {parent}")


def _plugin(server: ServerDescription) -> Finding:
    if server.decodes:
        name = " ".join(filter(None, (server.plugin or "a RAIF plugin", server.plugin_version)))
        return Finding("ok", "plugin", f"{name} decodes `tools` and `response_format` of any client")
    found = "none" if server.decodes is False else "none that shows"
    return Finding(
        "info",
        "plugin",
        f"{found}; ChatRaifVLLM and RaifVLLM need none",
        "For other OpenAI clients start the server with `raif-integrations serve`.",
    )


def _target(server: ServerDescription, wanted: str | None) -> str | None:
    """What the user names, else an adapter that is named after RAIF, else the first model."""
    if wanted is not None:
        return wanted
    named = [name for name in server.adapters if is_raif_name(name)]
    return next(iter([*named, *server.models]), None)
