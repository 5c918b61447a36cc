"""What a turn gives, as LangChain messages and chunks.

A reply looks the same however it was asked for: the sum of a stream's chunks equals the message of
``invoke``. Two things of langchain-core decide how chunks are made:

* ``AIMessageChunk`` completes unfinished JSON, so that cut-off arguments become a valid call. The
  arguments of a call that is not whole are therefore ended by a bracket that does not match, which
  every path of core (``invoke``, summed chunks, version 3 events) puts into ``invalid_tool_calls``.
* With ``output_version="v1"`` blocks are merged by index, so calls are numbered after the blocks of
  text and reasoning before them.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.json import parse_partial_json

from raif_integrations.engines.base import Usage
from raif_integrations.langchain.argument_chunks import argument_chunk
from raif_integrations.turn.types import (
    InvalidToolCall,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    TurnEvent,
    TurnResult,
)

PROVIDER = "vllm"
"""``model_provider`` of every message. Core has no translator of that name and reads blocks generically."""

REASONING_KEY = "reasoning_content"
"""Key of ``additional_kwargs`` from which core makes a reasoning block."""


def chat_result(result: TurnResult) -> ChatResult:
    """Dresses a finished turn as the result of one generation."""
    message = AIMessage(
        content=_text(result),
        additional_kwargs={REASONING_KEY: result.reasoning} if result.reasoning else {},
        tool_calls=[tool_call(id=call.id, name=call.name, args=call.arguments) for call in result.tool_calls],
        invalid_tool_calls=[
            invalid_tool_call(
                id=call.id,
                name=call.name,
                args=broken_arguments(call.certain, call.text),
                error=call.error,
            )
            for call in result.invalid_tool_calls
        ],
        usage_metadata=usage_metadata(result.usage),
        response_metadata=response_metadata(result),
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


class ChunkMaker:
    """Makes the chunks of one streamed turn."""

    def __init__(self) -> None:
        self._blocks_before: list[str] = []
        self._first_index: int | None = None
        self._arguments: dict[int, list[str]] = {}
        self._texts: list[str] = []

    def chunk(self, event: TurnEvent) -> ChatGenerationChunk | None:
        """The chunk for an event, or ``None`` if there is nothing to say."""
        if isinstance(event, ToolCallDelta):
            self._arguments[event.index].append(event.json)
            return argument_chunk(self._numbered(event.index), event.json)
        message = self._message(event)
        return None if message is None else ChatGenerationChunk(message=message)

    def _message(
        self, event: TextDelta | ReasoningDelta | ToolCallStart | ToolCallEnd | TurnResult
    ) -> AIMessageChunk | None:
        match event:
            case TextDelta():
                return self._text_chunk(event.text)
            case ReasoningDelta():
                self._block("reasoning")
                return AIMessageChunk(content="", additional_kwargs={REASONING_KEY: event.text})
            case ToolCallStart():
                self._arguments[event.index] = []
                return self._call_chunk(event.index, "", call_id=event.id, name=event.name)
            case ToolCallEnd():
                return self._end_of_call(event.index, event.call)
            case TurnResult():
                return self._last_chunk(event)

    def _block(self, kind: str) -> None:
        if kind not in self._blocks_before:
            self._blocks_before.append(kind)

    def _text_chunk(self, text: str) -> AIMessageChunk | None:
        if not text:
            return None
        self._block("text")
        self._texts.append(text)
        return AIMessageChunk(content=text)

    def _call_chunk(
        self, index: int, arguments: str, *, call_id: str | None = None, name: str | None = None
    ) -> AIMessageChunk:
        chunk = tool_call_chunk(id=call_id, name=name, args=arguments, index=self._numbered(index))
        return AIMessageChunk(content="", tool_call_chunks=[chunk])

    def _numbered(self, index: int) -> int:
        """The index of a call among the blocks of the message."""
        if self._first_index is None:
            self._first_index = len(self._blocks_before)
        return self._first_index + index

    def _end_of_call(self, index: int, call: ToolCall | InvalidToolCall) -> AIMessageChunk | None:
        streamed = "".join(self._arguments[index])
        if isinstance(call, ToolCall):
            return None if streamed else self._call_chunk(index, "{}")
        return self._call_chunk(index, broken_arguments(streamed, call.text)[len(streamed) :])

    def _last_chunk(self, result: TurnResult) -> AIMessageChunk:
        text, said = _text(result), "".join(self._texts)
        return AIMessageChunk(
            content=text.removeprefix(said) if text.startswith(said) else "",
            usage_metadata=usage_metadata(result.usage),
            response_metadata=response_metadata(result),
            chunk_position="last",
        )


def usage_metadata(usage: Usage) -> UsageMetadata:
    """Token counts in LangChain's form."""
    found = UsageMetadata(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.total_tokens,
    )
    if usage.cached_tokens:
        found["input_token_details"] = InputTokenDetails(cache_read=usage.cached_tokens)
    return found


def response_metadata(result: TurnResult) -> dict[str, Any]:
    """Model, finish reason, request id and the report of the turn, as plain JSON data.

    ``raif["errors"]`` is there only if a call or the value does not fit: a list of
    ``{"name", "id", "error", "text", "fields"}``, where ``name`` and ``id`` are ``None`` for the value.
    """
    report = result.report.to_dict()
    if errors := _errors(result):
        report["errors"] = errors
    return {
        "model_name": result.model,
        "model_provider": PROVIDER,
        "finish_reason": result.finish_reason,
        "request_id": result.request_id,
        "raif": report,
    }


def _errors(result: TurnResult) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "name": call.name,
            "id": call.id,
            "error": call.error,
            "text": call.text,
            "fields": [str(error) for error in call.errors],
        }
        for call in result.invalid_tool_calls
    ]
    output = result.output
    if output is not None and not output.ok:
        fields = [str(error) for error in output.errors]
        cut_off = "the reply was cut off before the value was complete; raise max_tokens"
        error = cut_off if output.truncated else "; ".join(fields) or "the value does not fit its schema"
        text = result.report.text
        found.append({"name": None, "id": None, "error": error, "text": text, "fields": fields})
    return found


def _text(result: TurnResult) -> str:
    """The content. Of a value that does not fit, the JSON of its complete part, or the model's own text."""
    if result.text or result.output is None or result.output.ok:
        return result.text
    return result.report.text


def broken_arguments(prefix: str, text: str) -> str:
    """Arguments that no parser takes for whole.

    Args:
        prefix: The JSON that is certain so far; empty if there is none.
        text: What the model wrote.

    Returns:
        Text that starts with ``prefix``, or the model's own text.
    """
    if prefix:
        return prefix + _mismatched_end(prefix)
    return text + _mismatched_end(text) if not text or _is_taken_for_object(text) else text


def _is_taken_for_object(text: str) -> bool:
    try:
        return isinstance(parse_partial_json(text), dict)
    except ValueError:
        return False


def _mismatched_end(text: str) -> str:
    """What to append to JSON text so that it ends with a closing bracket of the wrong kind."""
    open_brackets: list[str] = []
    in_string = escaped = False
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "{[":
            open_brackets.append(character)
        elif character in "}]" and open_brackets:
            open_brackets.pop()
    ending = ("\\" if escaped else "") + ('"' if in_string else "")
    return ending + ("]" if open_brackets and open_brackets[-1] == "{" else "}")
