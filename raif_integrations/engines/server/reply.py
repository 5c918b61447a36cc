"""What a vLLM server answers, as completions and deltas. Plain dicts in, no HTTP."""

from __future__ import annotations

import json
from typing import Any

from raif_integrations.engines.base import Completion, Delta, FinishReason, ToolCallPiece, Usage
from raif_integrations.engines.server.errors import CallContext, unreadable
from raif_integrations.engines.server.text_frame import TextFrame
from raif_integrations.errors import EngineDiedError, EngineError, ServerError

_DONE = b"[DONE]"


def finish_reason(reported: str) -> FinishReason:
    """Maps the server's reason to the engine's.

    ``repetition`` (vLLM 0.32 and later: the engine cut a loop) is a cut like ``length``. Whatever else a
    server reports (``tool_calls``, ``content_filter`` …) is a reply the model ended itself.

    Raises:
        ServerError: The server reports ``error``.
    """
    match reported:
        case "length" | "repetition":
            return "length"
        case "abort":
            return "abort"
        case "error":
            raise ServerError("The server's engine failed while it generated.")
        case _:
            return "stop"


def _true_finish_reason(reported: str, usage: Usage | None, max_tokens: int | None) -> FinishReason:
    """The finish reason, also where vLLM up to 0.32 hides a cut: it says ``tool_calls`` of any calls."""
    cut_off = max_tokens is not None and usage is not None and usage.completion_tokens >= max_tokens
    return "length" if reported == "tool_calls" and cut_off else finish_reason(reported)


def read_usage(usage: dict[str, Any]) -> Usage:
    """Reads a ``usage`` object; counts the server leaves out are 0."""
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        prompt_tokens=usage.get("prompt_tokens") or 0,
        completion_tokens=usage.get("completion_tokens") or 0,
        cached_tokens=details.get("cached_tokens") or 0,
    )


def read_completion(payload: Any, *, max_tokens: int | None = None) -> Completion:
    """Reads the body of a chat completion.

    Args:
        payload: The body.
        max_tokens: Longest reply that was allowed.

    Raises:
        ServerError: It is no chat completion.
    """
    if not isinstance(payload, dict) or not payload.get("choices"):
        raise ServerError(f"The server's reply is no chat completion: {_shorten(json.dumps(payload))}")
    choice = payload["choices"][0]
    message = choice.get("message") or {}
    usage = read_usage(payload.get("usage") or {})
    return Completion(
        text=message.get("content") or "",
        finish_reason=_true_finish_reason(choice.get("finish_reason") or "stop", usage, max_tokens),
        usage=usage,
        model=payload.get("model") or "",
        request_id=payload.get("id") or "",
        reasoning=_reasoning(message),
        tool_calls=_tool_call_pieces(message),
    )


class DeltaReader:
    """Turns the events of one streamed chat completion into deltas.

    The finish reason and the usage come in different events (the usage even in every one on some
    servers, where the last counts), so the last delta is held back until the stream says it is done.

    Args:
        max_tokens: Longest reply that was allowed.
    """

    def __init__(self, *, max_tokens: int | None = None) -> None:
        self._max_tokens = max_tokens
        self._model = ""
        self._request_id = ""
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._text_frame = TextFrame()
        self.done = False

    def read(self, event: bytes) -> Delta | None:
        """Reads the data of one event.

        Returns:
            The delta in it; the last delta once the stream is done; ``None`` if there is nothing to tell.

        Raises:
            EngineError: The server reports an error in the stream, or the stream is done without a
                finish reason.
        """
        if self.done:
            return None
        if event == _DONE:
            return self.finish()
        if (piece := self._text_frame.text_of(event)) is not None:
            return Delta(piece, self._model, self._request_id)
        try:
            chunk = json.loads(event)
        except ValueError:
            raise ServerError(
                f"An event of the stream is not JSON: {_shorten(event.decode(errors='replace'))}"
            ) from None
        if not isinstance(chunk, dict):
            raise ServerError(
                f"An event of the stream is no chat completion chunk: {_shorten(json.dumps(chunk))}"
            )
        if (error := chunk.get("error")) is not None:
            raise stream_error(error)
        if usage := chunk.get("usage"):
            self._usage = read_usage(usage)
        choices = chunk.get("choices")
        if not choices:
            return None
        self._model = chunk.get("model") or self._model
        self._request_id = chunk.get("id") or self._request_id
        choice = choices[0]
        if reported := choice.get("finish_reason"):
            finish_reason(reported)
            self._finish_reason = reported
        delta = choice.get("delta") or {}
        text = delta.get("content") or ""
        reasoning = _reasoning(delta)
        calls = _tool_call_pieces(delta)
        if not text and reasoning is None and not calls:
            return None
        if reasoning is None and not calls and not reported and not usage:
            self._text_frame.learn(event, text)
        return Delta(
            text=text,
            model=self._model,
            request_id=self._request_id,
            reasoning=reasoning,
            tool_calls=calls,
        )

    def finish(self) -> Delta | None:
        """The last delta, when the stream is done or the response ends.

        Raises:
            EngineDiedError: No finish reason came: the reply is cut off.
        """
        if self.done:
            return None
        if self._finish_reason is None:
            raise EngineDiedError(
                "The server ended the stream without a finish reason: the reply is cut off.",
                hint="See the server's log.",
            )
        self.done = True
        return Delta(
            text="",
            model=self._model,
            request_id=self._request_id,
            finish_reason=_true_finish_reason(self._finish_reason, self._usage, self._max_tokens),
            usage=self._usage,
        )


def stream_error(error: Any) -> EngineError:
    """The error a server reports in the middle of a stream (``data: {"error": {...}}``)."""
    message = error.get("message") if isinstance(error, dict) else None
    return ServerError(f"The server broke off the stream: {_shorten(str(message or error))}")


def _reasoning(message: dict[str, Any]) -> str | None:
    # vLLM renamed "reasoning_content" to "reasoning"; some versions send both.
    return message.get("reasoning") or message.get("reasoning_content") or None


def _tool_call_pieces(message: dict[str, Any]) -> tuple[ToolCallPiece, ...]:
    """The calls of a message, or the pieces of calls in a delta; what has another shape is passed over."""
    return tuple(
        _tool_call_piece(call, number)
        for number, call in enumerate(message.get("tool_calls") or ())
        if isinstance(call, dict) and isinstance(call.get("function"), dict)
    )


def _tool_call_piece(call: dict[str, Any], number: int) -> ToolCallPiece:
    index, function = call.get("index"), call["function"]
    arguments = function.get("arguments")
    return ToolCallPiece(
        index=index if isinstance(index, int) else number,
        id=call.get("id") or None,
        name=function.get("name") or None,
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else "",
    )


def parse_json(content: bytes, content_type: str, context: CallContext) -> Any:
    """The JSON of a response's body.

    Raises:
        ServerError: It is something else, as of a login page.
    """
    try:
        return json.loads(content)
    except ValueError:
        raise unreadable(content_type, content.decode(errors="replace"), context) from None


def _shorten(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
