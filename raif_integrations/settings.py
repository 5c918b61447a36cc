"""From constructor settings to an engine: what both frameworks share.

A framework's model object holds plain values (``model``, ``adapter``, ``base_url`` …). Here they are
checked, turned into an :class:`~raif_integrations.engines.base.Engine` on first use, and into the
:class:`~raif_integrations.engines.base.Sampling` of a request. Framework-free.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary, WeakValueDictionary

from pydantic import SecretStr

from raif_integrations.engines.base import Engine
from raif_integrations.engines.speculation import DEFAULT_SPECULATION, Speculation
from raif_integrations.errors import ConfigurationError
from raif_integrations.turn.types import is_raif_name

if TYPE_CHECKING:
    from raif_integrations.turn.types import Prompting

API_KEY_VARIABLE = "VLLM_API_KEY"
"""Environment variable with the server's API key; the one vLLM's own server reads."""

DEFAULT_MAX_RETRIES = 2
"""How often a server request is made again after a failure that may pass."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Which engine, and how to reach or start it.

    With ``base_url`` a vLLM server answers, otherwise vLLM runs in this process.

    Attributes:
        model: Model name or path. A server needs none if it serves one model only.
        adapter: RAIF adapter to ask: a folder or hub name or a name of ``adapters`` (embedded), or the name
            the server gives it.
        adapters: Further adapters to load, by name, so that models with different adapters share an
            engine (embedded only).
        base_url: ``http://host:port/v1`` of a vLLM server.
        api_key: The server's key.
        timeout: Seconds until a request is given up; ``None`` is the engine's default.
        max_retries: How often the server is asked again after a failure that may pass.
        default_headers: Further HTTP headers for each server request.
        engine_args: Arguments of vLLM's own engine, by name (embedded only).
        tokenizer: Folder or hub name of the tokenizer, if it is not the model's (embedded only).
        chat_template: A template's text or path, in place of the model's own (embedded only).
        speculation: Whether vLLM drafts: ``auto``, ``on`` or ``off`` (embedded only).
    """

    model: str | None = None
    adapter: str | None = None
    adapters: Mapping[str, str] = field(default_factory=dict)
    base_url: str | None = None
    api_key: SecretStr | None = None
    timeout: float | None = None
    max_retries: int = DEFAULT_MAX_RETRIES
    default_headers: Mapping[str, str] = field(default_factory=dict)
    engine_args: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: str | None = None
    chat_template: str | None = None
    speculation: Speculation = DEFAULT_SPECULATION

    def validate(self) -> None:
        """Checks the settings against each other; touches neither disk nor network.

        Raises:
            ConfigurationError: Neither ``model`` nor ``base_url`` is given, a value is out of range, or
                a setting of the embedded engine is given for a server or the other way round.
        """
        if self.base_url is None:
            self._validate_embedded()
        else:
            self._validate_server(self.base_url)
        if self.timeout is not None and self.timeout <= 0:
            raise ConfigurationError(f"timeout is {self.timeout}.", hint="Give seconds above 0, or None.")
        if self.max_retries < 0:
            raise ConfigurationError(f"max_retries is {self.max_retries}.", hint="Give 0 or more.")

    def _validate_embedded(self) -> None:
        if not self.model:
            raise ConfigurationError(
                "Neither model nor base_url is given.",
                hint=(
                    "Give model='<name or path>' to run vLLM in this process, or "
                    "base_url='http://localhost:8000/v1' to use a vLLM server."
                ),
            )
        if self.default_headers:
            raise ConfigurationError(
                "default_headers is given without base_url.",
                hint="HTTP headers belong to a server; give base_url too.",
            )

    def _validate_server(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ConfigurationError(
                f"base_url is {base_url!r}.", hint="Give a URL such as http://localhost:8000/v1."
            )
        for name in ("engine_args", "adapters", "tokenizer", "chat_template", "speculation"):
            if getattr(self, name) and not (name == "speculation" and self.speculation != "on"):
                raise ConfigurationError(
                    f"{name} is given beside base_url.",
                    hint=f"A running server cannot be configured from here; start it with its own {name}.",
                )

    @property
    def adapter_name(self) -> str | None:
        """Name under which the engine knows the adapter: the last part of a folder or hub name."""
        if self.adapter is None or self.base_url is not None or self.adapter in self.adapters:
            return self.adapter
        return PurePath(self.adapter).name or self.adapter

    @property
    def target(self) -> str | None:
        """Name to put into a request; ``None`` is the engine's default."""
        if self.adapter is not None:
            return self.adapter_name
        return self.model if self.base_url is not None else None

    def create(self) -> Engine:
        """The engine for these settings.

        Engines are shared: equal settings give the same engine as long as it is open, whichever
        framework asks. The embedded engine is not started before its first request.

        Raises:
            ConfigurationError: See :meth:`validate`.
        """
        self.validate()
        return self._embedded() if self.base_url is None else _shared_server(self)

    def _embedded(self) -> Engine:
        from raif_integrations.engines.embedded import EmbeddedEngine

        adapters = dict(self.adapters)
        if self.adapter is not None and self.adapter not in adapters:
            adapters[self.adapter_name or self.adapter] = self.adapter
        return EmbeddedEngine.shared(
            self.model,
            adapters=adapters,
            tokenizer=self.tokenizer,
            chat_template=self.chat_template,
            engine_args=dict(self.engine_args),
            speculation=self.speculation,
        )


_servers: WeakValueDictionary[tuple[object, ...], Engine] = WeakValueDictionary()
_servers_lock = threading.Lock()


def _shared_server(settings: EngineSettings) -> Engine:
    """The open server engine of equal settings, or a new one. It lives as long as a model uses it."""
    from raif_integrations.engines.server import ServerEngine

    assert settings.base_url is not None
    key = (
        settings.base_url,
        settings.model,
        settings.api_key,
        settings.timeout,
        settings.max_retries,
        tuple(sorted(settings.default_headers.items())),
    )
    with _servers_lock:
        engine = _servers.get(key)
        if engine is None or getattr(engine, "closed", False):
            engine = ServerEngine(
                settings.base_url,
                model=settings.model,
                api_key=settings.api_key,
                timeout=settings.timeout,
                max_retries=settings.max_retries,
                default_headers=settings.default_headers,
            )
            _servers[key] = engine
        return engine


class EngineHolder:
    """Keeps the engine of a model object, made on first use and again when the settings change.

    Copies of the model object share it; a pickled copy makes its own.
    """

    def __init__(self) -> None:
        self._held: tuple[EngineSettings, Engine] | None = None

    def get(self, settings: EngineSettings) -> Engine:
        """The engine for ``settings``; see :meth:`EngineSettings.create`."""
        held = self._held
        if held is None or held[0] != settings or getattr(held[1], "closed", False):
            held = self._held = (settings, settings.create())
        return held[1]

    def __deepcopy__(self, memo: dict[int, Any]) -> EngineHolder:
        return self

    def __reduce__(self) -> tuple[type[EngineHolder], tuple[()]]:
        return EngineHolder, ()


def resolve_prompting(prompting: Prompting, *names: str | None) -> Prompting:
    """Decides how the schema is shown, as far as the names given by the user tell.

    Args:
        prompting: The user's setting; anything but ``auto`` stands.
        names: Model and adapter, as names or paths; of a path only the last part counts.

    Returns:
        ``trained`` if a name contains ``raif``; otherwise ``prompting``, so that ``auto`` is decided by the
        name the engine reports.
    """
    if prompting != "auto":
        return prompting
    return "trained" if any(name and is_raif_name(name) for name in names) else "auto"


_identities: WeakKeyDictionary[Engine, str] = WeakKeyDictionary()


def engine_identity(engine: Engine) -> str:
    """A name for an engine that no other engine has, in this process or another; part of cache keys."""
    return _identities.setdefault(engine, uuid.uuid4().hex)
