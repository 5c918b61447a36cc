"""From a request to its binding, and from the binding back into the request. Changes requests in place."""

from __future__ import annotations

import logging
from typing import Any

from raif_integrations.errors import ConfigurationError
from raif_integrations.vllm_plugin import vllm_api
from raif_integrations.vllm_plugin.binding import Binding, Decoding, bind, binding_of
from raif_integrations.vllm_plugin.options import is_trained, prompting
from raif_integrations.vllm_plugin.plan import CHAT, Plan, RefusedFieldError, make_plan
from raif_integrations.vllm_plugin.thinking import CLOSE, Thinking, after_thinking, thinking_of

_LOGGER = logging.getLogger("vllm.raif_integrations")


def bind_request(request: Any, params: Any, model: vllm_api.ServedModel) -> Binding:
    """Decides what a request asks for and keeps that with it.

    A server with the reasoning parser alone cannot decode, so its requests stay as they are.

    Args:
        request: vLLM's request.
        params: Its chat parameters.
        model: The server's own model.

    Raises:
        VLLMValidationError: Tools or schemas cannot be used; the server answers with HTTP 400.
    """
    plan = plan_of(request, model.names) if Decoding.is_on else CHAT
    if vllm_api.continues_message(params):
        plan = _continuing(plan)
    return _bound(request, plan, model)


def bind_rendered(request: Any, tokenizer: Any) -> Binding:
    """Binds a request whose prompt was not rendered here.

    The prompt came ready from the server that prefilled it; or it was rendered for a copy of the request, as
    vLLM's batch endpoint does; or this server renders in another way than by a Hugging Face chat template,
    so that the model has been shown no cue.

    Args:
        request: vLLM's request.
        tokenizer: The model's tokenizer.

    Raises:
        VLLMValidationError: See :func:`bind_request`; or there are tools, and no cue for them.
    """
    is_shown = vllm_api.carries_requests()
    plan = plan_of(request, ()) if is_shown else CHAT
    if getattr(request, "continue_final_message", False):
        plan = _continuing(plan)
    if not is_shown and vllm_api.tools_of(request) and vllm_api.tool_choice_of(request) != "none":
        raise vllm_api.client_error(
            "RAIF tools cannot be shown to the model. Start the server with --reasoning-parser raif too; if "
            "it was, its prompts do not come from a Hugging Face chat template: take the tool parser of its "
            "model in place of raif.",
            "tools",
        )
    return _bound(request, plan, vllm_api.served_model(None, tokenizer))


def _bound(request: Any, plan: Plan, model: vllm_api.ServedModel) -> Binding:
    binding = Binding(plan, endings=model.endings, tool_choice=getattr(request, "tool_choice", None))
    bind(request, binding)
    return binding


def plan_of(request: Any, base_names: tuple[str, ...]) -> Plan:
    """What a request asks for.

    Args:
        request: vLLM's request.
        base_names: Names of the server's own model.

    Raises:
        VLLMValidationError: See :func:`bind_request`.
    """
    if vllm_api.has_own_constraint(request):
        return CHAT
    try:
        return make_plan(
            tools=vllm_api.tools_of(request),
            tool_choice=vllm_api.tool_choice_of(request),
            parallel=getattr(request, "parallel_tool_calls", None) is not False,
            response_format=vllm_api.response_format_of(request),
            trained=is_trained(prompting(), getattr(request, "model", None), base_names),
        )
    except RefusedFieldError as error:
        raise vllm_api.client_error(str(error), error.field) from error
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        _LOGGER.info("A schema cannot be used.", exc_info=True)
        message = f"A schema of this request cannot be used: {type(error).__name__}: {error}"
        raise vllm_api.client_error(message, None) from error


def _continuing(plan: Plan) -> Plan:
    """The plan where the last message is to be continued: vLLM's own JSON guidance goes on with it."""
    if plan.tools and not plan.is_chat:
        error = ConfigurationError(
            "continue_final_message is set beside tools.", hint="Leave it out, or set tool_choice='none'."
        )
        raise vllm_api.client_error(str(error), "continue_final_message")
    return CHAT


def apply(request: Any, binding: Binding, tokenizer: Any) -> None:
    """Changes a request so that vLLM generates under the plan's constraint. A second call changes nothing.

    The end token's text is asked for because nothing else tells a parser that the model ended by itself.
    A token that the client stops at ends a reply just so.

    Args:
        request: vLLM's request.
        binding: Its binding.
        tokenizer: The model's tokenizer.
    """
    plan = binding.plan
    if binding.applied or plan.grammar is None:
        return
    if vllm_api.is_responses(request):
        binding.text = request.text
    vllm_api.set_grammar(request, after_thinking(plan.grammar, binding.thinking))
    if plan.only_data:
        for field in ("stop", "stop_token_ids"):
            if getattr(request, field, None):
                setattr(request, field, [])
    else:
        numbers = getattr(request, "stop_token_ids", None) or ()
        binding.endings += tuple(filter(None, (tokenizer.decode([number]) for number in numbers)))
    stop = getattr(request, "stop", None) or ()
    if not request.include_stop_str_in_output:
        binding.stops = (stop,) if isinstance(stop, str) else tuple(filter(None, stop))
    request.include_stop_str_in_output = True
    request.skip_special_tokens = False
    binding.applied = True


def settle(request: Any, binding: Binding, tokenizer: Any, prompt: Any) -> Any:
    """Notes how the reply to a rendered prompt may begin.

    A client that wants no reasoning (``include_reasoning=false``) has vLLM apply a grammar from the first
    token on. Where the template has opened the reasoning, it is closed again, as templates do it themselves.

    Args:
        request: vLLM's request.
        binding: Its binding.
        tokenizer: The model's tokenizer.
        prompt: vLLM's prompt dict.

    Returns:
        The prompt to generate from.
    """
    binding.thinking = thinking_of(tokenizer, prompt)
    wanted = getattr(request, "include_reasoning", True)
    if (
        wanted
        or binding.thinking is not Thinking.OPEN
        or not (binding.plan.constrains or vllm_api.is_constrained(request))
        or "prompt" not in prompt
    ):
        return prompt
    binding.thinking = Thinking.NONE
    return {**prompt, "prompt": f"{prompt['prompt'].rstrip()}\n\n{CLOSE}\n\n"}


def give_back_text(request: Any) -> None:
    """Gives a request of the Responses API its ``text`` back, which the response repeats.

    vLLM refuses a ``text.format`` beside a grammar, so it is taken away until the sampling parameters are
    made. The next thing vLLM asks the request for are its chat parameters.
    """
    binding = binding_of(request)
    if binding is not None and binding.text is not None:
        request.text, binding.text = binding.text, None
