"""vLLM's exceptions, told in this package's terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from raif_integrations.engines.embedded import vllm_api
from raif_integrations.errors import (
    ConfigurationError,
    EngineDiedError,
    EngineError,
    EngineTimeoutError,
    ModelNotFoundError,
    RaifIntegrationsError,
    RequestError,
)

_LOG_HINT: Final = "vLLM's log above says why; VLLM_LOGGING_LEVEL=INFO makes it say more."


@contextmanager
def translated(timeout: float | None) -> Iterator[None]:
    """Raises what vLLM raises for one request as an :class:`EngineError`.

    Args:
        timeout: Seconds the request had.
    """
    try:
        yield
    except RaifIntegrationsError:
        raise
    except TimeoutError as error:
        raise EngineTimeoutError(
            f"The engine did not finish within {timeout} seconds." if timeout else str(error),
            hint="Raise `timeout`, or ask for fewer tokens.",
        ) from error
    except vllm_api.DEAD as error:
        raise EngineDiedError(
            "vLLM's engine process is gone.",
            hint=f"The next request starts it again. {_LOG_HINT}",
        ) from error
    except vllm_api.REJECTIONS as error:
        raise RequestError(f"vLLM refuses the request: {error}") from error
    except Exception as error:
        raise EngineError(f"vLLM failed: {error!r}", hint=_LOG_HINT) from error


@contextmanager
def translated_rendering() -> Iterator[None]:
    """Raises what the chat template and the tokenizer raise as a :class:`RequestError`.

    A template fails in as many ways as Python code: what it is given decides, not the engine.
    """
    try:
        yield
    except TimeoutError:
        raise
    except Exception as error:
        raise RequestError(
            f"The chat template cannot render the messages: {error!r}",
            hint="Check roles and contents of `messages`, `chat_template` and `chat_template_kwargs`.",
        ) from error


@contextmanager
def translated_start(model: str) -> Iterator[None]:
    """Raises what vLLM raises while it loads a model as an error that names the model.

    Args:
        model: The model's directory or repository.
    """
    try:
        yield
    except (RaifIntegrationsError, ImportError):
        raise
    except OSError as error:
        raise ModelNotFoundError(
            f"The model {model!r} cannot be loaded: {error}",
            hint="Check the name, and the network or HF_TOKEN if it lies on the model hub.",
        ) from error
    except vllm_api.REJECTIONS as error:
        raise ConfigurationError(
            f"vLLM does not start {model!r} with these arguments: {error}", hint="See `engine_args`."
        ) from error
    except (Exception, SystemExit) as error:
        raise EngineError(f"vLLM could not start {model!r}: {error}", hint=_LOG_HINT) from error
