"""Objects of a Pydantic class: the four structured methods of LlamaIndex by one path.

One request, one decode, one validation, whichever of the four is called. Core's own path goes over
a tool call; it drops the system prompt when async, does not demand the call when streaming, and can
end a stream with a half-built object of another class.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import aclosing, closing
from copy import copy
from functools import lru_cache
from typing import Any, TypeVar, cast

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.instrumentation.events.llm import (
    LLMStructuredPredictEndEvent,
    LLMStructuredPredictStartEvent,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.program.utils import FlexibleModel, create_flexible_model
from llama_index.core.prompts.base import BasePromptTemplate
from llama_index.core.types import PydanticProgramMode
from llama_index_instrumentation import get_dispatcher
from pydantic import AliasChoices, BaseModel, RootModel
from pydantic.fields import FieldInfo

from raif_integrations.llama_index.requests import output_format
from raif_integrations.llama_index.results import RaifChatResponse
from raif_integrations.llama_index.validity import to_instance

ModelT = TypeVar("ModelT", bound=BaseModel)

_dispatcher = get_dispatcher(__name__)

# What core's programs take out of `llm_kwargs`, because a structured call decides it.
_DECIDED = frozenset({"tool_required", "tool_choice", "allow_parallel_tool_calls"})

_OWN_MODES = (PydanticProgramMode.DEFAULT, PydanticProgramMode.FUNCTION)


class StructuredOutput(FunctionCallingLLM):
    """The structured methods of an LLM whose ``chat`` understands ``response_format``.

    A ``pydantic_program_mode`` other than ``DEFAULT`` or ``FUNCTION`` is honoured with core's programs;
    in mode ``LLM`` the text that core's parser reads is bound to fit the class.
    """

    def structured_predict(
        self,
        output_cls: type[ModelT],
        prompt: BasePromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> ModelT:
        """Has the model fill a Pydantic class.

        Args:
            output_cls: The class.
            prompt: The prompt; its variables are filled from ``prompt_args``.
            llm_kwargs: Arguments for :meth:`chat`, such as ``temperature``.
            **prompt_args: Values of the prompt's variables.

        Returns:
            An instance of ``output_cls``.

        Raises:
            OutputError: What the model wrote does not fit; holds its text and each broken field.
        """
        if self.pydantic_program_mode not in _OWN_MODES:
            core: Any = super()
            prompt, kwargs = self._for_core(output_cls, prompt, llm_kwargs)
            return cast(ModelT, core.structured_predict(output_cls, prompt, kwargs, **prompt_args))
        self._announce(output_cls, prompt, prompt_args)
        messages, kwargs = self._ask_for(output_cls, prompt, llm_kwargs, prompt_args)
        return _finished(output_cls, self.chat(messages, **kwargs))

    async def astructured_predict(
        self,
        output_cls: type[ModelT],
        prompt: BasePromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> ModelT:
        """:meth:`structured_predict` without blocking the event loop."""
        if self.pydantic_program_mode not in _OWN_MODES:
            core: Any = super()
            prompt, kwargs = self._for_core(output_cls, prompt, llm_kwargs)
            return cast(ModelT, await core.astructured_predict(output_cls, prompt, kwargs, **prompt_args))
        self._announce(output_cls, prompt, prompt_args)
        messages, kwargs = self._ask_for(output_cls, prompt, llm_kwargs, prompt_args)
        return _finished(output_cls, await self.achat(messages, **kwargs))

    def _structured_stream_call(
        self,
        output_cls: type[ModelT],
        prompt: BasePromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Generator[ModelT | FlexibleModel, None, None]:
        """Yields the growing object, last an instance of ``output_cls``; core's public method adds events."""
        if self.pydantic_program_mode not in _OWN_MODES:
            core: Any = super()
            prompt, kwargs = self._for_core(output_cls, prompt, llm_kwargs)
            yield from core._structured_stream_call(output_cls, prompt, kwargs, **prompt_args)
            return
        messages, kwargs = self._ask_for(output_cls, prompt, llm_kwargs, prompt_args)
        growth = _Growth(output_cls)
        with closing(self.stream_chat(messages, **kwargs)) as responses:
            for response in responses:
                yield from growth.add(response)

    async def _structured_astream_call(
        self,
        output_cls: type[ModelT],
        prompt: BasePromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> AsyncGenerator[ModelT | FlexibleModel, None]:
        """:meth:`_structured_stream_call` without blocking the event loop."""
        if self.pydantic_program_mode not in _OWN_MODES:
            core: Any = super()
            prompt, kwargs = self._for_core(output_cls, prompt, llm_kwargs)
            return cast(
                AsyncGenerator[ModelT | FlexibleModel, None],
                await core._structured_astream_call(output_cls, prompt, kwargs, **prompt_args),
            )
        messages, kwargs = self._ask_for(output_cls, prompt, llm_kwargs, prompt_args)
        responses = await self.astream_chat(messages, **kwargs)

        async def grow() -> AsyncGenerator[ModelT | FlexibleModel, None]:
            growth = _Growth(output_cls)
            async with aclosing(responses):
                async for response in responses:
                    for item in growth.add(response):
                        yield item

        return grow()

    def _for_core(
        self, output_cls: type[BaseModel], prompt: BasePromptTemplate, llm_kwargs: dict[str, Any] | None
    ) -> tuple[BasePromptTemplate, dict[str, Any] | None]:
        """Prompt and arguments for core's program of the mode in force.

        The prompt is a copy, because core's text program leaves its output parser in it.
        """
        if self.pydantic_program_mode is not PydanticProgramMode.LLM:
            return prompt, llm_kwargs
        return copy(prompt), {"response_format": output_format(output_cls), **(llm_kwargs or {})}

    def _announce(
        self, output_cls: type[BaseModel], prompt: BasePromptTemplate, prompt_args: dict[str, Any]
    ) -> None:
        _dispatcher.event(
            LLMStructuredPredictStartEvent(output_cls=output_cls, template=prompt, template_args=prompt_args)
        )

    def _ask_for(
        self,
        output_cls: type[BaseModel],
        prompt: BasePromptTemplate,
        llm_kwargs: dict[str, Any] | None,
        prompt_args: dict[str, Any],
    ) -> tuple[list[ChatMessage], dict[str, Any]]:
        """Messages and arguments for ``chat``, the same for all four methods."""
        messages = self._extend_messages(prompt.format_messages(llm=self, **prompt_args))
        kwargs = {name: value for name, value in (llm_kwargs or {}).items() if name not in _DECIDED}
        return messages, {**kwargs, "response_format": output_format(output_cls)}


def _finished(output_class: type[ModelT], response: ChatResponse) -> ModelT:
    instance = _instance(output_class, response)
    _dispatcher.event(LLMStructuredPredictEndEvent(output=instance))
    return instance


def _instance(output_class: type[ModelT], response: ChatResponse) -> ModelT:
    response = cast(RaifChatResponse, response)
    turn = response.turn
    return to_instance(output_class, response.value, text=turn.report.text if turn else "")


class _Growth:
    """The object of a stream, as far as it has come."""

    def __init__(self, output_class: type[BaseModel]) -> None:
        self._output_class = output_class
        self._last: Any = None

    def add(self, response: ChatResponse) -> Iterator[Any]:
        """Takes the next response; yields an object if there is more to see.

        Until the value is whole that is core's ``FlexibleModel``, in which every field may be ``None``:
        an unfinished value never passes for an instance of the class with its defaults filled in.
        """
        response = cast(RaifChatResponse, response)
        if response.turn is not None:
            yield _instance(self._output_class, response)
            return
        value = response.value
        if value and value != self._last:
            self._last = value
            yield _partial(self._output_class, value)


def _partial(output_class: type[BaseModel], value: Any) -> FlexibleModel:
    flexible, names = _flexible_class(output_class)
    if issubclass(output_class, RootModel):
        return flexible.model_validate({"root": value})
    return flexible.model_validate({names.get(key, key): item for key, item in value.items()})


@lru_cache(maxsize=256)
def _flexible_class(output_class: type[BaseModel]) -> tuple[type[FlexibleModel], dict[str, str]]:
    """Core's class for partial objects, and the field name of each key of the value."""
    names = {_key(name, info): name for name, info in output_class.model_fields.items()}
    return create_flexible_model(output_class), names


def _key(name: str, info: FieldInfo) -> str:
    """The key under which Pydantic's JSON Schema lists a field."""
    alias = info.validation_alias
    if isinstance(alias, AliasChoices):
        alias = next((choice for choice in alias.choices if isinstance(choice, str)), None)
    return alias if isinstance(alias, str) else name
