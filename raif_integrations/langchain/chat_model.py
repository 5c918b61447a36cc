"""The chat model: LangChain's hooks around a turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any, Literal, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.load.load import ALL_SERIALIZABLE_MAPPINGS
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable

from raif_integrations.errors import ConfigurationError
from raif_integrations.langchain.bindings import plain_choice, response_format_dict, schema_tool, shape_format
from raif_integrations.langchain.chat_settings import ChatSettings
from raif_integrations.langchain.errors import core_errors
from raif_integrations.langchain.output_shapes import JSON_OBJECT, output_shape
from raif_integrations.langchain.results import ChunkMaker, chat_result
from raif_integrations.langchain.tools import tool_dicts
from raif_integrations.turn import arun_turn, astream_turn, first_prompt, run_turn, stream_turn

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

Method = Literal["raif", "json_schema", "function_calling", "json_mode"]
"""How a structured output is asked for; see :meth:`ChatRaifVLLM.with_structured_output`."""


class ChatRaifVLLM(ChatSettings):
    """A model served by vLLM, here or on a server, that makes tool calls and objects through RAIF.

    What the model must write is shown to it and decoded here, so a server needs neither a tool parser
    nor any other option. Calls and values that come back are valid against their schema; what is not
    ends in ``invalid_tool_calls`` or an exception that says which field is wrong.

    Example:
        ```python
        from raif_integrations import ChatRaifVLLM

        chat = ChatRaifVLLM(base_url="http://localhost:8000/v1", adapter="raif")
        invoice = chat.with_structured_output(Invoice).invoke("2 lamps at 40 euros each, please pay by May 2")
        ```

    Raises:
        ConfigurationError: An argument is missing, out of range or contradicts another one.
    """

    # Generation

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with core_errors():
            request = self._request(messages, stop, kwargs)
            return chat_result(run_turn(self._open_engine(), request))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with core_errors():
            request = self._request(messages, stop, kwargs)
            return chat_result(await arun_turn(self._open_engine(), request))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        with core_errors():
            request = self._request(messages, stop, kwargs)
            maker = ChunkMaker()
            with closing(cast(Any, stream_turn(self._open_engine(), request))) as events:
                for event in events:
                    if (chunk := maker.chunk(event)) is not None:
                        if run_manager is not None:
                            run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                        yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        with core_errors():
            request = self._request(messages, stop, kwargs)
            maker = ChunkMaker()
            async with aclosing(cast(Any, astream_turn(self._open_engine(), request))) as events:
                async for event in events:
                    if (chunk := maker.chunk(event)) is not None:
                        if run_manager is not None:
                            await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                        yield chunk

    # Tokens

    def get_num_tokens(self, text: str) -> int:
        """Counts the tokens of a text with the model's own tokenizer; may start the engine."""
        with core_errors():
            return self._open_engine().count_tokens(text)

    def get_num_tokens_from_messages(
        self, messages: list[BaseMessage], tools: Sequence[Any] | None = None
    ) -> int:
        """Counts the tokens of the prompt these messages make; may start the engine.

        Args:
            messages: The conversation.
            tools: Tools bound to the call; what the model is shown of them counts.
        """
        with core_errors():
            engine = self._open_engine()
            request = self._request(messages, None, {"tools": tool_dicts(tools or ())})
            return engine.count_tokens(first_prompt(engine, request))

    # Tools and structured output

    def bind_tools(
        self,
        tools: Sequence[Mapping[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: Mapping[str, Any] | str | bool | None = None,
        strict: bool | None = None,
        parallel_tool_calls: bool | None = None,
        response_format: Any = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Binds tools the model may call.

        Args:
            tools: Tools, functions, Pydantic classes, TypedDicts, or dicts in OpenAI's or Anthropic's form.
            tool_choice: ``auto`` (or ``None``), ``any`` or ``required`` (or ``True``) for at least one
                call, a tool's name (or OpenAI's dict) for that call, ``none``. A choice is enforced.
            strict: Accepted for compatibility; arguments fit their schema with any value.
            parallel_tool_calls: Whether one reply may make several calls; by default it may.
            response_format: Schema of the reply that ends the calls: a class, a JSON Schema or
                OpenAI's ``response_format`` dict. ``content`` is then JSON text.
            **kwargs: Further arguments of each call.

        Raises:
            ConfigurationError: Something is not a tool, or ``tool_choice`` names none of them.
        """
        bound: dict[str, Any] = dict(kwargs)
        if dicts := tool_dicts(cast(Any, tools), strict=strict):
            bound["tools"] = dicts
            if tool_choice is not None and tool_choice is not False:
                bound["tool_choice"] = plain_choice(tool_choice, dicts)
            if parallel_tool_calls is not None:
                bound["parallel_tool_calls"] = parallel_tool_calls
        if response_format is not None:
            bound["response_format"] = response_format_dict(response_format)
        return self.bind(**bound)

    def with_structured_output(
        self,
        schema: Any = None,
        *,
        method: Method = "raif",
        include_raw: bool = False,
        strict: bool | None = None,
        tools: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Makes the model return objects of a schema.

        Streamed, dicts and lists grow field by field; instances of a class are yielded each time they
        are valid as they stand, so stream ``Model.model_json_schema()`` to see every field come.

        Args:
            schema: A Pydantic class, a TypedDict, a dataclass, any type Pydantic knows, or a JSON Schema
                (with or without a title, of any root type).
            method: ``raif`` (default) and ``json_schema`` ask for the value itself, ``json_schema`` and
                ``json_mode`` have it written as JSON; ``function_calling`` asks for a tool call.
            include_raw: Return ``{"raw", "parsed", "parsing_error"}`` and never raise for a reply.
            strict: Accepted for compatibility; values fit the schema with any value.
            tools: Tools the model may call before it answers; use ``include_raw`` to receive the calls.
            **kwargs: Further arguments of each call.

        Raises:
            TypeError: The schema is an Enum or has no JSON Schema.
            ConfigurationError: The schema is missing, or ``method`` is unknown or cannot carry it.
        """
        # Here, because Pydantic builds the parsers' classes when their module is loaded: import time.
        from raif_integrations.langchain.structured import RawStructuredOutputParser, StructuredOutputParser

        shape = JSON_OBJECT if schema is None and method == "json_mode" else output_shape(schema)
        kwargs["ls_structured_output_format"] = {"kwargs": {"method": method}, "schema": shape.traced}
        from_tool_call = method == "function_calling"
        if from_tool_call:
            kwargs["tool_choice"] = "any" if tools else shape.name
            tools = [*(tools or ()), schema_tool(shape)]
        elif method in ("raif", "json_schema", "json_mode"):
            kwargs["response_format"] = shape_format(shape, strict=strict)
            if method != "raif":
                kwargs["wire"] = "json"
        else:
            raise ConfigurationError(
                f"method is {method!r}.", hint="Choose raif, json_schema, function_calling or json_mode."
            )
        parser = RawStructuredOutputParser if include_raw else StructuredOutputParser
        return self.bind_tools(tools or (), strict=strict, **kwargs) | parser(
            shape=shape, from_tool_call=from_tool_call, allow_tool_calls=include_raw
        )


# langchain-core revives only classes of this table, even with `allowed_objects="all"`, and has no other way
# into it. A caller still has to name this package in `valid_namespaces`.
ALL_SERIALIZABLE_MAPPINGS.setdefault(tuple(ChatRaifVLLM.lc_id()), tuple(ChatRaifVLLM.lc_id()))
