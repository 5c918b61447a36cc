"""The server's command line: vLLM's server, our flags, and behind them the user's own, untouched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from raif_integrations.cli.installed_vllm import InstalledVllm
from raif_integrations.cli.serving.adapters import adapter_flags, adapters_to_serve
from raif_integrations.cli.serving.flags import Flags, VllmFlags, as_arguments
from raif_integrations.cli.serving.model_template import AUTO, choose_template
from raif_integrations.cli.serving.plugin import use_plugin
from raif_integrations.cli.serving.speculation import use_speculation
from raif_integrations.engines.embedded.arguments import cpu_defaults, structured_outputs
from raif_integrations.engines.speculation import DEFAULT_SPECULATION, Speculation

_COMPILATION = ("compilation-config", "optimization-level")
_CPU_DECISIONS = {
    "enforce-eager": "the model is not compiled (--no-enforce-eager changes that)",
    "kv-cache-memory-bytes": "2 GiB for the context (VLLM_CPU_KVCACHE_SPACE, in GiB, changes that)",
}


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """What the user asks for.

    Attributes:
        model: Folder or hub name of the model.
        adapters: Values of ``--adapter``.
        chat_template: ``auto``, ``none``, the name of a packaged template, or a path.
        plugin: The plugin is wanted.
        speculation: Whether to draft: ``auto``, ``on`` or ``off``.
        arguments: Arguments for vLLM.
    """

    model: str
    adapters: Sequence[str] = ()
    chat_template: str = AUTO
    plugin: bool = True
    speculation: Speculation = DEFAULT_SPECULATION
    arguments: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How to start the server.

    Attributes:
        arguments: The command line.
        decisions: What was decided and why, by subject.
        adapters: Names of the adapters.
        plugin: The server runs the plugin.
        given: The user's own flags.
    """

    arguments: list[str]
    decisions: dict[str, str]
    adapters: tuple[str, ...]
    plugin: bool
    given: VllmFlags


def server_command(
    request: ServeRequest, vllm: InstalledVllm, environment: Mapping[str, str]
) -> ServerCommand:
    """Puts the command line together.

    Args:
        request: What the user asks for.
        vllm: The vLLM that will run.
        environment: Environment variables of the server.

    Raises:
        ConfigurationError: Something asked for contradicts another thing, or cannot be found.
    """
    given = VllmFlags(request.arguments)
    plugin = use_plugin(vllm, given, environment, wanted=request.plugin)
    adapters = adapters_to_serve(request.adapters)
    template = choose_template(request.chat_template, request.model, given)

    flags: Flags = plugin.flags | {
        "structured-outputs-config": json.dumps(structured_outputs(None), separators=(",", ":"))
    }
    speculation = use_speculation(request.speculation, given, cpu=vllm.is_cpu_build)
    flags |= speculation.flags
    decisions = {
        "plugin": plugin.reason,
        "chat template": template.reason,
        "speculation": speculation.reason,
    }
    flags |= adapter_flags(adapters, given, cpu=vllm.is_cpu_build)
    if template.path is not None:
        flags["chat-template"] = template.path
    if vllm.is_cpu_build and (defaults := _cpu_flags(given)):
        flags |= defaults
        decisions["no GPU"] = "; ".join(said for name, said in _CPU_DECISIONS.items() if name in defaults)
    # Ours come first: of a flag given twice vLLM takes the last, so that the user always has the last word.
    ours = as_arguments({name: value for name, value in flags.items() if name not in given})
    return ServerCommand(
        [*vllm.server_command(request.model), *ours, *request.arguments],
        decisions,
        tuple(adapter.name for adapter in adapters),
        plugin.active,
        given,
    )


def _cpu_flags(given: VllmFlags) -> Flags:
    """What the embedded engine sets without a GPU, too: the model starts at once and leaves some memory."""
    flags: Flags = {
        name.replace("_", "-"): None if value is True else str(value)
        for name, value in cpu_defaults(given.as_engine_args()).items()
    }
    if any(name in given for name in _COMPILATION):
        del flags["enforce-eager"]
    return {name: value for name, value in flags.items() if name not in given}
