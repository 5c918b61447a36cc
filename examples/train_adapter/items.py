"""What one exercise is: messages, and the one right answer to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """An exercise, in the form of the held-out sets of ``benchmarks``.

    Attributes:
        kind: ``record``, ``nested``, ``list``, ``table``, ``optional``, ``enum``, ``digits``,
            ``multiline``, ``tool``, ``plan``, ``one_pass``, ``after_result`` or ``chat``.
        messages: OpenAI-shaped messages; the last is to be answered.
        schema: What the answer must look like, where a value is asked for.
        value: The right value.
        tools: OpenAI tool dicts.
        tool_choice: As in OpenAI's API.
        calls: The right calls, ``{"name", "arguments"}``; arguments may be left out where only the
            choice of the tool counts.
        reply: The right text, where text is right.
        one_pass: The choice and the arguments are written in one generation, as the vLLM plugin asks for.
    """

    kind: str
    messages: list[dict[str, Any]]
    schema: dict[str, Any] | None = None
    value: Any = None
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: Any = "auto"
    calls: list[dict[str, Any]] = field(default_factory=list)
    reply: str | None = None
    one_pass: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The item as JSON data."""
        data: dict[str, Any] = {"kind": self.kind, "messages": self.messages}
        if self.schema is not None:
            data |= {"schema": self.schema, "value": self.value}
        if self.tools:
            data |= {"tools": self.tools, "tool_choice": self.tool_choice, "calls": self.calls}
        if self.reply is not None:
            data["reply"] = self.reply
        if self.one_pass:
            data["one_pass"] = True
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Item:
        """Reads what :meth:`to_dict` wrote, and the held-out files; other keys are left out."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        return cls(**known)
