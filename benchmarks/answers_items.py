"""The held-out items: what is asked, and the one right answer.

The format of the files is described in ``held_out/README.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from raif_integrations.contract import OutputContract
from raif_integrations.conversation.tools import Tool, ToolChoice
from raif_integrations.engines.base import Message
from raif_integrations.openai_format import contract_for, tool_choice_from, tools_from_dicts
from raif_integrations.turn.types import Wire

HELD_OUT: Final = Path(__file__).resolve().parent / "held_out"

OUTPUT_KINDS: Final = ("record", "nested", "list", "table", "optional", "enum", "digits", "multiline")
TOOL_KINDS: Final = ("tool", "plan", "after_result")
KINDS: Final = (*OUTPUT_KINDS, *TOOL_KINDS, "chat")


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call the model should make.

    Attributes:
        name: Name of the tool.
        arguments: The right arguments, or ``None`` where only the choice of the tool counts.
    """

    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to ask, and its right answer.

    Attributes:
        id: Unique.
        kind: One of :data:`KINDS`.
        messages: The conversation; the model answers its last message.
        schema: JSON Schema of the answer, or ``None``.
        value: The right object, if there is a schema.
        tools: OpenAI tool dicts.
        tool_choice: ``auto``, ``required`` or the dict that names a tool.
        calls: The right calls; none where a reply in text is right.
        facts: What a reply in text must contain.
    """

    id: str
    kind: str
    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    value: Any = None
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: Any = "auto"
    calls: tuple[ExpectedCall, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def expects_object(self) -> bool:
        """The right answer is an object or calls, not text."""
        return self.schema is not None or bool(self.calls)

    def contract(self, wire: Wire) -> OutputContract | None:
        """The contract of the answer, if it has a schema."""
        if self.schema is None:
            return None
        return contract_for(self.schema, name=str(self.schema["title"]), wire=wire)

    def turn_tools(self, wire: Wire) -> tuple[Tool, ...]:
        """The tools, as a turn takes them."""
        return tools_from_dicts(self.tools, wire=wire)

    def turn_choice(self) -> ToolChoice:
        """The tool choice, as a turn takes it."""
        return tool_choice_from(self.tool_choice, [tool["function"]["name"] for tool in self.tools])

    def expected_objects(self, wire: Wire) -> Iterator[tuple[OutputContract, Any]]:
        """Each right object or right arguments, with the contract it belongs to."""
        contract = self.contract(wire)
        if contract is not None:
            yield contract, self.value
        tools = {tool.name: tool for tool in self.turn_tools(wire)}
        for call in self.calls:
            if call.arguments is not None:
                yield tools[call.name].contract, call.arguments


def load_items(
    folder: Path = HELD_OUT, *, kinds: Iterable[str] = KINDS, limit: int | None = None
) -> list[Item]:
    """Reads the items.

    Args:
        folder: Where the ``.jsonl`` files lie.
        kinds: Only these.
        limit: About so many, spread over all kinds: every n-th.

    Returns:
        The items in the order of :data:`KINDS` and their ids.

    Raises:
        ValueError: There are none, or an id occurs twice.
    """
    wanted = set(kinds)
    items = [
        parse_item(json.loads(line))
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    chosen = sorted(
        (item for item in items if item.kind in wanted), key=lambda item: (KINDS.index(item.kind), item.id)
    )
    if not chosen:
        raise ValueError(f"{folder} holds no items of the kinds {sorted(wanted)}.")
    if len({item.id for item in chosen}) < len(chosen):
        raise ValueError(f"An id occurs twice in {folder}.")
    return chosen if limit is None else chosen[:: max(len(chosen) // limit, 1)]


def parse_item(record: Mapping[str, Any]) -> Item:
    """Reads one line.

    Raises:
        ValueError: The kind is unknown.
    """
    if record["kind"] not in KINDS:
        raise ValueError(f"Item {record['id']} has the unknown kind {record['kind']!r}.")
    return Item(
        id=record["id"],
        kind=record["kind"],
        messages=record["messages"],
        schema=record.get("schema"),
        value=record.get("value"),
        tools=record.get("tools", ()),
        tool_choice=record.get("tool_choice", "auto"),
        calls=tuple(ExpectedCall(call["name"], call.get("arguments")) for call in record.get("calls", ())),
        facts=tuple(record.get("facts", ())),
    )
