"""This package's engine errors, raised so that LangChain's own error classes catch them too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langchain_core import exceptions as core

from raif_integrations import errors

# The newer the langchain-core, the more of these classes it has.
_CORE_NAMES: dict[type[errors.EngineError], str] = {
    errors.AuthenticationError: "ModelAuthenticationError",
    errors.ContextLengthError: "ContextOverflowError",
    errors.EngineConnectionError: "ModelConnectionError",
    errors.EngineDiedError: "ModelConnectionError",
    errors.EngineRateLimitError: "ModelRateLimitError",
    errors.EngineTimeoutError: "ModelTimeoutError",
    errors.ModelNotFoundError: "ModelNotFoundError",
    errors.RequestError: "ModelInvalidRequestError",
    errors.ServerError: "ModelAPIError",
}


def _both(ours: type[errors.EngineError], name: str) -> type[errors.EngineError]:
    theirs = getattr(core, name, None)
    if theirs is None:
        return ours
    namespace = {"__doc__": ours.__doc__, "__module__": __name__, "is_retryable": ours.retryable}
    return type(ours.__name__, (ours, theirs), namespace)


_BOTH = {ours: _both(ours, name) for ours, name in _CORE_NAMES.items()}
globals().update({both.__name__: both for both in _BOTH.values()})  # where pickle looks for them


@contextmanager
def core_errors() -> Iterator[None]:
    """Raises this package's errors as subclasses of LangChain's as well.

    ``except raif_integrations.errors.ContextLengthError`` and
    ``except langchain_core.exceptions.ContextOverflowError`` then catch the same error.
    """
    try:
        yield
    except errors.EngineError as error:
        both = _BOTH.get(type(error))
        if both is None or both is type(error):
            raise
        translated = both(error.message, hint=error.hint)
        raise translated.with_traceback(error.__traceback__) from error.__cause__
