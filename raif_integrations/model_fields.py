"""The settings that every framework's model object has, whichever base class the framework demands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, field_validator

from raif_integrations.engines.base import Engine
from raif_integrations.engines.speculation import DEFAULT_SPECULATION, Speculation, refused_sampling
from raif_integrations.errors import ConfigurationError
from raif_integrations.sampling import merge_sampling
from raif_integrations.settings import DEFAULT_MAX_RETRIES, EngineHolder, EngineSettings
from raif_integrations.turn.types import Prompting, Wire

ENGINE_FIELDS = (
    "model",
    "adapter",
    "adapters",
    "base_url",
    "engine_args",
    "tokenizer",
    "chat_template",
    "speculation",
)
"""The fields that say which engine, in the order they are told."""

SAMPLING_FIELDS = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "stop",
    "seed",
    "frequency_penalty",
    "presence_penalty",
)
"""The fields that say how tokens are chosen."""

OPTION_FIELDS = ("wire", "prompting", "constrain", "repair_attempts", "chat_template_kwargs")
"""The fields that say how a turn is carried out; each may be given for one call too."""


_SECRET_ENGINE_ARGUMENTS = frozenset({"hf_token"})
"""Those of vLLM's engine arguments that are secrets."""


def without_secrets(engine_args: Mapping[str, Any]) -> dict[str, Any]:
    """Engine arguments that may be written down."""
    return {name: value for name, value in engine_args.items() if name not in _SECRET_ENGINE_ARGUMENTS}


class ModelFields(BaseModel):
    """Mixed into a framework's own model class: fields, checks, and the way to an engine.

    Raises:
        ConfigurationError: A setting is missing, out of range or contradicts another one.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    model: str | None = None
    """Model name or path. A server that serves one model needs none."""
    adapter: str | None = None
    """RAIF adapter to ask: a folder, hub name or name of ``adapters``; with ``base_url`` its served name."""
    adapters: dict[str, str] = Field(default_factory=dict)
    """Further adapters to load into the embedded engine, by name."""
    base_url: str | None = None
    """``http://host:port/v1`` of a vLLM server; ``None`` runs vLLM in this process."""
    api_key: SecretStr | None = Field(default=None, repr=False)
    """The server's key; read from ``VLLM_API_KEY`` if not given."""
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
    speculation: Speculation = DEFAULT_SPECULATION
    """Whether vLLM drafts keys and copied values and verifies them: sooner, and the same (embedded only)."""
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

    prompting: Prompting = "auto"
    """How a schema is shown: the bare cue adapters are trained on, or an explanation for other models."""
    wire: Wire = "auto"
    """What values are written in: RAIF where it can carry the schema, only RAIF, or JSON. ``server`` sends
    ``tools`` and ``response_format`` to a server whose RAIF plugin shows them to the model and decodes."""
    constrain: bool = True
    """Whether the engine enforces the grammar of the schema."""
    repair_attempts: int = Field(default=1, ge=0)
    """How often missing or broken fields are asked for again."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the chat template (``enable_thinking`` …)."""

    _holder: EngineHolder = PrivateAttr(default_factory=EngineHolder)

    if not TYPE_CHECKING:  # Type checkers take the signature from the fields.

        def __init__(self, **settings: Any) -> None:
            """Checks the settings; neither starts an engine nor asks a server."""
            super().__init__(**settings)
            if self.engine is None:
                self._engine_settings().validate()
                self._check_wire()
            merge_sampling(self._sampling(), {})

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop_string(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    def _check_wire(self) -> None:
        if self.wire == "server" and self.base_url is None:
            raise ConfigurationError(
                "wire='server' is given without base_url.",
                hint="Give the base_url of a vLLM server with a RAIF plugin, or leave wire out.",
            )

    @property
    def _asked_name(self) -> str | None:
        """Name of the adapter or model that is asked; ``None`` is the engine's default."""
        return self._engine_settings().adapter_name or self.model

    def _key(self) -> SecretStr | None:
        return self.api_key

    def _engine_settings(self) -> EngineSettings:
        return EngineSettings(
            api_key=self._key(),
            timeout=self.timeout,
            max_retries=self.max_retries,
            default_headers=self.default_headers,
            **self._values(ENGINE_FIELDS) | {"speculation": self._chosen_speculation()},
        )

    def _chosen_speculation(self) -> Speculation:
        """``auto`` is off for a model whose sampling vLLM refuses where it drafts."""
        refused = self.base_url is None and refused_sampling(self._further_sampling())
        return "off" if self.speculation == "auto" and refused else self.speculation

    def _open_engine(self) -> Engine:
        return self.engine if self.engine is not None else self._holder.get(self._engine_settings())

    def _further_sampling(self) -> dict[str, Any]:
        """Further vLLM sampling parameters, under whatever name the framework has for them."""
        return {}

    def _sampling(self) -> dict[str, Any]:
        return {**self._values(SAMPLING_FIELDS), "extra": self._further_sampling()}

    def _turn_defaults(self) -> dict[str, Any]:
        """What a turn of this object is like unless the call says otherwise."""
        return {
            **self._values(OPTION_FIELDS),
            "model": self._engine_settings().target if self.engine is None else self._asked_name,
            "timeout": self.timeout if self.base_url is None else None,
        }

    def _values(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}
