"""Every way a call to a vLLM server can fail, as this package's errors."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import openai

from raif_integrations.engines.server.address import ServerAddress
from raif_integrations.errors import (
    AuthenticationError,
    ContextLengthError,
    EngineConnectionError,
    EngineDiedError,
    EngineError,
    EngineRateLimitError,
    EngineTimeoutError,
    ModelNotFoundError,
    RequestError,
    ServerError,
)

# vLLM has no error code for it; these words are in every one of its messages on the subject.
_CONTEXT_LENGTH = re.compile(
    r"maximum\s+(context|model)\s+length|max_model_len|context\s+length", re.IGNORECASE
)
_NO_MODEL = re.compile(r"\bmodel\b.*does not exist|model_not_found", re.IGNORECASE | re.DOTALL)
_SHOWN_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class CallContext:
    """What an error message can tell of the call that failed.

    Attributes:
        address: The server.
        url: URL of the call.
        timeout: Seconds the call was allowed to take.
        model: The model asked for, or ``None`` if the call names none.
    """

    address: ServerAddress
    url: str
    timeout: float
    model: str | None = None


def from_sdk(error: openai.OpenAIError, context: CallContext) -> EngineError:
    """The error for a call that the SDK could not complete."""
    if isinstance(error, openai.APIStatusError):
        text = error.response.text
        return from_status(error.status_code, text, context)
    if isinstance(error, openai.APIConnectionError):
        return from_transport(error.__cause__, context)
    return ServerError(f"The call of {context.url} failed: {error}")


def from_transport(cause: BaseException | None, context: CallContext) -> EngineError:
    """The error for a failure below HTTP: no connection, a broken one, or silence.

    Args:
        cause: The HTTP library's exception. Told apart by class name, because it may come from httpx
            or httpx2, whichever the SDK or the caller's own client is built on.
        context: The call.
    """
    names = {cls.__name__ for cls in type(cause).__mro__}
    api = context.address.api
    if names & {"ConnectError", "ConnectTimeout", "ProxyError", "UnsupportedProtocol", "gaierror"}:
        reason = f" ({cause})" if str(cause) else ""
        return EngineConnectionError(
            f"No vLLM server answers at {api}{reason}.",
            hint="Check base_url and that the server is up: 'vllm serve MODEL' needs a minute to load.",
        )
    if "PoolTimeout" in names:
        return EngineTimeoutError(
            f"No free connection to {api} within {context.timeout:g} s.",
            hint="Raise the connection limit of your HTTP client or send fewer requests at once.",
        )
    if "TimeoutException" in names:
        return timed_out(context)
    return EngineDiedError(
        f"The connection to {api} broke before the reply was complete ({cause or type(cause).__name__}).",
        hint="See the server's log.",
    )


def timed_out(context: CallContext) -> EngineTimeoutError:
    """The error for a server that is too slow."""
    return EngineTimeoutError(
        f"{context.address.api} did not complete the reply within {context.timeout:g} s.",
        hint="Raise timeout, lower max_tokens, or look at the server's load.",
    )


def from_status(status: int, body: str, context: CallContext) -> EngineError:
    """The error for an HTTP status of 400 and above.

    Args:
        status: The HTTP status.
        body: The response's body; vLLM sends JSON, a gateway may send anything.
        context: The call.
    """
    said = server_message(body) or "no message"
    end = "" if said.endswith((".", "!", "?")) else "."
    message = f"{context.address.api} answered HTTP {status}: {said}{end}"
    if status in (401, 403):
        return AuthenticationError(
            message, hint="Set api_key (or VLLM_API_KEY) to a key the server was started with."
        )
    if status == 404:
        return _not_found(said, message, context)
    if status in (408, 504):
        return EngineTimeoutError(message, hint="A gateway before the server gave up: raise its timeout.")
    if status == 429:
        return EngineRateLimitError(message, hint="Send fewer requests at once, or raise max_retries.")
    if status >= 500:
        return ServerError(message, hint="See the server's log.")
    if _CONTEXT_LENGTH.search(said):
        return ContextLengthError(
            message, hint="Shorten the messages, lower max_tokens, or serve with a larger --max-model-len."
        )
    return RequestError(message)


def status_of(error: EngineError) -> int | None:
    """HTTP status behind an error, or ``None`` if there was no answer."""
    cause = error.__cause__
    return cause.status_code if isinstance(cause, openai.APIStatusError) else None


def unreadable(content_type: str, body: str, context: CallContext) -> EngineError:
    """The error for a successful answer that is not what an API sends, as of a login page."""
    return ServerError(
        f"{context.url} answered with {content_type or 'an unknown type'}, which cannot be read: "
        f"{_shorten(body) or 'an empty body'}",
        hint="Check that base_url leads to an OpenAI-compatible vLLM server.",
    )


def server_message(body: str) -> str:
    """What the server says is wrong.

    vLLM wraps it as ``{"error": {"message": ...}}`` (0.9 and later), as ``{"message": ...}`` before, and as
    ``{"error": "Unauthorized"}``; FastAPI as ``{"detail": ...}``. Anything else is shown as it is.
    """
    try:
        payload: Any = json.loads(body)
    except ValueError:
        return _shorten(" ".join(body.split()))
    for key in ("error", "message", "detail"):
        if isinstance(payload, dict) and payload.get(key):
            payload = payload[key]
    return _shorten(payload if isinstance(payload, str) else json.dumps(payload))


def _not_found(said: str, message: str, context: CallContext) -> EngineError:
    if context.model is not None and _NO_MODEL.search(said):
        return ModelNotFoundError(
            f"{context.address.api} does not serve a model or adapter {context.model!r}."
        )
    return RequestError(
        message, hint=f"Check base_url: there is no {context.url} there. For vLLM it ends in /v1."
    )


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
