"""From vLLM's outputs to deltas."""

from __future__ import annotations

from typing import Any, Final

from raif_integrations.engines.base import Delta, FinishReason, Usage
from raif_integrations.errors import EngineError

_REASONS: Final[dict[str | None, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "abort": "abort",
    # vLLM cut a reply short that repeats itself: like one that ran into its limit, it is not whole.
    "repetition": "length",
}


def read(output: Any, model: str, request_id: str, completion_tokens: int) -> Delta:
    """Reads one output of a request.

    Args:
        output: vLLM's output: a piece of the reply, or the finished reply.
        model: Name of the model or adapter that answers.
        request_id: The request's id.
        completion_tokens: Tokens written so far, those of this output included.

    Raises:
        EngineError: vLLM reports that the generation failed.
    """
    text = "".join(part.text for part in output.outputs)
    if not output.finished:
        return Delta(text, model, request_id)
    reason = next((part.finish_reason for part in output.outputs if part.finish_reason), None)
    if reason not in _REASONS:
        # In this process vLLM reports failures as a finish reason; only its server raises them.
        raise EngineError(
            f"vLLM ended request {request_id} with finish reason {reason!r}.",
            hint="vLLM's log says why; the same request may succeed when it is made again.",
        )
    usage = Usage(len(output.prompt_token_ids or ()), completion_tokens, output.num_cached_tokens or 0)
    return Delta(text, model, request_id, finish_reason=_REASONS[reason], usage=usage)
