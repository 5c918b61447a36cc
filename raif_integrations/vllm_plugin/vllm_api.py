"""Everything the plugin takes from vLLM, in one place: what moves between releases is looked for here.

Attributes are probed, never version numbers. Written against 0.32, with the seams that 0.29 to 0.33 have.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from operator import attrgetter
from typing import Any

_PROTOCOL = "vllm.entrypoints.generate.base.protocol"
_CHAT = "vllm.entrypoints.openai.chat_completion.protocol"
_RESPONSES = "vllm.entrypoints.openai.responses.protocol"
_TOKENIZE = "vllm.entrypoints.serve.tokenize.protocol"

_SEAMS = {
    "vllm.tool_parsers": (
        "ToolParserManager.register_lazy_module",
        "ToolParser.engine_based_streaming",
        "ToolParser.supports_required_and_named",
    ),
    "vllm.reasoning": (
        "ReasoningParserManager.register_lazy_module",
        "ReasoningParser.engine_based_streaming",
    ),
    "vllm.renderers": ("ChatParams.response_format",),
    "vllm.renderers.hf": ("HfRenderer.render_messages_async",),
    "vllm.renderers.registry": ("RENDERER_REGISTRY.renderers",),
    "vllm.exceptions": ("VLLMValidationError",),
    "vllm.sampling_params": ("StructuredOutputsParams",),
    _PROTOCOL: ("DeltaMessage", "DeltaToolCall", "ExtractedToolCallInformation"),
}

_HF = "hf"
"""The renderer of all models whose prompt comes from a Hugging Face chat template."""


def missing_seams() -> list[str]:
    """Names of the parts of vLLM the plugin needs and does not find."""
    missing = []
    for module, names in _SEAMS.items():
        try:
            found = import_module(module)
        except ImportError:
            missing.append(module)
        else:
            missing += [f"{module}.{name}" for name in names if not _has(found, name)]
    return missing


def _has(thing: Any, name: str) -> bool:
    """Whether a thing has an attribute; dots lead to attributes of attributes."""
    try:
        attrgetter(name)(thing)
    except AttributeError:
        return False
    return True


def register_parsers(name: str, *, tool_parser: tuple[str, str], reasoning_parser: tuple[str, str]) -> None:
    """Makes the parsers known by name; they are imported when a server asks for them.

    Args:
        name: Name of both.
        tool_parser: Module and class.
        reasoning_parser: Module and class.
    """
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    ToolParserManager.register_lazy_module(name, *tool_parser)
    ReasoningParserManager.register_lazy_module(name, *reasoning_parser)


def register_renderer(module: str, maker: str) -> None:
    """Has vLLM ask ``maker`` for the renderer of models with a Hugging Face chat template.

    The maker returns vLLM's own renderer on servers that were not started with RAIF. A tokenizer mode of our
    own would be the other way, but much of vLLM treats the modes it knows by name. ``register`` of the
    registry does the same and warns of it on every start, RAIF or not.
    """
    from vllm.renderers.registry import RENDERER_REGISTRY

    RENDERER_REGISTRY.renderers[_HF] = (module, maker)


def reasoning_parser_of(config: Any) -> str:
    """The reasoning parser a server was started with; empty if none."""
    settings = getattr(config, "structured_outputs_config", None)
    return str(getattr(settings, "reasoning_parser", "") or "")


# Requests


@dataclass(frozen=True, slots=True)
class Carried:
    """A response format, and the request it belongs to."""

    response_format: Any
    request: Any


def carry_requests() -> None:
    """Has each request travel with its chat parameters, so that the renderer sees all of it.

    The one place where a method of vLLM is wrapped. ``ChatParams`` has a request's tools, tool choice and
    response format, but not the name of its model (a trained adapter needs another prompt than its base
    model), ``parallel_tool_calls``, ``structured_outputs``, or the ``text`` of the Responses API. Its
    ``response_format`` is data for renderers; only this package's renderer gets to see what is put there.
    """
    for request_class in _request_classes():
        original = request_class.build_chat_params
        if not hasattr(original, "__raif__"):
            request_class.build_chat_params = _carrying(original)


def carries_requests() -> bool:
    """Whether :func:`carry_requests` was called, which this package's renderer does."""
    return all(hasattr(one.build_chat_params, "__raif__") for one in _request_classes())


def _request_classes() -> list[Any]:
    found = []
    for module, name in (
        (_CHAT, "ChatCompletionRequest"),
        (_RESPONSES, "ResponsesRequest"),
        (_TOKENIZE, "TokenizeChatRequest"),
    ):
        with suppress(ImportError, AttributeError):
            found.append(getattr(import_module(module), name))
    return found


def _carrying(original: Any) -> Any:
    @functools.wraps(original)
    def build_chat_params(request: Any, *args: Any, **kwargs: Any) -> Any:
        from raif_integrations.vllm_plugin.adjusting import give_back_text

        give_back_text(request)
        params = original(request, *args, **kwargs)
        return replace(params, response_format=Carried(params.response_format, request))

    build_chat_params.__raif__ = True  # type: ignore[attr-defined]
    return build_chat_params


def take_request(params: Any) -> tuple[Any, Any]:
    """The request that travels with chat parameters (or ``None``), and the parameters as vLLM made them."""
    carried = params.response_format
    if not isinstance(carried, Carried):
        return None, params
    return carried.request, replace(params, response_format=carried.response_format)


def hide_tools(params: Any) -> Any:
    """Chat parameters under which a chat template sees no tools."""
    return replace(params, chat_template_kwargs={**params.chat_template_kwargs, "tools": None})


def continues_message(params: Any) -> bool:
    """Whether chat parameters ask for the continuation of the last message."""
    return bool(params.chat_template_kwargs.get("continue_final_message"))


def has_own_constraint(request: Any) -> bool:
    """Whether the client constrains the reply itself."""
    if getattr(request, "structured_outputs", None) is not None:
        return True
    kind = (response_format_of(request) or {}).get("type")
    return kind not in (None, "text", "json_object", "json_schema")


def tools_of(request: Any) -> list[dict[str, Any]]:
    """The function tools of a request in the form of chat completions."""
    tools = getattr(request, "tools", None) or []
    if not is_responses(request):
        return [
            dict(tool) if isinstance(tool, Mapping) else tool.model_dump(exclude_none=True) for tool in tools
        ]
    from vllm.entrypoints.openai.responses.utils import construct_tool_dicts

    return construct_tool_dicts(tools, request.tool_choice) or []


def tool_choice_of(request: Any) -> Any:
    """The tool choice of a request: a word, OpenAI's dict, or ``None``."""
    choice = getattr(request, "tool_choice", None)
    dump = getattr(choice, "model_dump", None)
    return dump() if dump is not None else choice


def response_format_of(request: Any) -> dict[str, Any] | None:
    """The response format of a request in the form of chat completions, or ``None``."""
    if not is_responses(request):
        given = getattr(request, "response_format", None)
        if given is None or isinstance(given, Mapping):  # an extra field of /tokenize
            return given if given is None else dict(given)
        return dict(given.model_dump(by_alias=True, exclude_none=True))
    text = request.text.format if request.text is not None else None
    if text is None:
        return None
    described = text.model_dump(by_alias=True, exclude_none=True)
    kind = described.pop("type")
    return {"type": kind, "json_schema": described} if kind == "json_schema" else {"type": kind}


def is_responses(request: Any) -> bool:
    """Whether a request belongs to the Responses API."""
    # Not hasattr: vLLM's requests take extra fields of any name.
    return "max_output_tokens" in type(request).model_fields


def is_plain(request: Any) -> bool:
    """Whether a request brings neither tools nor a response format."""
    return not getattr(request, "tools", None) and response_format_of(request) is None


def is_constrained(request: Any) -> bool:
    """Whether anything constrains the reply."""
    kind = (response_format_of(request) or {}).get("type")
    return getattr(request, "structured_outputs", None) is not None or kind not in (None, "text")


def set_grammar(request: Any, grammar: str) -> None:
    """Puts a grammar in the place of the request's own response format."""
    from vllm.sampling_params import StructuredOutputsParams

    if is_responses(request):
        request.text = None
    else:
        request.response_format = None
    request.structured_outputs = StructuredOutputsParams(grammar=grammar)


def report_length(request: Any, tool_choice: Any, *, cut_off: bool) -> None:
    """Has a whole reply with calls that was cut off end with the finish reason ``length``.

    vLLM before 0.33 reports every reply with calls as ``tool_calls`` if the tool choice is ``auto``, and only
    those that the model ended itself if it is ``required`` (issue 53269). The tool choice is given back
    with the next reply of the same request.

    Args:
        request: vLLM's request.
        tool_choice: Its own tool choice.
        cut_off: There are calls, and the reply was cut off behind them.
    """
    if not is_responses(request):
        request.tool_choice = "required" if cut_off and tool_choice in (None, "auto") else tool_choice


def client_error(message: str, parameter: str | None) -> Exception:
    """An error that vLLM answers with HTTP 400."""
    from vllm.exceptions import VLLMValidationError

    error: Exception = VLLMValidationError(message, parameter=parameter)
    return error


# Models


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What the plugin needs to know of a server's own model.

    Attributes:
        names: Names under which it is known, its path included.
        endings: Texts of the tokens with which it ends a reply itself.
    """

    names: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


def served_model(model_config: Any, tokenizer: Any) -> ServedModel:
    """Looks at a model once, before requests come: tokenizers are not safe for use in several threads.

    Args:
        model_config: The model's configuration, with its generation defaults; ``None`` where it is unknown.
        tokenizer: The model's tokenizer.
    """
    names: list[str] = []
    defaults: Mapping[str, Any] = {}
    if model_config is not None:
        served = getattr(model_config, "served_model_name", None) or ()
        names = [*([served] if isinstance(served, str) else served), str(model_config.model)]
        defaults = model_config.try_get_generation_config() or {}
    numbers = [getattr(tokenizer, "eos_token_id", None)]
    for found in (defaults.get("eos_token_id"), defaults.get("stop_token_ids")):
        numbers += found if isinstance(found, list) else [found]
    texts = [tokenizer.decode([number]) for number in dict.fromkeys(numbers) if isinstance(number, int)]
    return ServedModel(tuple(names), tuple(text for text in dict.fromkeys(texts) if text))
