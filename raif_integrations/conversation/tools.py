"""A tool and the choice between tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from raif_integrations.errors import ConfigurationError

if TYPE_CHECKING:
    from raif_integrations.contract import OutputContract


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool the model may call.

    Attributes:
        name: The name the model writes and the caller dispatches on.
        description: When to call it; shown where tools are chosen.
        contract: What its arguments must look like.
    """

    name: str
    description: str
    contract: OutputContract

    @property
    def has_parameters(self) -> bool:
        """The model has arguments to write; otherwise they are ``{}`` without asking.

        A JSON Schema without ``properties`` allows any key, but for a tool it means no parameters,
        unless it describes the keys in another way.
        """
        schema = self.contract.schema
        described = not isinstance(schema, Mapping) or any(schema.get(keyword) for keyword in _DESCRIBING)
        return described or bool(self.contract.tree.root.properties)


_DESCRIBING = (
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "enum",
    "const",
)


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool choice that names one tool."""

    name: str


ToolChoice: TypeAlias = Literal["auto", "required", "none"] | NamedTool
"""As in OpenAI's API: ``required`` is at least one call of any tool."""


def check_tools(tools: Sequence[Tool], choice: ToolChoice) -> None:
    """Refuses tools that a plan cannot tell apart, and a choice that cannot be made.

    Raises:
        ConfigurationError: A name is empty, has edge whitespace or a character that is not printable,
            or occurs twice; or ``choice`` names no tool of ``tools``, or demands a call without tools.
    """
    seen: set[str] = set()
    for tool in tools:
        if not tool.name or tool.name != tool.name.strip() or not tool.name.isprintable():
            raise ConfigurationError(
                f"A tool is named {tool.name!r}.", hint="Give each tool a name of printable characters."
            )
        if tool.name in seen:
            raise ConfigurationError(
                f"Two tools are named {tool.name!r}.", hint="Give each tool its own name."
            )
        seen.add(tool.name)
    if isinstance(choice, NamedTool) and choice.name not in seen:
        known = ", ".join(sorted(seen)) or "none"
        raise ConfigurationError(f"tool_choice names {choice.name!r}.", hint=f"Known tools: {known}.")
    if choice == "required" and not tools:
        raise ConfigurationError("tool_choice demands a call, but there are no tools.", hint="Bind a tool.")
