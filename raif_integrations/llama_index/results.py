"""What a turn gives, as LlamaIndex responses.

Messages of a stream are cumulative and their last chunk is the whole message, which is what agents
keep. Every response holds its tool calls twice, as ``ToolCallBlock``s and as plain JSON dicts in
``message.additional_kwargs["tool_calls"]``, because LlamaIndex's programs look for the second only.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Any, TypeVar, cast

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    ContentBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from pydantic import PrivateAttr

from raif_integrations.engines.base import Usage
from raif_integrations.llama_index.validity import check_turn
from raif_integrations.turn.types import (
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    TurnEvent,
    TurnResult,
)

ResponseT = TypeVar("ResponseT")


class RaifChatResponse(ChatResponse):
    """A chat response that remembers what it was made of.

    ``raw`` and ``additional_kwargs`` hold plain JSON data only, so that responses can be stored and
    sent in events. The turn's own result stays reachable in this process through :attr:`turn`.
    """

    _turn: TurnResult | None = PrivateAttr(default=None)
    _growing: TextDelta | None = PrivateAttr(default=None)

    @property
    def turn(self) -> TurnResult | None:
        """The turn's result; ``None`` on every chunk of a stream but the last."""
        return self._turn

    @property
    def value(self) -> Any:
        """With ``response_format``, the decoded value; in a stream, as far as it is known by now."""
        if self._turn is not None:
            return self._turn.output.value if self._turn.output is not None else None
        return self._growing.value if self._growing is not None else None


def to_chat_response(result: TurnResult, *, delta: str | None = None) -> RaifChatResponse:
    """Dresses a finished turn.

    Args:
        result: The turn.
        delta: Text that a stream has not handed out yet; ``None`` outside of streams.

    Returns:
        A response with the whole message, token counts, and ``raw`` in the shape of OpenAI's reply:
        ``id``, ``model``, ``finish_reason``, ``usage`` and ``raif``, the report of the turn.

    Raises:
        OutputError: A call's arguments or the output do not fit their schema.
    """
    check_turn(result)
    usage = _usage(result.usage)
    response = RaifChatResponse(
        message=_message(
            result.text,
            result.reasoning,
            [_call_block(call.id, call.name, call.arguments) for call in result.tool_calls],
        ),
        delta=delta,
        raw={
            "id": result.request_id,
            "model": result.model,
            "finish_reason": result.finish_reason,
            "usage": usage,
            "raif": result.report.to_dict(),
        },
        additional_kwargs={key: usage[key] for key in ("prompt_tokens", "completion_tokens", "total_tokens")},
    )
    response._turn = result
    return response


def to_completion_response(response: ChatResponse) -> CompletionResponse:
    """The text, counts and ``raw`` of a chat response as a completion."""
    return CompletionResponse(
        text=response.message.content or "",
        delta=response.delta,
        raw=response.raw,
        additional_kwargs=response.additional_kwargs,
    )


def growing(
    events: Iterator[TurnEvent], dress: Callable[[RaifChatResponse], ResponseT]
) -> Generator[ResponseT, None, None]:
    """Turns the events of a streamed turn into cumulative responses.

    Args:
        events: The events; closing the generator closes them, which aborts the generation.
        dress: :func:`to_completion_response`, or :func:`as_it_is` for chat responses.

    Yields:
        A response for each event; the last one is the whole.

    Raises:
        OutputError: A call's arguments or the output do not fit their schema.
    """
    assembly = _Assembly()
    with closing(cast(Any, events)):
        for event in events:
            yield dress(assembly.add(event))


async def agrowing(
    events: AsyncIterator[TurnEvent], dress: Callable[[RaifChatResponse], ResponseT]
) -> AsyncGenerator[ResponseT, None]:
    """:func:`growing` without blocking the event loop."""
    assembly = _Assembly()
    async with aclosing(cast(Any, events)):
        async for event in events:
            yield dress(assembly.add(event))


def as_it_is(response: RaifChatResponse) -> ChatResponse:
    """The chat response itself."""
    return response


class _Assembly:
    """The message of a stream, as far as it has come."""

    def __init__(self) -> None:
        self._text = ""
        self._reasoning = ""
        self._calls: dict[int, ToolCallBlock] = {}

    def add(self, event: TurnEvent) -> RaifChatResponse:
        """Takes the next event and gives the message up to it."""
        match event:
            case TurnResult():
                begun = event.text.startswith(self._text)
                return to_chat_response(event, delta=event.text[len(self._text) :] if begun else "")
            case TextDelta():
                self._text += event.text
                response = self._so_far(delta=event.text)
                response._growing = event
                return response
            case ReasoningDelta():
                self._reasoning += event.text
                return self._so_far(thinking=event.text)
            case ToolCallStart():
                self._calls[event.index] = _call_block(event.id, event.name, {})
            case ToolCallDelta():
                self._replace(event.index, event.value)
            case ToolCallEnd(call=ToolCall() as call):
                self._replace(event.index, call.arguments)
            case ToolCallEnd():
                pass  # The turn's result will say what is wrong with the call.
        return self._so_far()

    def _replace(self, index: int, arguments: Any) -> None:
        if not isinstance(arguments, dict):
            return
        begun = self._calls[index]
        self._calls[index] = _call_block(begun.tool_call_id or "", begun.tool_name, arguments)

    def _so_far(self, *, delta: str = "", thinking: str = "") -> RaifChatResponse:
        return RaifChatResponse(
            message=_message(self._text, self._reasoning, [self._calls[key] for key in sorted(self._calls)]),
            delta=delta,
            additional_kwargs={"thinking_delta": thinking} if thinking else {},
        )


def _message(text: str, reasoning: str, calls: Sequence[ToolCallBlock]) -> ChatMessage:
    blocks: list[ContentBlock] = []
    if reasoning:
        blocks.append(ThinkingBlock(content=reasoning))
    if text or not calls:
        blocks.append(TextBlock(text=text))
    blocks.extend(calls)
    return ChatMessage(
        role=MessageRole.ASSISTANT,
        blocks=blocks,
        additional_kwargs={"tool_calls": [plain_tool_call(call) for call in calls]} if calls else {},
    )


def _call_block(call_id: str, name: str, arguments: dict[str, Any]) -> ToolCallBlock:
    return ToolCallBlock(tool_call_id=call_id, tool_name=name, tool_kwargs=dict(arguments))


def plain_tool_call(block: ToolCallBlock) -> dict[str, Any]:
    """A tool call as JSON data in OpenAI's shape."""
    arguments = block.tool_kwargs
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return {
        "id": block.tool_call_id,
        "type": "function",
        "function": {"name": block.tool_name, "arguments": arguments},
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
