"""The renderer: shows a request's schema to the model, before the chat template sees the messages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from vllm.renderers.hf import HfRenderer

from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.prompt import with_block
from raif_integrations.errors import RequestError
from raif_integrations.vllm_plugin import vllm_api
from raif_integrations.vllm_plugin.adjusting import bind_request, settle
from raif_integrations.vllm_plugin.binding import Decoding
from raif_integrations.vllm_plugin.flags import PARSER_NAME
from raif_integrations.vllm_plugin.metrics import announce
from raif_integrations.vllm_plugin.plan import Plan


def make_renderer(config: Any, tokenizer: Any) -> HfRenderer:
    """The renderer for a server: vLLM's own, unless it was started with RAIF.

    Args:
        config: vLLM's configuration.
        tokenizer: The model's tokenizer.
    """
    if vllm_api.reasoning_parser_of(config) != PARSER_NAME:
        return HfRenderer(config, tokenizer)
    vllm_api.carry_requests()
    if Decoding.is_on:
        announce()
    return RaifRenderer(config, tokenizer)


class RaifRenderer(HfRenderer):  # type: ignore[misc]  # vLLM's classes are not checked
    """vLLM's renderer for Hugging Face chat templates, with the schema in the last user turn.

    Tools are hidden from the template, so that it need not know how to show them, and earlier calls are
    shown as the RAIF the model wrote.
    """

    def __init__(self, config: Any, tokenizer: Any) -> None:
        super().__init__(config, tokenizer)
        if tokenizer is not None:
            _ = self._served_model  # it may take a look at files, which no request should wait for

    def render_messages(self, messages: list[Any], params: Any) -> tuple[Any, Any]:
        """Renders a conversation; see ``BaseRenderer`` of vLLM."""
        request, params = vllm_api.take_request(params)
        if request is None:
            return super().render_messages(messages, params)  # type: ignore[no-any-return]
        binding = bind_request(request, params, self._served_model)
        messages, params = shown(binding.plan, messages, params)
        conversation, prompt = super().render_messages(messages, params)
        return conversation, settle(request, binding, self.get_tokenizer(), prompt)

    async def render_messages_async(self, messages: list[Any], params: Any) -> tuple[Any, Any]:
        """Renders a conversation; see ``BaseRenderer`` of vLLM.

        A schema that is new to the server is looked at in a thread, so that others need not wait for it.
        """
        request, params = vllm_api.take_request(params)
        if request is None:
            return await super().render_messages_async(messages, params)  # type: ignore[no-any-return]
        if vllm_api.is_plain(request):
            binding = bind_request(request, params, self._served_model)
        else:
            binding = await asyncio.to_thread(bind_request, request, params, self._served_model)
        messages, params = shown(binding.plan, messages, params)
        conversation, prompt = await super().render_messages_async(messages, params)
        return conversation, settle(request, binding, self.get_tokenizer(), prompt)

    @cached_property
    def _served_model(self) -> vllm_api.ServedModel:
        return vllm_api.served_model(self.model_config, self.get_tokenizer())


def shown(plan: Plan, messages: Sequence[Any], params: Any) -> tuple[list[Any], Any]:
    """The messages and chat parameters a template sees.

    Plain chat stays as it is, unless tools were called in it: what the model wrote then was RAIF.

    Args:
        plan: What the request asks for.
        messages: Its messages.
        params: vLLM's chat parameters.

    Raises:
        VLLMValidationError: A message cannot be shown, such as one with an image.
    """
    has_calls = any(isinstance(message, Mapping) and _is_of_tools(message) for message in messages)
    if plan.is_chat and not has_calls:
        return list(messages), vllm_api.hide_tools(params) if plan.tools else params
    contracts = {tool.name: tool.contract for tool in plan.tools}
    dicts = [message if isinstance(message, dict) else message.model_dump() for message in messages]
    try:
        turns = as_turns(dicts, contracts=contracts, neutralise_tags=not plan.is_chat)
    except RequestError as error:
        raise vllm_api.client_error(str(error), "messages") from error
    if plan.block is not None:
        turns = with_block(turns, plan.block)
    return list(turns), vllm_api.hide_tools(params)


def _is_of_tools(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "tool" or bool(message.get("tool_calls"))
