"""The parts of vLLM the embedded engine touches, for vLLM 0.19 to 0.33.

The only module that imports vLLM. Where versions differ, an attribute is looked for; version numbers
are never compared. Importing this module imports vLLM, which takes seconds: it is done on first use.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from raif_integrations._extras import ExplainMissingExtra
from raif_integrations.engines.speculation import refused_sampling

# vLLM logs to standard output, a page for every engine. Both are read when vLLM is imported.
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")

with ExplainMissingExtra():
    import vllm
from vllm import SamplingParams
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.lora.request import LoRARequest
from vllm.platforms import current_platform
from vllm.renderers import ChatParams
from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams
from vllm.usage.usage_lib import UsageContext
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.exceptions import EngineDeadError

VERSION: Final[str] = vllm.__version__

ENGINE_ARGUMENTS: Final = frozenset(field.name for field in dataclasses.fields(AsyncEngineArgs))
"""Names vLLM's engine takes."""

SAMPLING_PARAMETERS: Final = frozenset(inspect.signature(SamplingParams.from_optional).parameters)
"""Names vLLM's sampling takes."""

DEAD: Final[type[Exception]] = EngineDeadError
"""Raised by every call once vLLM's engine process is gone."""


def _rejections() -> tuple[type[Exception], ...]:
    """What vLLM raises for a request it does not take: ``ValueError``, from 0.32 on a class of its own."""
    from vllm import exceptions

    names = ("VLLMClientError", "VLLMValidationError")
    return (
        ValueError,
        TypeError,
        *(getattr(exceptions, name) for name in names if hasattr(exceptions, name)),
    )


REJECTIONS: Final = _rejections()


def lora_ranks() -> tuple[int, ...]:
    """Values ``max_lora_rank`` may have."""
    from vllm.config import lora

    return get_args(getattr(lora, "MaxLoRARanks", None)) or (8, 16, 32, 64, 128, 256, 320, 512)


def is_cpu() -> bool:
    """The model will run without a GPU."""
    return bool(current_platform.is_cpu())


def spawns() -> bool:
    """VLLM will start its processes with the ``spawn`` method."""
    if is_cpu() or os.environ.get("VLLM_WORKER_MULTIPROC_METHOD") == "spawn":
        return True
    import torch

    return bool(torch.cuda.is_initialized())


def start_engine(
    arguments: Mapping[str, Any], drafts: Mapping[str, Any] | None = None, *, optional: bool = True
) -> Any:
    """Builds the engine; must run on the loop that will use it, and blocks until the model is loaded.

    Args:
        arguments: Arguments of the engine, by name.
        drafts: The ``speculative_config``, if the engine is to draft.
        optional: Without drafts where vLLM does not take the two together, or where it would refuse
            requests with the sampling that the model itself asks for.
    """
    if drafts is not None:
        config = _config_with(arguments, drafts, optional=optional)
        if config is not None:
            return AsyncLLM.from_vllm_config(
                config,
                enable_log_requests=bool(arguments.get("enable_log_requests")),
                disable_log_stats=bool(arguments.get("disable_log_stats")),
            )
    return AsyncLLM.from_engine_args(AsyncEngineArgs(**arguments))


def _config_with(arguments: Mapping[str, Any], drafts: Mapping[str, Any], *, optional: bool) -> Any:
    """VLLM's configuration with drafts; ``None`` where they are optional and get in the way."""
    try:
        engine_args = AsyncEngineArgs(**{**arguments, "speculative_config": dict(drafts)})
        config = engine_args.create_engine_config(UsageContext.ENGINE_CONTEXT)
    except (NotImplementedError, ValueError):
        if optional:  # Whatever else is wrong with the arguments shows without drafts, too.
            return None
        raise
    if optional and refused_sampling(config.model_config.get_diff_sampling_param()):
        return None
    return config


def drafts(engine: Any) -> bool:
    """Whether an engine drafts tokens, in whatever way."""
    return getattr(engine.vllm_config, "speculative_config", None) is not None


def sampling_params(parameters: Mapping[str, Any], *, streamed: bool) -> Any:
    """Builds vLLM's sampling parameters; a stream gets the pieces, everything else the finished reply."""
    kind = RequestOutputKind.DELTA if streamed else RequestOutputKind.FINAL_ONLY
    return SamplingParams.from_optional(**parameters, output_kind=kind)


def structured_outputs(**constraint: Any) -> Any:
    """Builds vLLM's parameters of a constrained reply: ``grammar=`` or ``json=``."""
    return StructuredOutputsParams(**constraint)


def lora_request(name: str, number: int, path: str) -> Any:
    """Builds the reference to an adapter that goes with a request."""
    return LoRARequest(lora_name=name, lora_int_id=number, lora_path=path)


async def render_messages(
    engine: Any, messages: Sequence[Mapping[str, Any]], template: str | None, kwargs: Mapping[str, Any]
) -> Any:
    """Applies the chat template and the tokenizer, on vLLM's own rendering threads.

    Returns:
        vLLM's engine input; :func:`prompt_length` tells how long it is. It may be longer than the
        model's context.
    """
    params = ChatParams(
        chat_template=template,
        chat_template_kwargs={"add_generation_prompt": True, **kwargs},
    )
    _, (prompt,) = await engine.renderer.render_chat_async(
        [list(messages)], params, *_without_limit(engine.renderer, "default_chat_tok_params")
    )
    return prompt


async def render_text(engine: Any, text: str) -> Any:
    """Tokenizes a bare text, without special tokens, on vLLM's own rendering threads."""
    (params,) = _without_limit(engine.renderer, "default_cmpl_tok_params") or (None,)
    if params is not None:
        params = dataclasses.replace(params, add_special_tokens=False)
    (prompt,) = await engine.renderer.render_cmpl_async([{"prompt": text}], params)
    return prompt


def _without_limit(renderer: Any, name: str) -> tuple[Any, ...]:
    """The renderer's settings without its limit, whose error would not say how long the prompt is."""
    params = getattr(renderer, name, None)
    return () if params is None else (dataclasses.replace(params, max_total_tokens=None),)


def prompt_length(prompt: Mapping[str, Any]) -> int:
    """Tokens of a rendered prompt."""
    return len(prompt["prompt_token_ids"])


def served_names(engine: Any) -> tuple[str, ...]:
    """Names the base model answers to, the first being its own."""
    names = engine.model_config.served_model_name
    return (names,) if isinstance(names, str) else tuple(names)


def unfinished_requests(engine: Any) -> int:
    """Requests the engine is still working on."""
    return int(engine.output_processor.get_num_unfinished_requests())
