"""vLLM's own way from a request to a prompt and sampling parameters, without an engine behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vllm.engine.arg_utils import EngineArgs
from vllm.exceptions import VLLMValidationError
from vllm.renderers import renderer_from_config
from vllm.renderers.online_renderer import OnlineRenderer

from raif_integrations.vllm_plugin import register
from raif_integrations.vllm_plugin.flags import PARSER_NAME
from raif_integrations.vllm_plugin.renderer import RaifRenderer
from tests.vllm_plugin.chat_requests import NOW, PERSON, TIME, TREE, WEATHER, chat, responses, tool


@pytest.fixture(scope="module")
def rendering(model_path: Path) -> Iterator[OnlineRenderer]:
    """What a server with the plugin's flags renders with."""
    register()
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
    from vllm.entrypoints.serve.tokenize.protocol import TokenizeChatRequest

    with pytest.MonkeyPatch.context() as patch:
        for wrapped in (ChatCompletionRequest, ResponsesRequest, TokenizeChatRequest):
            patch.setattr(wrapped, "build_chat_params", wrapped.build_chat_params)
        arguments = EngineArgs(
            model=str(model_path),
            served_model_name=["smollm2"],
            max_model_len=2048,
            enforce_eager=True,
            reasoning_parser=PARSER_NAME,
        )
        config = arguments.create_engine_config()
        yield OnlineRenderer(
            config.model_config,
            renderer_from_config(config),
            request_logger=None,
            chat_template=None,
            chat_template_content_format="auto",
            enable_auto_tools=True,
            tool_parser=PARSER_NAME,
            reasoning_parser=PARSER_NAME,
        )


async def prompt_of(rendering: OnlineRenderer, request: Any) -> str:
    """The prompt of a chat request as text."""
    _, (rendered,) = await rendering.render_chat(request)
    return str(rendering.renderer.tokenizer.decode(rendered["prompt_token_ids"]))


def test_the_server_gets_the_plugins_renderer(rendering: OnlineRenderer) -> None:
    assert isinstance(rendering.renderer, RaifRenderer)


async def test_a_schema_is_shown_and_its_grammar_set(rendering: OnlineRenderer) -> None:
    request = chat(response_format=PERSON)
    prompt = await prompt_of(rendering, request)
    assert "Hello?\n\n<schema>\nage:n\nname:s\n</schema><|im_end|>" in prompt
    assert request.to_sampling_params(9, {}).structured_outputs.grammar


async def test_tools_are_shown_in_the_turn_and_not_by_the_template(rendering: OnlineRenderer) -> None:
    trained = await prompt_of(rendering, chat(tools=[WEATHER, TIME]))
    assert "<tools>\nget_weather — Calls get_weather. (city:s)\n" in trained
    untrained = await prompt_of(rendering, chat(tools=[WEATHER, TIME], model="smollm2"))
    assert "`key=value`" in untrained
    for prompt in (trained, untrained):
        assert '"parameters"' not in prompt
        assert prompt.count("<|im_start|>user") == 1


async def test_plain_chat_is_what_the_template_makes_of_it(rendering: OnlineRenderer) -> None:
    request = chat()
    prompt = await prompt_of(rendering, request)
    assert prompt == rendering.renderer.tokenizer.apply_chat_template(
        request.messages, add_generation_prompt=True, tokenize=False
    )
    assert request.to_sampling_params(9, {}).structured_outputs is None


async def test_a_response_is_rendered_and_repeats_its_text(rendering: OnlineRenderer) -> None:
    described = {"format": {"type": "json_schema", **PERSON["json_schema"]}}
    request = responses(text=described)
    rendered = await rendering.render_responses(request)
    prompt = rendering.renderer.tokenizer.decode(rendered.engine_input["prompt_token_ids"])
    assert "<schema>\nage:n\nname:s\n</schema>" in prompt
    assert request.to_sampling_params(9, {}).structured_outputs.grammar
    rendering.effective_chat_template_kwargs(request)
    assert request.text.format.type == "json_schema"


async def test_a_schema_only_json_can_carry_is_shown_as_it_is(rendering: OnlineRenderer) -> None:
    schema = TREE["function"]["parameters"]
    request = chat(response_format={"type": "json_schema", "json_schema": {"name": "t", "schema": schema}})
    assert '"$ref":"#"' in await prompt_of(rendering, request)
    assert "root ::=" in request.to_sampling_params(9, {}).structured_outputs.grammar


async def test_what_cannot_be_used_is_refused_before_anything_is_generated(rendering: OnlineRenderer) -> None:
    with pytest.raises(VLLMValidationError) as caught:
        await rendering.render_chat(chat(tools=[tool("x", a={"type": "strin"}), NOW]))
    assert caught.value.parameter == "tools"
