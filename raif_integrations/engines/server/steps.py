"""What the server engine does, step by step, for blocking and for awaiting callers alike.

Each method is a generator of HTTP exchanges (see :mod:`raif_integrations.engines.server.exchange`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import openai

from raif_integrations.engines.base import Completion, Delta, Message, ModelInfo, Request
from raif_integrations.engines.server import errors
from raif_integrations.engines.server.address import ServerAddress
from raif_integrations.engines.server.decoding import DecodingFound, check_decoding, loses_streamed_calls
from raif_integrations.engines.server.detection import Detection, ServerDescription
from raif_integrations.engines.server.errors import CallContext
from raif_integrations.engines.server.events import EventDecoder
from raif_integrations.engines.server.exchange import Pause, Steps
from raif_integrations.engines.server.http import Call, HttpResponse
from raif_integrations.engines.server.models import ServedModels
from raif_integrations.engines.server.reply import DeltaReader, parse_json, read_completion
from raif_integrations.engines.server.request import chat_body
from raif_integrations.engines.server.retries import RetryPolicy
from raif_integrations.errors import (
    ConfigurationError,
    EngineError,
    ModelNotFoundError,
    RequestError,
    ServerError,
)

_SHOWN_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Deadline:
    """How long a call may take.

    Attributes:
        silence: Longest wait for the next bytes in seconds.
        end: When the call is given up, on the monotonic clock; ``None`` for no such limit.
        total: Seconds from the start to ``end``, or ``silence`` without one.
    """

    silence: float
    end: float | None
    total: float

    @classmethod
    def of(cls, request_timeout: float | None, default: float) -> Deadline:
        """The deadline of a request, counted from now.

        Raises:
            ConfigurationError: The timeout is not above 0.
        """
        if request_timeout is None:
            return cls(silence=default, end=None, total=default)
        if request_timeout <= 0:
            raise ConfigurationError(f"timeout is {request_timeout}, but must be above 0 seconds.")
        return cls(silence=request_timeout, end=time.monotonic() + request_timeout, total=request_timeout)

    @property
    def exhausted(self) -> bool:
        """Whether the call is to be given up."""
        return self.end is not None and time.monotonic() >= self.end

    def left(self) -> float:
        """Longest wait from now in seconds; never 0, which HTTP libraries take for no wait at all."""
        return self.silence if self.end is None else max(self.end - time.monotonic(), 0.001)


@dataclass(slots=True)
class OpenStream:
    """A stream whose response has begun.

    Attributes:
        response: The response; whoever holds the stream closes it.
        deadline: How long the stream may take.
        context: What errors tell of the call.
        max_tokens: Longest reply that was allowed.
    """

    response: HttpResponse
    deadline: Deadline
    context: CallContext
    max_tokens: int | None = None
    _decoder: EventDecoder = field(default_factory=EventDecoder)
    _reader: DeltaReader = field(init=False)
    _content_type: str = field(init=False)
    # Something else answers, as a gateway does with a login page; its text, until it is shown.
    _page: bytes | None = field(init=False)

    def __post_init__(self) -> None:
        self._reader = DeltaReader(max_tokens=self.max_tokens)
        self._content_type = self.response.headers.get("content-type", "")
        self._page = None if "text/event-stream" in self._content_type else b""

    def read(self, block: bytes) -> Iterator[Delta]:
        """The deltas that the next bytes complete.

        Raises:
            EngineError: The server reports an error, or the request's timeout is over.
        """
        if self._page is not None:
            self._page = (self._page + block)[:_SHOWN_BYTES]
            return
        for event in self._decoder.feed(block):
            delta = self._reader.read(event)
            if delta is not None:
                yield delta
        if self.deadline.exhausted and not self._reader.done:
            raise errors.timed_out(self.context)

    def end(self) -> Iterator[Delta]:
        """The last delta at the end of the response, if the stream did not say that it is done.

        Raises:
            EngineDiedError: The reply is cut off.
            ServerError: The response was no stream at all.
        """
        if self._page is not None:
            text = self._page.decode(errors="replace")
            raise errors.unreadable(self._content_type, text, self.context)
        delta = self._reader.finish()
        if delta is not None:
            yield delta

    def broken(self, error: Exception) -> None:
        """Takes note that the connection failed.

        Raises:
            EngineError: The reply is not complete.
        """
        if not self._reader.done:
            raise errors.from_transport(error, self.context) from error


@dataclass(frozen=True, slots=True)
class _Begun:
    """A generation that is about to be asked for: until when, of which model, and who decodes it."""

    deadline: Deadline
    model: str
    found: DecodingFound | None


class ServerSteps:
    """The steps of one engine.

    Args:
        address: The server.
        model: Name of the default model; ``None`` is the server's only base model.
        timeout: Longest silence of the server in seconds.
        retries: How often a failed call is made again.
    """

    def __init__(
        self, address: ServerAddress, *, model: str | None, timeout: float, retries: RetryPolicy
    ) -> None:
        self._address = address
        self._model = model
        self._timeout = timeout
        self._retries = retries
        self._info: ModelInfo | None = None
        self._detection = Detection(address, self._send, timeout)
        self._chat_url = f"{address.api}/chat/completions"

    def generate(self, request: Request) -> Steps[Completion]:
        """Generates one reply."""
        return (yield from self._whole(request, (yield from self._begin(request))))

    def open_stream(self, request: Request) -> Steps[OpenStream | Completion]:
        """Begins a stream; gives the whole reply instead where the server would lose part of a stream."""
        begun = yield from self._begin(request)
        if loses_streamed_calls(request.server_decoding, begun.found):
            return (yield from self._whole(request, begun))
        response, context = yield from self._chat(request, begun, stream=True)
        return OpenStream(response, begun.deadline, context, request.sampling.max_tokens)

    def default_model(self) -> Steps[str]:
        """The name to send for requests that name no model.

        Raises:
            ConfigurationError: No model is given and the server does not have exactly one.
        """
        if self._model is None:
            info = yield from self.describe()
            self._model = info.name
        return self._model

    def describe(self) -> Steps[ModelInfo]:
        """What the server tells of itself, asked once.

        A server (or a gateway before it) that refuses to tell is no failure if the model is given.
        """
        if self._info is None:
            served = yield from self._detection.served()
            name = self._model or self._only_base(served)
            version = yield from self._detection.version()
            self._info = ModelInfo(
                name=name,
                max_model_len=served.context_window(name) if served else None,
                adapters=served.adapters if served else (),
                version=version,
            )
        return self._info

    def describe_server(self, *, probe: bool) -> Steps[ServerDescription]:
        """What kind of server it is; see :meth:`Detection.describe`."""
        return (yield from self._detection.describe(self._model, probe=probe))

    def count_tokens(self, messages: Sequence[Message] | str) -> Steps[int]:
        """Counts tokens with vLLM's ``/tokenize``."""
        model = yield from self.default_model()
        body: dict[str, Any] = {"model": model}
        if isinstance(messages, str):
            body |= {"prompt": messages, "add_special_tokens": False}
        else:
            body |= {"messages": list(messages), "add_generation_prompt": True}
        url = f"{self._address.root}/tokenize"
        context = CallContext(self._address, url, self._timeout, model)
        try:
            response = yield from self._send(Call("POST", url, self._timeout, body), context)
            payload = _json(response, context)
        except ModelNotFoundError:
            raise
        except EngineError as error:
            if errors.status_of(error) not in (403, 404, 405):
                raise
            raise RequestError(
                f"Tokens cannot be counted: {error.message}",
                hint=f"Let {url} through, or count with the model's tokenizer.",
            ) from error
        if not isinstance(payload, dict) or not isinstance(payload.get("count"), int):
            raise ServerError(f"{url} answered without a token count.")
        return int(payload["count"])

    def _begin(self, request: Request) -> Steps[_Begun]:
        deadline = Deadline.of(request.timeout, self._timeout)
        model = request.model or (yield from self.default_model())
        found = None
        if request.server_decoding is not None:
            found = yield from self._detection.decoding(model, left=deadline.left)
            check_decoding(request.server_decoding, found, self._address.api)
        return _Begun(deadline, model, found)

    def _whole(self, request: Request, begun: _Begun) -> Steps[Completion]:
        response, context = yield from self._chat(request, begun, stream=False)
        return read_completion(_json(response, context), max_tokens=request.sampling.max_tokens)

    def _chat(
        self, request: Request, begun: _Begun, *, stream: bool
    ) -> Steps[tuple[HttpResponse, CallContext]]:
        deadline, model = begun.deadline, begun.model
        call = Call(
            "POST", self._chat_url, deadline.silence, chat_body(request, model, stream=stream), stream
        )
        context = CallContext(self._address, call.url, deadline.total, model)
        try:
            response = yield from self._send(call, context, deadline=deadline)
        except ModelNotFoundError as error:
            raise (yield from self._explain_missing(error)) from error.__cause__
        return response, context

    def _send(
        self,
        call: Call,
        context: CallContext,
        *,
        deadline: Deadline | None = None,
        retries: RetryPolicy | None = None,
    ) -> Steps[HttpResponse]:
        """Makes a call, again where that can help.

        Raises:
            EngineError: It failed for good.
        """
        deadline = deadline or Deadline.of(None, call.timeout)
        retries = retries or self._retries
        attempt = 0
        while True:
            try:
                response: HttpResponse = yield call
                return response
            except openai.OpenAIError as error:
                failure = errors.from_sdk(error, context)
                headers = error.response.headers if isinstance(error, openai.APIStatusError) else {}
                wait = retries.wait(failure, headers, attempt)
                if wait is None or (deadline.end is not None and wait >= deadline.left()):
                    raise failure from error
            except (TypeError, UnicodeError) as error:
                raise RequestError(
                    f"The request cannot be sent as JSON: {error}.",
                    hint="Give messages and settings of plain JSON data in valid Unicode.",
                ) from error
            yield Pause(wait)
            attempt += 1
            call = Call(call.method, call.url, deadline.left(), call.body, call.stream)

    def _only_base(self, served: ServedModels | None) -> str:
        if served is not None and len(served.bases) == 1:
            return served.bases[0]
        if served is None or not served.names:
            problem = f"No model is given, and {self._address.api} does not list its models."
        else:
            problem = f"No model is given, and {self._address.api} serves several: {', '.join(served.names)}."
        raise ConfigurationError(problem, hint="Pass model=.")

    def _explain_missing(self, error: ModelNotFoundError) -> Steps[ModelNotFoundError]:
        """Adds the names that are served."""
        try:
            served = yield from self._detection.served()
        except EngineError:
            served = None
        if served is None or not served.names:
            return error
        return ModelNotFoundError(error.message, hint=f"It serves: {', '.join(served.names)}.")


def _json(response: HttpResponse, context: CallContext) -> Any:
    return parse_json(response.content, response.headers.get("content-type", ""), context)
