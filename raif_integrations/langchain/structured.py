"""Structured output: from the model's message, or the chunks of its stream, to the user's object."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import BaseTransformOutputParser
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.utils import AddableDict

from raif_integrations.langchain.growing import GrowingJson, copied
from raif_integrations.langchain.output_shapes import OutputShape

_NOTHING = object()


class StructuredOutputParser(BaseTransformOutputParser[Any]):
    """Makes the user's object of a message.

    Streamed, it yields the object each time it has grown: dicts and lists hold the fields that are
    complete so far; an instance of a class is yielded only when it is valid as it stands, so that
    every item keeps what the class promises. The last item is always the whole object.

    Attributes:
        shape: What to return.
        from_tool_call: The value is the arguments of a tool call, not the message's text.
        allow_tool_calls: A message that calls other tools instead gives ``None``; otherwise it is an error.
    """

    shape: OutputShape
    from_tool_call: bool = False
    allow_tool_calls: bool = False

    @property
    def OutputType(self) -> Any:  # noqa: N802  # named by LangChain
        """Not told: the object may be of any type."""
        return Any

    @property
    def _type(self) -> str:
        return "raif_structured_output"

    def parse(self, text: str) -> Any:
        """Makes the object of JSON text.

        Raises:
            OutputParserException: The text is not JSON, or the user's class refuses the value.
        """
        try:
            value = json.loads(text)
        except ValueError as error:
            raise self._failure(f"the reply is not JSON ({error})", text) from error
        return self._built(value, text)

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Makes the object of a message.

        Args:
            result: One generation.
            partial: Not used; a message is always whole.

        Raises:
            OutputParserException: The reply is cut off, does not fit the schema, or is refused by the user's
                class. It carries the model's own text in ``llm_output`` and the reason in its message.
        """
        generation = result[0]
        if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
            return self._from_message(generation.message)
        return self.parse(generation.text)

    def _from_message(self, message: AIMessage) -> Any:
        report = message.response_metadata.get("raif") or {}
        written = report.get("text") or message.text
        if errors := report.get("errors"):
            first = errors[0]
            raise self._failure(first["error"], first["text"] or written)
        if self.from_tool_call:
            for call in message.tool_calls:
                if call["name"] == self.shape.name:
                    return self._built(call["args"], written)
            raise self._failure(f"the reply has no call of {self.shape.name!r}", written)
        if message.tool_calls:
            if self.allow_tool_calls:
                return None
            names = ", ".join(call["name"] for call in message.tool_calls)
            raise self._failure(
                f"the model called {names} instead; use include_raw=True to receive tool calls", written
            )
        return self.parse(message.text)

    def _built(self, value: Any, written: str) -> Any:
        if self.shape.build is None:
            return value
        try:
            return self.shape.build(value)
        except (ValueError, TypeError) as error:
            raise self._failure(str(error), written) from error

    def _failure(self, reason: str, written: str) -> OutputParserException:
        shown = written if len(written) <= 500 else f"{written[:500]}…"
        return OutputParserException(
            f"No {self.shape.name} came back: {reason}. The model wrote: {shown!r}", llm_output=written
        )

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[Any]:
        growth = _Growth(self)
        for piece in input:
            yield from growth.push(piece)
        yield from growth.finish()

    async def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[Any]:
        growth = _Growth(self)
        async for piece in input:
            for value in growth.push(piece):
                yield value
        for value in growth.finish():
            yield value


class _Growth:
    """The object of one stream, as it grows."""

    def __init__(self, parser: StructuredOutputParser) -> None:
        self._parser = parser
        self._json = GrowingJson()
        self._chunks: list[AIMessageChunk] = []
        self._whole: list[str | BaseMessage] = []
        self._last: Any = _NOTHING

    def push(self, piece: str | BaseMessage) -> Iterator[Any]:
        if isinstance(piece, AIMessageChunk):
            self._chunks.append(piece)
            text = self._text(piece)
        else:
            self._whole.append(piece)
            text = piece if isinstance(piece, str) else ""
        if text and self._json.push(text):
            yield from self._partial(self._json.value)

    def _text(self, chunk: AIMessageChunk) -> str:
        if self._parser.from_tool_call:
            return "".join(call["args"] or "" for call in chunk.tool_call_chunks)
        return str(chunk.text)

    def _partial(self, value: Any) -> Iterator[Any]:
        build = self._parser.shape.build
        if build is None:
            yield from self._new(copied(value))
            return
        try:
            built = build(value)
        except (ValueError, TypeError):
            return
        yield from self._new(built)

    def _new(self, value: Any) -> Iterator[Any]:
        if self._last is _NOTHING or value != self._last:
            self._last = value
            yield value

    def finish(self) -> Iterator[Any]:
        if self._chunks:
            yield from self._new(self._parser._from_message(_summed(self._chunks)))
        elif self._whole and all(isinstance(piece, str) for piece in self._whole):
            yield from self._new(self._parser.parse("".join(map(str, self._whole))))
        else:
            for piece in self._whole:
                yield from self._new(self._parser.invoke(piece))


def _summed(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    return chunks[0] + chunks[1:] if len(chunks) > 1 else chunks[0]


class RawStructuredOutputParser(StructuredOutputParser):
    """Gives ``{"raw": message, "parsed": object, "parsing_error": error}`` and never raises for a reply.

    Streamed, it yields the chunks under ``raw`` as they come, then the rest; the pieces add up.
    """

    def invoke(self, input: str | BaseMessage, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Parses a message; see :class:`StructuredOutputParser`."""
        return self._call_with_config(self._with_raw, input, config, run_type="parser")

    async def ainvoke(
        self, input: str | BaseMessage, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> Any:
        """Parses a message; see :class:`StructuredOutputParser`."""
        return self.invoke(input, config, **kwargs)

    def _with_raw(self, message: str | BaseMessage) -> dict[str, Any]:
        return {"raw": message, **self._outcome(message)}

    def _outcome(self, message: str | BaseMessage) -> dict[str, Any]:
        try:
            text_or_message = self._from_message if isinstance(message, AIMessage) else self.parse
            return {"parsed": cast(Any, text_or_message)(message), "parsing_error": None}
        except OutputParserException as error:
            return {"parsed": None, "parsing_error": error}

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[Any]:
        pieces: list[Any] = []
        for piece in input:
            pieces.append(piece)
            yield AddableDict(raw=piece)
        yield AddableDict(self._outcome(_joined(pieces)))

    async def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[Any]:
        pieces: list[Any] = []
        async for piece in input:
            pieces.append(piece)
            yield AddableDict(raw=piece)
        yield AddableDict(self._outcome(_joined(pieces)))


def _joined(pieces: list[Any]) -> str | BaseMessage:
    if all(isinstance(piece, AIMessageChunk) for piece in pieces):
        return _summed(pieces)
    return pieces[-1] if len(pieces) == 1 else "".join(map(str, pieces))
