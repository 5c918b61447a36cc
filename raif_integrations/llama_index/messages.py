"""LlamaIndex chat messages as OpenAI-shaped message dicts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    ContentBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from raif_integrations.engines.base import Message
from raif_integrations.errors import ConfigurationError

_ROLES = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}


def to_message_dicts(messages: Sequence[ChatMessage]) -> list[Message]:
    """Converts a chat history.

    Text blocks are joined by a newline, as ``ChatMessage.content`` does; reasoning is left out, because
    a model must not read its old reasoning again; tool calls come from ``ToolCallBlock``s or, without
    any, from ``additional_kwargs["tool_calls"]``. Calls without an id get one, and a tool result
    without an id answers the earliest call that has no answer yet.

    Args:
        messages: The history; never changed.

    Returns:
        New message dicts, one for each message.

    Raises:
        ConfigurationError: ``messages`` is not a sequence of chat messages.
    """
    if isinstance(messages, str | ChatMessage):
        raise ConfigurationError(
            f"messages is a {type(messages).__name__}.", hint="Give a list of ChatMessage objects."
        )
    converted: list[Message] = []
    unanswered: list[str] = []
    for index, message in enumerate(messages):
        if not isinstance(message, ChatMessage):
            raise ConfigurationError(
                f"messages[{index}] is a {type(message).__name__}.", hint="Give ChatMessage objects."
            )
        role = _ROLES[message.role]
        result: Message = {"role": role, "content": _content(message)}
        if role == "assistant":
            calls = list(_tool_calls(message, index))
            if calls:
                result["tool_calls"] = calls
                unanswered.extend(call["id"] for call in calls)
        elif role == "tool":
            result.update(_tool_result_origin(message, unanswered))
        converted.append(result)
    return converted


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    """The text, or a list of parts where a block is not text (the turn says what it cannot send)."""
    parts = [part for block in message.blocks for part in _parts(block)]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _parts(block: ContentBlock) -> Iterator[dict[str, Any]]:
    match block:
        case TextBlock(text=text):
            yield {"type": "text", "text": text}
        case CitableBlock():
            for inner in block.content:
                yield from _parts(inner)
        case CitationBlock():
            yield from _parts(block.cited_content)
        case ThinkingBlock() | ToolCallBlock() | CachePoint():
            return
        case _:
            yield {"type": block.block_type}


def _tool_calls(message: ChatMessage, index: int) -> Iterator[dict[str, Any]]:
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    found = (
        [(block.tool_call_id, block.tool_name, block.tool_kwargs) for block in blocks]
        if blocks
        else [legacy_tool_call(call) for call in message.additional_kwargs.get("tool_calls") or ()]
    )
    for position, (call_id, name, arguments) in enumerate(found):
        yield {
            "id": call_id or f"call_{index}_{position}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }


def legacy_tool_call(call: Any) -> tuple[str, str, dict[str, Any] | str]:
    """Reads a tool call kept in ``additional_kwargs``.

    Args:
        call: An OpenAI tool call, as a dict (after a trip through JSON) or as the SDK's object.

    Returns:
        Id, name and arguments; id and name may be empty.
    """
    function = _get(call, "function") or {}
    arguments = _get(function, "arguments")
    if not isinstance(arguments, dict | str):
        arguments = {} if arguments is None else json.dumps(arguments)
    return str(_get(call, "id") or ""), str(_get(function, "name") or ""), arguments


def _get(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)


def _tool_result_origin(message: ChatMessage, unanswered: list[str]) -> dict[str, str]:
    """Which call a tool message answers; the call leaves ``unanswered``."""
    origin: dict[str, str] = {}
    name = message.additional_kwargs.get("name")
    if name:
        origin["name"] = str(name)
    call_id = message.additional_kwargs.get("tool_call_id") or next(iter(unanswered), None)
    if call_id:
        origin["tool_call_id"] = str(call_id)
        if call_id in unanswered:
            unanswered.remove(call_id)
    return origin
