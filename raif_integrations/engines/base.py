"""The engine protocol: messages in, text out.

An engine knows nothing of RAIF, tools or frameworks. It renders the messages with the model's
chat template, generates under the sampling settings and the constraint, and reports text, finish
reason, usage, model name and request id. The embedded engine, the server engine and the scripted
engine of the tests are interchangeable behind this protocol. A server may have a plugin that decodes; a
request with ``server_decoding`` makes use of it, and only an engine that asks a server takes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias

Message: TypeAlias = dict[str, Any]
"""An OpenAI-shaped chat message: ``{"role": ..., "content": ...}``."""

FinishReason: TypeAlias = Literal["stop", "length", "abort"]
"""Why a generation ended. ``error`` is never reported: it is raised."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen. ``None`` leaves the model's own default in force.

    Attributes:
        temperature: 0 is greedy.
        top_p: Nucleus mass, 0 to 1.
        top_k: Number of candidates; -1 is all.
        max_tokens: Longest reply in tokens; ``None`` is the room the model has left.
        stop: Strings that end the reply; they are not part of it.
        seed: Makes sampling repeatable.
        frequency_penalty: -2 to 2, as in OpenAI's API.
        presence_penalty: -2 to 2, as in OpenAI's API.
        extra: Further vLLM sampling parameters by name (``min_p``, ``repetition_penalty``, ``bad_words`` …).
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GrammarConstraint:
    """The reply is a sentence of this EBNF grammar (xgrammar's dialect, start rule ``root``)."""

    ebnf: str


@dataclass(frozen=True, slots=True)
class JsonConstraint:
    """The reply is JSON that fits this JSON Schema (the engine's own JSON guidance)."""

    schema: Mapping[str, Any]


Constraint: TypeAlias = GrammarConstraint | JsonConstraint


@dataclass(frozen=True, slots=True)
class ServerDecoding:
    """What a server whose plugin decodes is asked for: fields of OpenAI's chat completions, sent as given.

    Such a server shows the tools or the schema to the model itself and answers with tool calls or JSON.

    Attributes:
        tools: Tool dicts.
        tool_choice: ``auto``, ``required`` or the dict that names a tool; ``None`` is the server's default.
        parallel_tool_calls: Whether one reply may make several calls; ``None`` is the server's default.
        response_format: The form of the reply.
    """

    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str | Mapping[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One generation.

    Attributes:
        messages: OpenAI-shaped messages, ready for the chat template (no tools, no cue to add).
        sampling: How tokens are chosen.
        constraint: What the reply must look like, or ``None`` for free text.
        model: Name of the served model or adapter; ``None`` is the engine's default.
        chat_template_kwargs: Passed to the chat template (``enable_thinking`` …).
        timeout: Seconds until the generation is given up; ``None`` is the engine's default.
        server_decoding: What the server decodes itself; only an engine that asks a server can.
    """

    messages: Sequence[Message]
    sampling: Sampling = field(default_factory=Sampling)
    constraint: Constraint | None = None
    model: str | None = None
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    server_decoding: ServerDecoding | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one generation.

    Attributes:
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cached_tokens: Those of ``prompt_tokens`` that came from the prefix cache.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class ToolCallPiece:
    """A piece of a tool call that the server decoded.

    Attributes:
        index: Which call of the reply.
        id: The server's id of the call, in its first piece.
        name: Name of the tool, in its first piece.
        arguments: New text of the arguments: JSON, or what the model wrote where the server left it as is.
    """

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished generation.

    Attributes:
        text: What the model wrote, without stop strings and special tokens.
        finish_reason: Why it ended.
        usage: Token counts.
        model: Name of the model or adapter that answered.
        request_id: The engine's id of the request.
        reasoning: Reasoning text the engine reports apart from ``text``.
        tool_calls: With ``server_decoding``: the calls, each in one piece.
    """

    text: str
    finish_reason: FinishReason
    usage: Usage
    model: str
    request_id: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCallPiece, ...] = ()

    def as_delta(self) -> Delta:
        """The same as a stream of one delta."""
        return Delta(
            text=self.text,
            model=self.model,
            request_id=self.request_id,
            reasoning=self.reasoning,
            finish_reason=self.finish_reason,
            usage=self.usage,
            tool_calls=self.tool_calls,
        )


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a generation as it is written.

    Exactly one delta of a stream, the last one, has a ``finish_reason``; it carries the usage of
    the whole generation. Any delta may have an empty ``text``.

    Attributes:
        text: New text.
        reasoning: New reasoning text.
        finish_reason: Set on the last delta only.
        usage: Set on the last delta only; ``None`` there if the server does not report it.
        model: Name of the model or adapter that answers.
        request_id: The engine's id of the request.
        tool_calls: With ``server_decoding``: new pieces of calls.
    """

    text: str
    model: str
    request_id: str
    reasoning: str | None = None
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    tool_calls: tuple[ToolCallPiece, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What an engine knows of its model.

    Attributes:
        name: Name of the default model.
        max_model_len: Context window in tokens, or ``None`` if the engine does not tell.
        adapters: Names of the adapters that can be asked for.
        version: vLLM's version, or ``None`` if unknown.
    """

    name: str
    max_model_len: int | None = None
    adapters: tuple[str, ...] = ()
    version: str | None = None


class Engine(ABC):
    """Generates text for messages.

    Engines are safe to use from several threads and event loops at once. Leaving a stream early
    (closing the iterator, or cancelling the task) aborts its request in the engine. Errors are
    subclasses of :class:`raif_integrations.errors.EngineError`.
    """

    @property
    @abstractmethod
    def info(self) -> ModelInfo:
        """The model behind the engine; may start the engine or ask the server once."""

    @abstractmethod
    def generate(self, request: Request) -> Completion:
        """Generates one reply."""

    @abstractmethod
    async def agenerate(self, request: Request) -> Completion:
        """Generates one reply without blocking the event loop."""

    @abstractmethod
    def generate_many(self, requests: Sequence[Request]) -> list[Completion]:
        """Generates replies side by side, in the order of ``requests``.

        Raises:
            EngineError: The first failure; the other requests are aborted.
        """

    @abstractmethod
    async def agenerate_many(self, requests: Sequence[Request]) -> list[Completion]:
        """Generates replies side by side without blocking the event loop."""

    @abstractmethod
    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """Generates one reply piece by piece. Closing the iterator aborts the request."""

    @abstractmethod
    def astream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Generates one reply piece by piece without blocking the event loop."""

    @abstractmethod
    def count_tokens(self, messages: Sequence[Message] | str) -> int:
        """Counts the tokens of a rendered prompt (messages) or of a bare text (string)."""

    @abstractmethod
    def close(self) -> None:
        """Ends the engine. Calls after that raise :class:`EngineClosedError`. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
