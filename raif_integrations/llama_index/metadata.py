"""Metadata that does not start an engine to be looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama_index.core.base.llms.types import LLMMetadata
from pydantic import PrivateAttr, SerializerFunctionWrapHandler, model_serializer


class EngineMetadata(LLMMetadata):
    """Metadata whose context window is asked of the engine when it is read, and not before.

    Core reads ``is_function_calling_model`` on every step of an agent, inside the event loop; only
    prompt helpers and chat memories read ``context_window``.
    """

    _ask: Callable[[], int] | None = PrivateAttr(default=None)

    @classmethod
    def asking(cls, ask: Callable[[], int], **fields: Any) -> EngineMetadata:
        """Metadata with these fields, and a context window that ``ask`` gives."""
        metadata = cls(**fields)
        metadata._ask = ask
        return metadata

    def __getattribute__(self, name: str) -> Any:
        if name == "context_window" and (ask := self._ask) is not None:
            self.context_window = ask()
            self._ask = None
        return super().__getattribute__(name)

    def __repr_args__(self) -> Any:
        unknown = self._ask is not None
        for name, value in super().__repr_args__():
            yield name, (... if unknown and name == "context_window" else value)

    @model_serializer(mode="wrap")
    def _with_context_window(self, handler: SerializerFunctionWrapHandler) -> Any:
        _ = self.context_window  # Reading it asks for it.
        return handler(self)
