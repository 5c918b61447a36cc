"""What goes into a turn and what comes out of it, in no framework's terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from raif_integrations.conversation.tools import NamedTool, Tool, ToolChoice
from raif_integrations.engines.base import FinishReason, Message, Sampling, Usage

__all__ = [
    "InvalidToolCall",
    "NamedTool",
    "Prompting",
    "RaifReport",
    "ReasoningDelta",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolChoice",
    "TurnEvent",
    "TurnOptions",
    "TurnRequest",
    "TurnResult",
    "Wire",
]

if TYPE_CHECKING:
    from raif_integrations.contract import OutputContract
    from raif_integrations.contract.report import Decoded, FieldError, Repair

Prompting: TypeAlias = Literal["auto", "trained", "primer"]
"""``trained``: the bare cue RAIF adapters were trained on. ``primer``: two lines that explain RAIF and
the described cue, for any other model. ``auto``: ``trained`` if the model's or adapter's name contains
``raif``, else ``primer``."""


def is_raif_name(name: str) -> bool:
    """Whether the name of a model or adapter says RAIF-trained; of a path only the last part counts."""
    return "raif" in PurePath(name).name.lower()


Wire: TypeAlias = Literal["auto", "raif", "json", "server"]
"""``auto``: RAIF where it can carry the schema, else JSON. ``raif``: RAIF or an error. ``json``: JSON.
``server``: a server with a RAIF plugin shows the schema and decodes the reply; it decides on RAIF or JSON."""


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """How a turn is carried out.

    Attributes:
        prompting: How the model is shown the schema.
        constrain: The engine enforces the grammar, so that every finished reply decodes and validates.
        repair_attempts: How often missing or broken fields are asked for again.
        server_decoding: The server's plugin shows tools and schema and decodes; what it gives back is
            typed, validated and repaired all the same. ``prompting`` and ``constrain`` then apply to
            repairs only. The engine must be one that asks a server.
    """

    prompting: Prompting = "auto"
    constrain: bool = True
    repair_attempts: int = 1
    server_decoding: bool = False


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn of a conversation.

    Attributes:
        messages: OpenAI-shaped messages. An assistant message may carry ``tool_calls``
            (``[{"id", "type": "function", "function": {"name", "arguments": <JSON text or dict>}}]``),
            a ``tool`` message its ``tool_call_id``. Content is a string or a list of OpenAI content
            parts. Never changed.
        sampling: How tokens are chosen.
        model: Name of the model or adapter to ask; ``None`` is the engine's default.
        tools: Tools the model may call; empty for none.
        tool_choice: Whether and what it must call.
        parallel_tool_calls: More than one call in a turn is allowed.
        output: What the reply must look like if it is not free text. With tools, it applies to
            the reply that ends the calls.
        options: How the turn is carried out.
        timeout: Seconds for each generation, or ``None``.
        chat_template_kwargs: Passed to the chat template.
    """

    messages: Sequence[Message]
    sampling: Sampling = field(default_factory=Sampling)
    model: str | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = "auto"
    parallel_tool_calls: bool = True
    output: OutputContract | None = None
    options: TurnOptions = field(default_factory=TurnOptions)
    timeout: float | None = None
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call whose arguments validate.

    Attributes:
        id: Unique id of the call.
        name: Name of the tool.
        arguments: The decoded arguments.
        raif: The RAIF (or JSON) text the model wrote for them.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    raif: str


@dataclass(frozen=True, slots=True)
class InvalidToolCall:
    """A call whose arguments are truncated or do not fit.

    Attributes:
        id: Unique id of the call.
        name: Name of the tool.
        text: The text the model wrote for the arguments.
        error: What is wrong, in a sentence.
        errors: Each missing or broken field.
        truncated: The reply was cut off.
        certain: JSON text of the arguments as far as they are certain, before any repair.
    """

    id: str
    name: str
    text: str
    error: str
    errors: tuple[FieldError, ...] = ()
    truncated: bool = False
    certain: str = ""


@dataclass(frozen=True, slots=True)
class RaifReport:
    """How the reply was made, for ``response_metadata["raif"]``.

    Attributes:
        text: What the model wrote for the value or the calls (several texts are joined by a blank line).
        wire: ``raif`` or ``json``; ``server`` for what a server decoded; ``None`` for plain text.
        repairs: What was put right while decoding.
        repair_requests: How many times fields were asked for again.
        plan: Names the model planned to call, ``("reply",)``, or ``None`` if no plan was asked for.
        completion_tokens: Tokens the model wrote over all generations of the turn.
    """

    text: str = ""
    wire: Literal["raif", "json", "server"] | None = None
    repairs: tuple[Repair, ...] = ()
    repair_requests: int = 0
    plan: tuple[str, ...] | None = None
    completion_tokens: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON data."""
        return {
            "text": self.text,
            "wire": self.wire,
            "repairs": [
                {"kind": repair.kind, "path": repair.path, "detail": repair.detail} for repair in self.repairs
            ],
            "repair_requests": self.repair_requests,
            "plan": list(self.plan) if self.plan is not None else None,
            "completion_tokens": self.completion_tokens,
        }


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What came of a turn.

    Attributes:
        text: Everything that was streamed as text: the free text of the reply or, with ``output``,
            the value as JSON text (its complete part where the reply does not decode).
        reasoning: Reasoning text, kept apart.
        tool_calls: Calls with valid arguments, in the order of the plan.
        invalid_tool_calls: Calls that cannot be made.
        output: The decoded value, if the turn had an ``output``.
        finish_reason: ``tool_calls`` if there are valid calls, else the engine's reason.
        usage: Tokens over all generations of the turn.
        model: Name of the model or adapter that answered.
        request_id: The engine's id of the (last) request.
        report: How the reply was made.
    """

    text: str
    finish_reason: FinishReason | Literal["tool_calls"]
    usage: Usage
    model: str
    request_id: str
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    invalid_tool_calls: tuple[InvalidToolCall, ...] = ()
    output: Decoded | None = None
    report: RaifReport = field(default_factory=RaifReport)


class Growing(Protocol):
    """A value that is still being written."""

    @property
    def value(self) -> Any:
        """The value as far as it is known; a fresh copy."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """New text of the reply. With ``output``, append-only JSON text.

    Attributes:
        text: The new text.
        growing: The value behind the text, with ``output``; it goes on growing with the stream.
    """

    text: str
    growing: Growing | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> Any:
        """With ``output``, the value as far as it is known now (a fresh copy), else ``None``."""
        return None if self.growing is None else self.growing.value


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """New reasoning text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call begins; its arguments follow under the same ``index``."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """New arguments of a call.

    Attributes:
        index: Which call.
        json: Append-only JSON text; the pieces of a valid call concatenate to exactly its arguments.
        growing: The arguments behind it; they go on growing with the stream.
    """

    index: int
    json: str
    growing: Growing | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> Any:
        """The arguments as far as they are known now (a fresh copy)."""
        return {} if self.growing is None else self.growing.value


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """A call is complete, valid or not."""

    index: int
    call: ToolCall | InvalidToolCall


TurnEvent: TypeAlias = TextDelta | ReasoningDelta | ToolCallStart | ToolCallDelta | ToolCallEnd | TurnResult
"""What a streamed turn yields; a :class:`TurnResult` is always the last."""
