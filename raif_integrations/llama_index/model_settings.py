"""The settings of the model object: what they mean, what is told of them, and what is made of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, LLMMetadata
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW, DEFAULT_NUM_OUTPUTS
from pydantic import ConfigDict, Field, SecretStr, field_serializer

from raif_integrations.llama_index.metadata import EngineMetadata
from raif_integrations.llama_index.requests import turn_request
from raif_integrations.llama_index.structured import StructuredOutput
from raif_integrations.model_fields import SAMPLING_FIELDS, ModelFields, without_secrets
from raif_integrations.settings import API_KEY_VARIABLE, resolve_prompting
from raif_integrations.turn import TurnRequest


class ModelSettings(ModelFields, StructuredOutput):
    """A model object's settings and identity; :class:`RaifVLLM` adds what it does."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    api_key: SecretStr | None = Field(default=None, repr=False, exclude=True)
    """The server's key; read from ``VLLM_API_KEY`` if not given. Never serialised."""
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Further vLLM sampling parameters, by name."""
    context_window: int | None = Field(default=None, gt=0)
    """Tokens of prompt and reply together; ``None`` asks the engine when it is first needed."""

    @field_serializer("engine_args")
    def _without_secrets(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return without_secrets(arguments)

    def __getstate__(self) -> dict[str, Any]:
        return super(ModelSettings, self.model_copy(update={"engine": None})).__getstate__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> ModelSettings:
        return super().__deepcopy__({**(memo or {}), id(self.engine): self.engine})

    # What the object is

    @property
    def metadata(self) -> LLMMetadata:
        """The model's abilities. Reading ``context_window`` may start the engine; nothing else does."""
        fields: dict[str, Any] = {
            "num_output": self.max_tokens or DEFAULT_NUM_OUTPUTS,
            "is_chat_model": True,
            "is_function_calling_model": True,
            "model_name": self._asked_name or "vllm",
        }
        if self.context_window is not None:
            return LLMMetadata(context_window=self.context_window, **fields)
        return EngineMetadata.asking(
            lambda: self._open_engine().info.max_model_len or DEFAULT_CONTEXT_WINDOW, **fields
        )

    def to_payload(self) -> dict[str, Any]:
        """What events tell of this model: no secrets, and nothing the engine would have to be asked for."""
        names = ("model", "adapter", "context_window", *SAMPLING_FIELDS)
        return {
            "class_name": self.class_name(),
            "model_name": self._asked_name or "vllm",
            "is_chat_model": True,
            "is_function_calling_model": True,
            **self._values(names),
        }

    # The engine and the requests to it

    def _key(self) -> SecretStr | None:
        return self.api_key or _key_from_environment()

    def _further_sampling(self) -> dict[str, Any]:
        return self.additional_kwargs

    def _turn(self, messages: Sequence[ChatMessage], arguments: Mapping[str, Any]) -> TurnRequest:
        return turn_request(
            messages,
            arguments,
            defaults={
                **self._turn_defaults(),
                "prompting": resolve_prompting(self.prompting, self.adapter or self.model),
            },
            sampling=self._sampling(),
        )


def _key_from_environment() -> SecretStr | None:
    """The server's key as the environment has it now; it is not stored in the object."""
    key = os.environ.get(API_KEY_VARIABLE)
    return SecretStr(key) if key else None
