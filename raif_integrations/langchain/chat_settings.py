"""The settings of the chat model: what they mean, how they are told to others, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import LangSmithParams
from langchain_core.language_models.model_profile import ModelProfile
from langchain_core.messages import BaseMessage
from langchain_core.utils import secret_from_env
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, field_validator

from raif_integrations.engines.base import Engine
from raif_integrations.langchain.batches import WideBatches
from raif_integrations.langchain.results import PROVIDER
from raif_integrations.langchain.turn_requests import turn_request
from raif_integrations.sampling import merge_sampling
from raif_integrations.settings import (
    API_KEY_VARIABLE,
    DEFAULT_MAX_RETRIES,
    EngineHolder,
    EngineSettings,
    engine_identity,
    resolve_prompting,
)
from raif_integrations.turn.types import Prompting, TurnRequest, Wire

_PENALTIES = ("frequency_penalty", "presence_penalty")
_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "stop", "seed", *_PENALTIES)
_OPTIONS = ("wire", "prompting", "constrain", "repair_attempts", "chat_template_kwargs")
_ENGINE = ("model", "adapter", "adapters", "base_url", "engine_args", "tokenizer", "chat_template")


class ChatSettings(WideBatches):
    """A chat model's settings and identity; :class:`ChatRaifVLLM` adds what it does."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    model: str | None = None
    """Model name or path. A server that serves one model needs none."""
    adapter: str | None = None
    """RAIF adapter to ask: a folder, hub name or name of ``adapters``; with ``base_url`` its served name."""
    adapters: dict[str, str] = Field(default_factory=dict)
    """Further adapters to load into the embedded engine, by name."""
    base_url: str | None = None
    """``http://host:port/v1`` of a vLLM server; ``None`` runs vLLM in this process."""
    api_key: SecretStr | None = Field(default_factory=secret_from_env(API_KEY_VARIABLE, default=None))
    """The server's key; read from ``VLLM_API_KEY`` if not given."""
    timeout: float | None = None
    """Seconds until a request is given up."""
    max_retries: int = DEFAULT_MAX_RETRIES
    """How often a server is asked again after a failure that may pass."""
    default_headers: dict[str, str] = Field(default_factory=dict, repr=False, exclude=True)
    """Further HTTP headers for a server; left out when the object is serialised, as they may hold secrets."""
    engine_args: dict[str, Any] = Field(default_factory=dict)
    """Arguments of vLLM's own engine, by name (embedded only)."""
    tokenizer: str | None = None
    """Folder or hub name of the tokenizer, if it is not the model's (embedded only)."""
    chat_template: str | None = None
    """Text or path of a chat template, in place of the model's own (embedded only)."""
    engine: Engine | None = Field(default=None, repr=False, exclude=True)
    """An engine that exists already, shared with other models; left out when the object is serialised."""

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
    model_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Further vLLM sampling parameters, by name."""
    streaming: bool = False
    """Whether ``invoke`` generates as a stream, for callbacks that listen to tokens."""

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

    _holder: EngineHolder = PrivateAttr(default_factory=EngineHolder)

    if not TYPE_CHECKING:

        def __init__(self, **kwargs: Any) -> None:
            """Checks the settings; neither starts an engine nor asks a server."""
            super().__init__(**kwargs)
            if self.engine is None:
                self._engine_settings().validate()
            merge_sampling(self._sampling(), {})

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop_string(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    # What the object is, for callbacks, caches and serialisation

    @property
    def _llm_type(self) -> str:
        return "raif-vllm"

    @property
    def model_name(self) -> str | None:
        """Name of the adapter or model that is asked; ``None`` is the engine's default."""
        return self._engine_settings().adapter_name or self.model

    @property
    def lc_secrets(self) -> dict[str, str]:
        """The key is never serialised, but read from the environment again."""
        return {"api_key": API_KEY_VARIABLE}

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """The object can be written with ``dumpd`` and read with ``load``."""
        return True

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        names = (*_ENGINE, *_SAMPLING, *_OPTIONS, "model_kwargs")
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value not in (None, {}, [])}

    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        """Key of the cache: also tells an engine that was given apart from others."""
        key = super()._get_llm_string(stop=stop, **kwargs)
        return key if self.engine is None else f"{key}---{engine_identity(self.engine)}"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        params = super()._get_ls_params(stop=stop or self.stop, **kwargs)
        params["ls_provider"] = PROVIDER
        params["ls_model_name"] = kwargs.get("model") or self.model_name or "default"
        return params

    def _resolve_model_profile(self) -> ModelProfile | None:
        profile: ModelProfile = {
            "text_inputs": True,
            "text_outputs": True,
            "image_inputs": False,
            "audio_inputs": False,
            "video_inputs": False,
            "tool_calling": True,
            "tool_choice": True,
            "tool_call_streaming": True,
            "structured_output": True,
            "open_weights": True,
        }
        room = self.engine_args.get("max_model_len")
        if isinstance(room, int) and room > 0:
            profile["max_input_tokens"] = room
        return profile

    # The engine and the requests to it

    def _engine_settings(self) -> EngineSettings:
        return EngineSettings(
            api_key=self.api_key,
            timeout=self.timeout,
            max_retries=self.max_retries,
            default_headers=self.default_headers,
            **{name: getattr(self, name) for name in _ENGINE},
        )

    def _open_engine(self) -> Engine:
        return self.engine if self.engine is not None else self._holder.get(self._engine_settings())

    def _sampling(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in _SAMPLING}, "extra": self.model_kwargs}

    def _request(
        self, messages: Sequence[BaseMessage], stop: Sequence[str] | None, kwargs: Mapping[str, Any]
    ) -> TurnRequest:
        settings = self._engine_settings()
        defaults = {name: getattr(self, name) for name in _OPTIONS}
        if "model" not in kwargs:
            defaults["prompting"] = resolve_prompting(self.prompting, self.adapter or self.model)
        return turn_request(
            messages,
            defaults={
                **defaults,
                "model": settings.target if self.engine is None else self.model_name,
                "timeout": self.timeout if self.base_url is None else None,
            },
            sampling=self._sampling(),
            stop=stop,
            kwargs=kwargs,
        )
