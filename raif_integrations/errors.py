"""Every error the package raises itself.

All of them are ``ValueError``s, because LlamaIndex's extractors catch only ``ValueError``,
``TypeError`` and ``AttributeError`` around a structured call. Each one says whether the same
call may succeed when it is made again (``retryable``) and what to do about it (``hint``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raif_integrations.contract.report import FieldError


class RaifIntegrationsError(ValueError):
    """Base of all errors of this package.

    Args:
        message: What went wrong, naming the field, the argument or the request.
        hint: What the caller can do about it; appended to the message.
    """

    retryable: bool = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message} {hint}" if hint else message)


class ConfigurationError(RaifIntegrationsError):
    """An argument is missing, unknown or contradicts another one."""


class SchemaError(RaifIntegrationsError):
    """What was given as a schema is not a JSON Schema, or RAIF was demanded where it cannot carry it."""


class OutputError(RaifIntegrationsError):
    """What the model wrote does not fit the schema.

    Args:
        message: A summary that names the first broken field.
        text: The model's own text.
        errors: Each broken field with its path and the rule it breaks.
        hint: What the caller can do about it.
    """

    retryable = True

    def __init__(
        self,
        message: str,
        *,
        text: str = "",
        errors: Sequence[FieldError] = (),
        hint: str | None = None,
    ) -> None:
        self.text = text
        self.errors = tuple(errors)
        super().__init__(message, hint=hint)


class TruncatedOutputError(OutputError):
    """The model ran into ``max_tokens`` or the end of its context before the value was whole."""


class EngineError(RaifIntegrationsError):
    """The engine did not answer; subclasses say why."""


class EngineClosedError(EngineError):
    """The engine was closed, here or at interpreter exit."""


class EngineDiedError(EngineError):
    """The engine's own process is gone, or the connection broke in the middle of a reply."""

    retryable = True


class EngineConnectionError(EngineError):
    """Nothing answers at ``base_url``."""

    retryable = True


class EngineTimeoutError(EngineError):
    """No answer within ``timeout`` seconds."""

    retryable = True


class EngineRateLimitError(EngineError):
    """The server asks to slow down (HTTP 429)."""

    retryable = True


class AuthenticationError(EngineError):
    """The server refuses the API key (HTTP 401 or 403)."""


class ModelNotFoundError(EngineError):
    """Neither the model nor an adapter of that name is served or found on disk."""


class ContextLengthError(EngineError):
    """Prompt and reply do not fit into the model's context."""


class RequestError(EngineError):
    """The engine refuses the request as it stands (HTTP 400, 422 and the engine's own validation)."""


class ServerError(EngineError):
    """The server failed on its side (HTTP 5xx)."""

    retryable = True
