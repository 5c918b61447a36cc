"""The settings of the model object: what they mean, what is told of them, and what is made of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage, LLMMetadata
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW, DEFAULT_NUM_OUTPUTS
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, field_serializer, field_validator

from raif_integrations.engines.base import Engine
from raif_integrations.llama_index.metadata import EngineMetadata
from raif_integrations.llama_index.requests import turn_request
from raif_integrations.llama_index.structured import StructuredOutput
from raif_integrations.sampling import merge_sampling
from raif_integrations.settings import (
    API_KEY_VARIABLE,
    DEFAULT_MAX_RETRIES,
    EngineHolder,
    EngineSettings,
    resolve_prompting,
)
from raif_integrations.turn import Prompting, TurnRequest, Wire

_PENALTIES = ("frequency_penalty", "presence_penalty")
_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "stop", "seed", *_PENALTIES)
_OPTIONS = ("wire", "constrain", "repair_attempts", "chat_template_kwargs")
_ENGINE = ("model", "adapter", "adapters", "base_url", "engine_args", "tokenizer", "chat_template")

# The one setting of vLLM's engine that is a secret.
_SECRET_ENGINE_ARGUMENTS = frozenset({"hf_token"})


class ModelSettings(StructuredOutput):
    """A model object's settings and identity; :class:`RaifVLLM` adds what it does."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    model: str | None = None
    """Model name or path. A server that serves one model needs none."""
    adapter: str | None = None
    """RAIF adapter to ask: a folder, hub name or name of ``adapters``; with ``base_url`` its served name."""
    adapters: dict[str, str] = Field(default_factory=dict)
    """Further adapters to load into the embedded engine, by name."""
    base_url: str | None = None
    """``http://host:port/v1`` of a vLLM server; ``None`` runs vLLM in this process."""
    api_key: SecretStr | None = Field(default=None, repr=False, exclude=True)
    """The server's key; read from ``VLLM_API_KEY`` if not given. Never serialised."""
    timeout: float | None = None
    """Seconds until a request is given up."""
    max_retries: int = DEFAULT_MAX_RETRIES
    """How often a server is asked again after a failure that may pass."""
    default_headers: dict[str, str] = Field(default_factory=dict, repr=False, exclude=True)
    """Further HTTP headers for a server; never serialised, as they may hold secrets."""
    engine_args: dict[str, Any] = Field(default_factory=dict, repr=False)
    """Arguments of vLLM's own engine, by name (embedded only)."""
    tokenizer: str | None = None
    """Folder or hub name of the tokenizer, if it is not the model's (embedded only)."""
    chat_template: str | None = None
    """Text or path of a chat template, in place of the model's own (embedded only)."""
    engine: Engine | None = Field(default=None, repr=False, exclude=True)
    """An engine that exists already, shared with other models; never serialised."""

    temperature: float | None = None
    """0 is greedy; ``None`` leaves the model's own default in force, as with all sampling settings."""
    top_p: float | None = None
    """Nucleus mass, 0 to 1."""
    top_k: int | None = None
    """Number of candidates; -1 is all."""
    max_tokens: int | None = None
    """Longest reply in tokens; ``None`` is the room the model has left."""
    stop: list[str] | None = None
    """Strings that end a reply in text. Those of a call are added to them."""
    seed: int | None = None
    """Makes sampling repeatable."""
    frequency_penalty: float | None = None
    """-2 to 2, as in OpenAI's API."""
    presence_penalty: float | None = None
    """-2 to 2, as in OpenAI's API."""
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Further vLLM sampling parameters, by name."""

    prompting: Prompting = "auto"
    """How a schema is shown: the bare cue adapters are trained on, or an explanation for other models."""
    wire: Wire = "auto"
    """What values are written in: RAIF where it can carry the schema, only RAIF, or JSON."""
    constrain: bool = True
    """Whether the engine enforces the grammar of the schema."""
    repair_attempts: int = Field(default=1, ge=0)
    """How often missing or broken fields are asked for again."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the chat template (``enable_thinking`` …)."""
    context_window: int | None = Field(default=None, gt=0)
    """Tokens of prompt and reply together; ``None`` asks the engine when it is first needed."""

    _holder: EngineHolder = PrivateAttr(default_factory=EngineHolder)

    if not TYPE_CHECKING:  # Type checkers take the signature from the fields.

        def __init__(self, **settings: Any) -> None:
            """Checks the settings; neither starts an engine nor asks a server."""
            super().__init__(**settings)
            if self.engine is None:
                self._engine_settings().validate()
            merge_sampling(self._sampling(), {})

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop_string(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_serializer("engine_args")
    def _without_secrets(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in arguments.items() if name not in _SECRET_ENGINE_ARGUMENTS}

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
            "model_name": self._model_name or "vllm",
        }
        if self.context_window is not None:
            return LLMMetadata(context_window=self.context_window, **fields)
        return EngineMetadata.asking(
            lambda: self._open_engine().info.max_model_len or DEFAULT_CONTEXT_WINDOW, **fields
        )

    def to_payload(self) -> dict[str, Any]:
        """What events tell of this model: no secrets, and nothing the engine would have to be asked for."""
        names = ("model", "adapter", "context_window", *_SAMPLING)
        return {
            "class_name": self.class_name(),
            "model_name": self._model_name or "vllm",
            "is_chat_model": True,
            "is_function_calling_model": True,
            **{name: getattr(self, name) for name in names},
        }

    @property
    def _model_name(self) -> str | None:
        return self._engine_settings().adapter_name or self.model

    # The engine and the requests to it

    def _engine_settings(self) -> EngineSettings:
        return EngineSettings(
            api_key=self.api_key or _key_from_environment(),
            timeout=self.timeout,
            max_retries=self.max_retries,
            default_headers=self.default_headers,
            **{name: getattr(self, name) for name in _ENGINE},
        )

    def _open_engine(self) -> Engine:
        return self.engine if self.engine is not None else self._holder.get(self._engine_settings())

    def _sampling(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in _SAMPLING}, "extra": self.additional_kwargs}

    def _turn(self, messages: Sequence[ChatMessage], arguments: Mapping[str, Any]) -> TurnRequest:
        return turn_request(
            messages,
            arguments,
            defaults={
                **{name: getattr(self, name) for name in _OPTIONS},
                "prompting": resolve_prompting(self.prompting, self.adapter or self.model),
                "model": self._engine_settings().target if self.engine is None else self._model_name,
                "timeout": self.timeout if self.base_url is None else None,
            },
            sampling=self._sampling(),
        )


def _key_from_environment() -> SecretStr | None:
    """The server's key as the environment has it now; it is not stored in the object."""
    key = os.environ.get(API_KEY_VARIABLE)
    return SecretStr(key) if key else None
