"""What a vLLM server is: its version, its models and adapters, and whether a RAIF plugin decodes on it.

Nothing here is needed for a reply that is decoded on this side. A server, or a gateway before it, may
refuse any of these questions; then the answer is "unknown", and whoever asked goes on without it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from raif_integrations.engines.server.address import ServerAddress
from raif_integrations.engines.server.decoding import DecodingFound, Plugin
from raif_integrations.engines.server.errors import CallContext, status_of, unreadable
from raif_integrations.engines.server.exchange import Steps
from raif_integrations.engines.server.http import Call, HttpResponse
from raif_integrations.engines.server.models import ServedModels
from raif_integrations.engines.server.reply import parse_json, read_completion
from raif_integrations.engines.server.retries import RetryPolicy
from raif_integrations.errors import EngineError, RequestError, ServerError

if TYPE_CHECKING:
    from raif_integrations.engines.server.engine import ServerEngine

_QUESTION_SECONDS = 5.0
_MODELS_SECONDS = 30.0
# The first grammar of a vLLM 0.19 server on a CPU was seen to take a minute.
_PROBE_SECONDS = 90.0
_NO_RETRY = RetryPolicy(max_retries=0)

_GAUGE = re.compile(r'^raif_plugin_info\{[^}]*\bversion="([^"]*)"', re.MULTILINE)
_OWN_PLUGIN_FROM = (0, 29)

_PROBE_KEY, _PROBE_WORD = "probe", "kxqvzw"
_PROBE: Mapping[str, Any] = {
    "messages": [{"role": "user", "content": "probe"}],
    "temperature": 0,
    "max_tokens": 32,
    "structured_outputs": {"grammar": f'root ::= "{_PROBE_KEY}={_PROBE_WORD}"'},
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "name": _PROBE_KEY,
            "schema": {
                "type": "object",
                "properties": {_PROBE_KEY: {"type": "string", "enum": [_PROBE_WORD]}},
                "required": [_PROBE_KEY],
                "additionalProperties": False,
            },
        },
    },
}


@dataclass(frozen=True, slots=True)
class ServerDescription:
    """What a server tells of itself, as far as it does.

    Attributes:
        version: vLLM's version, or ``None`` if the server does not tell.
        models: Names of the base models; empty if the server does not list them.
        adapters: Name of the base model by adapter name.
        max_model_len: Context window in tokens by model name, where it is told.
        plugin: The RAIF plugin that decodes, or ``None`` if there is none or it cannot be told which.
        plugin_version: Its version, where it is told.
        decodes: Whether ``tools`` and ``response_format`` are decoded from RAIF by the server; ``None`` if
            that cannot be found out.
        refused: What could not be asked and why, by path (``{"/version": "HTTP 403: …"}``).
    """

    version: str | None = None
    models: tuple[str, ...] = ()
    adapters: Mapping[str, str] = field(default_factory=dict)
    max_model_len: Mapping[str, int] = field(default_factory=dict)
    plugin: Plugin | None = None
    plugin_version: str | None = None
    decodes: bool | None = None
    refused: Mapping[str, str] = field(default_factory=dict)


def describe_server(engine: ServerEngine, *, probe: bool = True) -> ServerDescription:
    """Finds out what a server is.

    Args:
        engine: An engine for the server, with its key and timeout.
        probe: Generate a few tokens to see whether the server decodes RAIF. Without it only what a
            plugin tells of itself counts.

    Raises:
        EngineConnectionError: Nothing answers there.
        AuthenticationError: The key is refused.
    """
    return engine.describe(probe=probe)


class Send(Protocol):
    """Makes a call and raises this package's errors."""

    def __call__(
        self, call: Call, context: CallContext, *, retries: RetryPolicy | None = None
    ) -> Steps[HttpResponse]:
        """Makes one call, again where that can help."""
        ...


class Detection:
    """Asks a server what it is; each question once, whatever the answer.

    Args:
        address: The server.
        send: Makes the calls.
        timeout: Longest silence of the server in seconds; these questions wait no longer, and mostly less.
    """

    def __init__(self, address: ServerAddress, send: Send, timeout: float) -> None:
        self._address = address
        self._send = send
        self._timeout = timeout
        self._version: tuple[str | None] | None = None
        self._decoding: DecodingFound | None = None
        self.refused: dict[str, str] = {}

    def served(self) -> Steps[ServedModels | None]:
        """The server's list of models, or ``None`` if it keeps it to itself. Asked anew each time.

        Raises:
            EngineError: Nothing answers, or the key is refused: no other call would do better.
        """
        url = f"{self._address.api}/models"
        context = CallContext(self._address, url, self._timeout)
        call = Call("GET", url, min(self._timeout, _MODELS_SECONDS))
        try:
            response = yield from self._send(call, context)
            return ServedModels.parse(_parsed(response, context))
        except EngineError as error:
            # An answer that cannot be read is a refusal, too; without any answer there is no server.
            if not isinstance(error, ServerError) and status_of(error) in (None, 401):
                raise
            self.refused["/v1/models"] = error.message
            return None

    def version(self, left: Callable[[], float] | None = None) -> Steps[str | None]:
        """vLLM's version; ``left`` tells how many seconds the caller can still wait."""
        if self._version is None:
            payload = yield from self._ask("/version", _parsed, left)
            version = payload.get("version") if isinstance(payload, dict) else None
            self._version = (version if isinstance(version, str) else None,)
        return self._version[0]

    def decoding(
        self, model: str, *, probe: bool = True, left: Callable[[], float] | None = None
    ) -> Steps[DecodingFound]:
        """Whether a RAIF plugin decodes.

        This package's plugin shows in ``/metrics`` of servers that were started with it. raif-vllm does not
        show, so a short generation is the proof: it has a ``response_format`` and a grammar for one RAIF
        line. raif-vllm takes the format for its own and answers with the line as JSON; vLLM refuses two
        constraints at once, and so it does where this package's plugin is out of sight.

        Args:
            model: Name of a model to ask.
            probe: Make that generation.
            left: Tells how many seconds the caller can still wait.
        """
        if self._decoding is not None:
            return self._decoding
        metrics = yield from self._ask("/metrics", _metrics, left)
        gauge = _GAUGE.search(metrics or "")
        if gauge is not None:
            self._decoding = DecodingFound("raif-integrations", gauge.group(1), decodes=True)
            return self._decoding
        if not probe:
            return DecodingFound(None, None, decodes=None)
        decodes = yield from self._probe(model, left)
        may_be_current = _is_current((yield from self.version(left)))
        if decodes is False and metrics is None and may_be_current is not False:
            decodes = None
        raif_vllm = decodes is True and may_be_current is False
        self._decoding = DecodingFound("raif-vllm" if raif_vllm else None, None, decodes)
        return self._decoding

    def _patience(self, most: float, left: Callable[[], float] | None) -> float:
        return min(self._timeout, most, left() if left is not None else most)

    def describe(self, model: str | None, *, probe: bool) -> Steps[ServerDescription]:
        """Everything there is to tell.

        Args:
            model: Name of the model to ask; ``None`` is the first one served.
            probe: See :meth:`decoding`.
        """
        served = yield from self.served()
        version = yield from self.version()
        name = model or (served.names[0] if served and served.names else None)
        found = yield from self.decoding(name or "", probe=probe and name is not None)
        return ServerDescription(
            version=version,
            models=served.bases if served else (),
            adapters=served.parents if served else {},
            max_model_len=served.max_model_len if served else {},
            plugin=found.plugin,
            plugin_version=found.plugin_version,
            decodes=found.decodes,
            refused=dict(self.refused),
        )

    def _probe(self, model: str, left: Callable[[], float] | None) -> Steps[bool | None]:
        url = f"{self._address.api}/chat/completions"
        seconds = self._patience(_PROBE_SECONDS, left)
        context = CallContext(self._address, url, seconds, model)
        call = Call("POST", url, seconds, {"model": model, **_PROBE})
        try:
            response = yield from self._send(call, context, retries=_NO_RETRY)
            text = read_completion(_parsed(response, context)).text.strip()
        except RequestError as error:
            if status_of(error) in (400, 422):
                return False
            self.refused["/v1/chat/completions"] = error.message
            return None
        except EngineError as error:
            self.refused["/v1/chat/completions"] = error.message
            return None
        if text == f"{_PROBE_KEY}={_PROBE_WORD}":
            return False
        return True if _as_json(text) == {_PROBE_KEY: _PROBE_WORD} else None

    def _ask(
        self,
        path: str,
        read: Callable[[HttpResponse, CallContext], Any],
        left: Callable[[], float] | None,
    ) -> Steps[Any]:
        """Asks one of vLLM's own endpoints; ``None`` if it does not answer."""
        url = f"{self._address.root}{path}"
        seconds = self._patience(_QUESTION_SECONDS, left)
        context = CallContext(self._address, url, seconds)
        try:
            call = Call("GET", url, seconds)
            response = yield from self._send(call, context, retries=_NO_RETRY)
            return read(response, context)
        except EngineError as error:
            self.refused[path] = error.message
            return None


def _parsed(response: HttpResponse, context: CallContext) -> Any:
    return parse_json(response.content, response.headers.get("content-type", ""), context)


def _metrics(response: HttpResponse, context: CallContext) -> str:
    if "vllm:" not in response.text:
        raise unreadable(response.headers.get("content-type", ""), response.text, context)
    return response.text


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_current(version: str | None) -> bool | None:
    """Whether this package's plugin, and not raif-vllm, loads on a vLLM; ``None`` if that is not known."""
    numbers = re.match(r"(\d+)\.(\d+)", version or "")
    if numbers is None:
        return None
    return (int(numbers.group(1)), int(numbers.group(2))) >= _OWN_PLUGIN_FROM
