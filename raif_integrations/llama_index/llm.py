"""``RaifVLLM``: LlamaIndex's interface to a model served by vLLM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.llm import ToolSelection

from raif_integrations.llama_index.model_settings import ModelSettings
from raif_integrations.llama_index.results import (
    agrowing,
    as_it_is,
    growing,
    to_chat_response,
    to_completion_response,
)
from raif_integrations.llama_index.tools import (
    joined_history,
    only_first_call,
    resolved_choice,
    selections,
    shielded,
    tool_dict,
)
from raif_integrations.turn import arun_turn, astream_turn, run_turn, stream_turn

if TYPE_CHECKING:
    from llama_index.core.chat_engine.types import AgentChatResponse
    from llama_index.core.tools.types import BaseTool


class RaifVLLM(ModelSettings):
    """A self-hosted model for LlamaIndex, with tool calls and structured output over RAIF.

    With ``base_url`` a vLLM server answers, otherwise vLLM runs in this process, started by the first
    call. Settings that are ``None`` leave the model's own defaults in force.

    Example:
        ::

            llm = RaifVLLM(model="Qwen/Qwen3-4B", adapter="skrrt-sh/raif-qwen3-4b-lora")
            invoice = llm.structured_predict(Invoice, PromptTemplate("Read: {text}"), text=text)

    Raises:
        ConfigurationError: Neither ``model`` nor ``base_url`` nor ``engine`` is given, or settings
            contradict each other.
    """

    @classmethod
    def class_name(cls) -> str:
        """The name under which the class is serialised."""
        return "RaifVLLM"

    # Chat and completion. A completion is one user message through the chat template, as the tuned
    # models that this class is for expect it.

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Has the model answer a conversation.

        Args:
            messages: The conversation; never changed.
            **kwargs: Sampling settings by name, ``stop``, ``timeout``, ``chat_template_kwargs``; ``tools``
                (LlamaIndex tools or OpenAI tool dicts), ``tool_choice`` (``auto``, ``required``, ``none``,
                a name or OpenAI's dict), ``parallel_tool_calls``; ``response_format`` (a Pydantic class
                or OpenAI's dict), with which the answer is JSON text that fits.

        Returns:
            The answer. ``raw`` holds ``id``, ``model``, ``finish_reason``, ``usage`` and ``raif``.

        Raises:
            OutputError: A call's arguments or the answer do not fit their schema.
            EngineError: The engine did not answer.
            ConfigurationError: An argument is unknown or makes no sense.
        """
        return to_chat_response(run_turn(self._open_engine(), self._turn(messages, kwargs)))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """:meth:`chat` without blocking the event loop."""
        return to_chat_response(await arun_turn(self._open_engine(), self._turn(messages, kwargs)))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """:meth:`chat`, yielding the message as it grows; closing the generator aborts it."""
        return growing(stream_turn(self._open_engine(), self._turn(messages, kwargs)), as_it_is)

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """:meth:`stream_chat` without blocking the event loop."""
        return agrowing(astream_turn(self._open_engine(), self._turn(messages, kwargs)), as_it_is)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Has the model answer one user message.

        Args:
            prompt: The message.
            formatted: Accepted for LlamaIndex's sake; the chat template is applied in any case.
            **kwargs: As for :meth:`chat`.

        Returns:
            The answer's text, with ``raw`` and counts as in :meth:`chat`.
        """
        request = self._turn([ChatMessage(content=prompt)], kwargs)
        return to_completion_response(to_chat_response(run_turn(self._open_engine(), request)))

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """:meth:`complete` without blocking the event loop."""
        request = self._turn([ChatMessage(content=prompt)], kwargs)
        return to_completion_response(to_chat_response(await arun_turn(self._open_engine(), request)))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """:meth:`complete`, yielding the text as it grows; closing the generator aborts it."""
        events = stream_turn(self._open_engine(), self._turn([ChatMessage(content=prompt)], kwargs))
        return growing(events, to_completion_response)

    @llm_completion_callback()
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """:meth:`stream_complete` without blocking the event loop."""
        events = astream_turn(self._open_engine(), self._turn([ChatMessage(content=prompt)], kwargs))
        return agrowing(events, to_completion_response)

    # Tools

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        tool_choice: str | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        return {
            "messages": joined_history(user_msg, chat_history),
            "tools": [tool_dict(tool) for tool in tools],
            "tool_choice": resolved_choice(tool_choice, tools, required=tool_required),
            "parallel_tool_calls": allow_parallel_tool_calls,
            **kwargs,
        }

    def _validate_chat_with_tools_response(
        self,
        response: ChatResponse,
        tools: Sequence[BaseTool],
        allow_parallel_tool_calls: bool = False,
        **kwargs: Any,
    ) -> ChatResponse:
        if not allow_parallel_tool_calls:
            only_first_call(response)
        return response

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """The tool calls of a response.

        Args:
            response: A response, also one that went through JSON.
            error_on_no_tool_call: No call is an error.
            **kwargs: Accepted for LlamaIndex's sake.

        Returns:
            A selection for each call; empty if there are none.

        Raises:
            OutputError: There is no call, with the text the model wrote instead.
        """
        return selections(response, demand=error_on_no_tool_call)

    def predict_and_call(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> AgentChatResponse:
        """Has the model choose a tool, and calls it; see :class:`FunctionCallingLLM`."""
        return super().predict_and_call([shielded(tool) for tool in tools], *args, **kwargs)

    async def apredict_and_call(
        self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any
    ) -> AgentChatResponse:
        """:meth:`predict_and_call` without blocking the event loop."""
        return await super().apredict_and_call([shielded(tool) for tool in tools], *args, **kwargs)
