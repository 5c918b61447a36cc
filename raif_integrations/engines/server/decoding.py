"""What may be left to a server to decode, by what the server is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from raif_integrations.engines.base import ServerDecoding
from raif_integrations.errors import ConfigurationError

Plugin: TypeAlias = Literal["raif-vllm", "raif-integrations"]
"""``raif-vllm``: the plugin of that name, for vLLM 0.19. ``raif-integrations``: this package's own."""


@dataclass(frozen=True, slots=True)
class DecodingFound:
    """Whether a server decodes, as far as that can be found out.

    Attributes:
        plugin: The RAIF plugin that decodes, or ``None`` if there is none or it cannot be told which.
        plugin_version: Its version, where it is told.
        decodes: Whether the server decodes; ``None`` if that cannot be found out.
    """

    plugin: Plugin | None
    plugin_version: str | None
    decodes: bool | None


def loses_streamed_calls(asked: ServerDecoding | None, found: DecodingFound | None) -> bool:
    """Whether the calls of a streamed reply would come without their arguments.

    raif-vllm decodes them at a mark that the published adapters do not write. The arguments of a tool that
    was named are handed on as they are written.
    """
    if asked is None or found is None or not asked.tools or isinstance(asked.tool_choice, Mapping):
        return False
    return found.plugin == "raif-vllm"


def check_decoding(asked: ServerDecoding, found: DecodingFound, api: str) -> None:
    """Refuses to leave decoding to a server that is known not to do it.

    Raises:
        ConfigurationError: No plugin decodes there, or it cannot choose between the tools.
    """
    here = "Leave wire out: replies are then decoded here, on any vLLM server."
    if found.decodes is False:
        raise ConfigurationError(
            f"wire='server' leaves decoding to the server, but {api} has no RAIF plugin that decodes.",
            hint=f"{here} Or start it with a plugin and --enable-auto-tool-choice --tool-call-parser raif "
            "--reasoning-parser raif.",
        )
    named = isinstance(asked.tool_choice, Mapping)
    if found.plugin == "raif-vllm" and len(asked.tools) > 1 and not named:
        raise ConfigurationError(
            f"raif-vllm at {api} calls no tool when several are offered.",
            hint=f"{here} Or name one with tool_choice, or offer one only.",
        )
