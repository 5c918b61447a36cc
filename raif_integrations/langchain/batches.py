"""Batches as wide as the engine: every prompt of a batch is under way at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict

MAX_BATCH_THREADS = 256
"""Most prompts of one ``batch`` that wait at once: vLLM's usual number of requests side by side."""


class WideBatches(BaseChatModel):
    """A chat model whose ``batch`` does not stop at the thread pool's default width.

    LangChain runs a batch on ``cpu_count + 4`` threads unless the caller says otherwise, which leaves an
    engine that schedules hundreds of requests idle. The threads only wait, so there may be many.
    ``max_concurrency`` of the caller's config is respected; callbacks and errors stay per prompt.
    """

    model_config = ConfigDict(defer_build=True)

    def batch(
        self,
        inputs: list[LanguageModelInput],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[AIMessage]:
        """Generates a reply for each prompt, side by side; see ``Runnable.batch``."""
        wide = _wide(config, len(inputs))
        return super().batch(inputs, cast(Any, wide), return_exceptions=return_exceptions, **kwargs)

    def batch_as_completed(
        self,
        inputs: Sequence[LanguageModelInput],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> Iterator[tuple[int, Any]]:
        """Generates replies side by side and yields each when it is ready; see ``Runnable``."""
        wide: Any = _wide(config, len(inputs))
        exceptions: Any = return_exceptions
        yield from super().batch_as_completed(inputs, wide, return_exceptions=exceptions, **kwargs)


def _wide(
    config: RunnableConfig | Sequence[RunnableConfig] | None, width: int
) -> RunnableConfig | list[RunnableConfig]:
    """The config with ``max_concurrency`` filled in where the caller left it open."""
    if isinstance(config, Sequence):
        return [cast(RunnableConfig, _wide(one, width)) for one in config]
    found: RunnableConfig = {**(config or {})}
    if found.get("max_concurrency") is None:
        found["max_concurrency"] = max(1, min(width, MAX_BATCH_THREADS))
    return found
