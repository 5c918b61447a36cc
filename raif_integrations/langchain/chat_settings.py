"""The settings of the chat model: what they mean, how they are told to others, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import LangSmithParams
from langchain_core.language_models.model_profile import ModelProfile
from langchain_core.messages import BaseMessage
from langchain_core.utils import secret_from_env
from pydantic import ConfigDict, Field, SecretStr

from raif_integrations.langchain.batches import WideBatches
from raif_integrations.langchain.results import PROVIDER
from raif_integrations.langchain.turn_requests import turn_request
from raif_integrations.model_fields import (
    ENGINE_FIELDS,
    OPTION_FIELDS,
    SAMPLING_FIELDS,
    ModelFields,
    without_secrets,
)
from raif_integrations.settings import API_KEY_VARIABLE, engine_identity, resolve_prompting
from raif_integrations.turn.types import TurnRequest


class ChatSettings(ModelFields, WideBatches):
    """A chat model's settings and identity; :class:`ChatRaifVLLM` adds what it does."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    api_key: SecretStr | None = Field(
        default_factory=secret_from_env(API_KEY_VARIABLE, default=None), repr=False
    )
    """The server's key; read from ``VLLM_API_KEY`` if not given."""
    model_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Further vLLM sampling parameters, by name."""
    streaming: bool = False
    """Whether ``invoke`` generates as a stream, for callbacks that listen to tokens."""

    # What the object is, for callbacks, caches and serialisation

    @property
    def _llm_type(self) -> str:
        return "raif-vllm"

    @property
    def model_name(self) -> str | None:
        """Name of the adapter or model that is asked; ``None`` is the engine's default."""
        return self._asked_name

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
        found = self._values((*ENGINE_FIELDS, *SAMPLING_FIELDS, *OPTION_FIELDS, "model_kwargs"))
        if "engine_args" in found:
            found["engine_args"] = without_secrets(found["engine_args"])
        return {name: value for name, value in found.items() if value not in (None, {}, [])}

    def to_json(self) -> Any:
        """What ``dumpd`` writes and caches are keyed by: without secrets of the engine."""
        found = super().to_json()
        kwargs = found.get("kwargs")
        if isinstance(kwargs, dict) and "engine_args" in kwargs:
            kwargs["engine_args"] = without_secrets(kwargs["engine_args"])
        return found

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

    def _further_sampling(self) -> dict[str, Any]:
        return self.model_kwargs

    def _request(
        self, messages: Sequence[BaseMessage], stop: Sequence[str] | None, kwargs: Mapping[str, Any]
    ) -> TurnRequest:
        defaults = self._turn_defaults()
        if "model" not in kwargs:
            defaults["prompting"] = resolve_prompting(self.prompting, self.adapter or self.model)
        return turn_request(messages, defaults=defaults, sampling=self._sampling(), stop=stop, kwargs=kwargs)
