"""Whether the server runs the RAIF plugin, and with which flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points

from raif_integrations.cli.installed_vllm import InstalledVllm
from raif_integrations.cli.serving.flags import Flags, VllmFlags
from raif_integrations.errors import ConfigurationError
from raif_integrations.vllm_plugin.flags import server_flags

ENTRY_POINT = "raif_integrations"
"""The plugin's name among vLLM's plugins."""

PLUGIN_GROUP = "vllm.general_plugins"

OLDEST_VLLM = "0.29"

# Where the plugin takes hold; vLLM has both from 0.29 on.
_SEAMS = ("vllm.entrypoints.generate.base.protocol", "vllm.renderers.online_renderer")

# With another parser in one of these places the plugin has no hold on the requests.
_DECISIVE = ("tool-call-parser", "reasoning-parser")

_WITHOUT = (
    "ChatRaifVLLM and RaifVLLM work with the server all the same; other OpenAI clients get no RAIF from it"
)


@dataclass(frozen=True, slots=True)
class PluginUse:
    """A decision.

    Attributes:
        active: The server runs the plugin.
        reason: Why, in a sentence.
        flags: The flags that switch it on.
    """

    active: bool
    reason: str
    flags: Flags = field(default_factory=dict)


def has_seams(vllm: InstalledVllm) -> bool:
    """Whether the plugin can work in this vLLM."""
    return all(map(vllm.has_module, _SEAMS))


def plugin_is_visible() -> bool:
    """Whether vLLM finds the plugin when it looks for its plugins."""
    return any(point.name == ENTRY_POINT for point in entry_points(group=PLUGIN_GROUP))


def allowed_by(environment: Mapping[str, str]) -> bool:
    """Whether ``VLLM_PLUGINS``, a list of the plugins vLLM may load, has this one."""
    allowed = environment.get("VLLM_PLUGINS")
    return allowed is None or ENTRY_POINT in [name.strip() for name in allowed.split(",")]


def use_plugin(
    vllm: InstalledVllm, given: VllmFlags, environment: Mapping[str, str], *, wanted: bool
) -> PluginUse:
    """Decides on the plugin.

    Args:
        vllm: The vLLM that will run.
        given: The user's own flags.
        environment: Environment variables of the server.
        wanted: The user wants it.

    Raises:
        ConfigurationError: vLLM could run the plugin, but will not load it.
    """
    if not wanted:
        return PluginUse(False, f"off, as --no-plugin says; {_WITHOUT}")
    ours = VllmFlags(server_flags())
    taken = [
        f"--{name} {given.value(name)}"
        for name in _DECISIVE
        if name in given and given.value(name) != ours.value(name)
    ]
    if taken:
        return PluginUse(False, f"off, because you gave {' and '.join(taken)}; {_WITHOUT}")
    if not has_seams(vllm):
        return PluginUse(
            False,
            f"off, because vLLM {vllm.version or ''} is too old for it ({OLDEST_VLLM} or newer will do). "
            f"{_WITHOUT}. For those, update vLLM, or use the package raif-vllm, made for vLLM 0.19",
        )
    if not plugin_is_visible():
        raise ConfigurationError(
            "vLLM would not find the RAIF plugin: this package is importable, but not installed.",
            hint="Install it (pip install raif-integrations), or start with --no-plugin.",
        )
    if not allowed_by(environment):
        raise ConfigurationError(
            f"The environment variable VLLM_PLUGINS keeps vLLM from loading the plugin {ENTRY_POINT!r}.",
            hint=f"Add {ENTRY_POINT!r} to it, unset it, or start with --no-plugin.",
        )
    return PluginUse(True, "on; any client's `tools` and `response_format` go over RAIF", ours.as_flags())
