"""LangChain messages as OpenAI-shaped message dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from raif_integrations.engines.base import Message
from raif_integrations.errors import RequestError

# Blocks of an assistant's content that repeat what the message holds elsewhere, or that only the
# provider which made them can read back.
_NOT_SAID = frozenset(
    {
        "function_call",
        "invalid_tool_call",
        "input_json_delta",
        "non_standard",
        "reasoning",
        "redacted_thinking",
        "thinking",
        "tool_call",
        "tool_call_chunk",
        "tool_use",
    }
)

_OPENAI_MEDIA = {"image": "image_url", "audio": "input_audio", "video": "video_url", "file": "file"}


def message_dicts(messages: Sequence[BaseMessage]) -> list[Message]:
    """Converts a conversation.

    Text stays text, past tool calls keep their arguments as they are (also those that do not fit
    their schema), media become OpenAI content parts. The messages are not changed.

    Args:
        messages: LangChain messages.

    Returns:
        One dict for each message.

    Raises:
        RequestError: A message is of a kind that is not part of a prompt.
    """
    return [_message_dict(message, index) for index, message in enumerate(messages)]


def _message_dict(message: BaseMessage, index: int) -> Message:
    match message:
        case AIMessage():
            found = _assistant(message)
        case ToolMessage():
            found = {
                "role": "tool",
                "content": _content(message.content),
                "tool_call_id": message.tool_call_id,
                "status": message.status,
            }
        case FunctionMessage():
            found = {"role": "tool", "content": _content(message.content)}
        case HumanMessage():
            found = {"role": "user", "content": _content(message.content)}
        case SystemMessage():
            found = {"role": "system", "content": _content(message.content)}
        case ChatMessage():
            found = {"role": message.role, "content": _content(message.content)}
        case _:
            raise RequestError(
                f"Message {index} is a {type(message).__name__}.",
                hint="A prompt consists of system, human, AI and tool messages.",
            )
    return {**found, "name": message.name} if message.name else found


def _assistant(message: AIMessage) -> Message:
    found: Message = {"role": "assistant", "content": _said(message.content)}
    calls = [
        *(_call(call["id"], call["name"], call["args"]) for call in message.tool_calls),
        *(_call(call["id"], call["name"], call["args"] or "") for call in message.invalid_tool_calls),
    ]
    legacy = message.additional_kwargs.get("function_call")
    if not calls and isinstance(legacy, dict):
        calls = [_call(None, legacy.get("name"), legacy.get("arguments"))]
    return {**found, "tool_calls": calls} if calls else found


def _call(call_id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    return {
        "id": call_id or "",
        "type": "function",
        "function": {"name": name or "", "arguments": arguments},
    }


def _said(content: str | list[str | dict[str, Any]]) -> str | list[Any]:
    """What an assistant said: its text in one piece, since blocks of one reply are not separate lines."""
    if isinstance(content, str):
        return content
    said = [block for block in content if isinstance(block, str) or block.get("type") not in _NOT_SAID]
    texts = [block if isinstance(block, str) else block.get("text") for block in said]
    if all(isinstance(text, str) for text in texts):
        return "".join(map(str, texts))
    return _content(said)


def _content(content: str | list[str | dict[str, Any]]) -> str | list[Any]:
    if isinstance(content, str):
        return content
    return [block if isinstance(block, str) else _part(block) for block in content]


def _part(block: dict[str, Any]) -> dict[str, Any]:
    """A content block as an OpenAI content part; blocks in OpenAI's own form pass unchanged."""
    kind = block.get("type")
    if kind == "text":
        return {"type": "text", "text": block.get("text", "")}
    if kind == "text-plain" and isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    if kind == "image" and (url := _media_url(block)):
        return {"type": "image_url", "image_url": {"url": url}}
    if kind in _OPENAI_MEDIA and "source_type" not in block:
        return {**block, "type": _OPENAI_MEDIA[kind]}
    return dict(block)


def _media_url(block: dict[str, Any]) -> str | None:
    """URL of an image in LangChain's standard form or Anthropic's; data becomes a ``data:`` URL."""
    source = block.get("source")
    found = source if isinstance(source, dict) else block
    if url := found.get("url"):
        return str(url)
    data = found.get("base64") or found.get("data")
    media_type = found.get("mime_type") or found.get("media_type") or "image/png"
    return f"data:{media_type};base64,{data}" if data else None
