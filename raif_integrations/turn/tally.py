"""What a turn adds up while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from raif_integrations.contract import OutputContract
from raif_integrations.contract.report import Decoded, Repair
from raif_integrations.engines.base import Delta, FinishReason, Usage
from raif_integrations.turn.types import InvalidToolCall, RaifReport, ToolCall, TurnResult


@dataclass(slots=True)
class Tally:
    """Collects text, calls, usage and repairs over the generations of a turn.

    Attributes:
        server_decoding: Values and calls are decoded by the server.
    """

    server_decoding: bool = False
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    invalid_calls: list[InvalidToolCall] = field(default_factory=list)
    output: Decoded | None = None
    plan: tuple[str, ...] | None = None
    repair_requests: int = 0
    _raif: list[str] = field(default_factory=list)
    _repairs: list[Repair] = field(default_factory=list)
    _json_wire: bool = False
    _usage: Usage = field(default_factory=Usage)
    _finish_reason: FinishReason = "stop"
    _model: str = ""
    _request_id: str = ""

    def note(self, delta: Delta) -> None:
        """Takes usage, finish reason and names from a delta."""
        self._model, self._request_id = delta.model, delta.request_id
        if delta.usage is not None:
            self._usage += delta.usage
        if delta.finish_reason is not None:
            self._finish_reason = delta.finish_reason

    def add_value(self, contract: OutputContract, decoded: Decoded, written: str) -> None:
        """Takes the text and the repairs of a decoded value."""
        self._raif.append(decoded.raif if decoded.ok else written)
        self._repairs += decoded.repairs
        self._json_wire = self._json_wire or contract.wire == "json"

    def add_call(self, call: ToolCall | InvalidToolCall) -> None:
        """Takes a finished call."""
        if isinstance(call, ToolCall):
            self.calls.append(call)
        else:
            self.invalid_calls.append(call)

    def result(self) -> TurnResult:
        """The whole turn."""
        finish_reason: FinishReason = self._finish_reason
        if any(call.truncated for call in self.invalid_calls) or (self.output and self.output.truncated):
            finish_reason = "length"
        return TurnResult(
            text="".join(self.text),
            finish_reason="tool_calls" if self.calls else finish_reason,
            usage=self._usage,
            model=self._model,
            request_id=self._request_id,
            reasoning="".join(self.reasoning),
            tool_calls=tuple(self.calls),
            invalid_tool_calls=tuple(self.invalid_calls),
            output=self.output,
            report=RaifReport(
                text="\n\n".join(self._raif),
                wire=self._wire(),
                repairs=tuple(self._repairs),
                repair_requests=self.repair_requests,
                plan=self.plan,
                completion_tokens=self._usage.completion_tokens,
            ),
        )

    def _wire(self) -> Literal["raif", "json", "server"] | None:
        if not self._raif:
            return None
        if self.server_decoding:
            return "server"
        return "json" if self._json_wire else "raif"
