"""A started vLLM engine, seen from the event loop it belongs to."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from raif_integrations.engines.base import Completion, Delta, Message, ModelInfo, Request
from raif_integrations.engines.embedded import vllm_api
from raif_integrations.engines.embedded.adapters import Adapter, LoadableAdapter, load_adapter, lora_arguments
from raif_integrations.engines.embedded.arguments import complete
from raif_integrations.engines.embedded.failures import translated, translated_rendering, translated_start
from raif_integrations.engines.embedded.results import read
from raif_integrations.engines.embedded.sampling import (
    constraint_arguments,
    limit_tokens,
    sampling_parameters,
)
from raif_integrations.engines.embedded.settings import EmbeddedSettings
from raif_integrations.engines.embedded.spawn import check_main_script
from raif_integrations.engines.speculation import refused_sampling, speculative_config
from raif_integrations.errors import ConfigurationError, ModelNotFoundError, RequestError

# vLLM kills its processes after 5 seconds by default, just before they have tidied up.
_SHUTDOWN_SECONDS: Final = 30.0


def load(settings: EmbeddedSettings) -> LoadedEngine:
    """Starts vLLM; blocks until the model is loaded. Must run on the loop that will use the engine.

    Raises:
        ConfigurationError: The settings contradict the adapters, this vLLM, or each other.
        EngineError: vLLM could not start.
    """
    if vllm_api.spawns():
        check_main_script()
    with translated_start(settings.model.text):
        adapters = [load_adapter(adapter, _directory(adapter)) for adapter in settings.adapters]
        derived: dict[str, Any] = {"model": settings.model.text}
        if settings.tokenizer is not None:
            derived["tokenizer"] = settings.tokenizer
        cpu = vllm_api.is_cpu()
        derived |= lora_arguments(adapters, settings.engine_args, vllm_api.lora_ranks(), cpu=cpu)
        arguments = complete(settings.engine_args, derived, known=vllm_api.ENGINE_ARGUMENTS, cpu=cpu)
        drafts = speculative_config(settings.speculation, engine_args=arguments, cpu=cpu)
        engine = vllm_api.start_engine(arguments, drafts, optional=settings.speculation == "auto")
        return LoadedEngine(engine, settings, adapters)


def _directory(adapter: Adapter) -> Path:
    if adapter.location.directory is not None:
        return adapter.location.directory
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(adapter.location.text))


class LoadedEngine:
    """Generates on a started vLLM engine.

    Every coroutine must run on the loop the engine was started on.

    Args:
        engine: vLLM's ``AsyncLLM``.
        settings: What it was started with.
        adapters: The adapters requests can name.
    """

    def __init__(self, engine: Any, settings: EmbeddedSettings, adapters: Sequence[LoadableAdapter]) -> None:
        self._engine = engine
        self._settings = settings
        self._defaults: dict[str, Any] = engine.model_config.get_diff_sampling_param()
        self._drafts = vllm_api.drafts(engine)
        self._base_names = {*vllm_api.served_names(engine), settings.model.text}
        self._adapters = {
            adapter.name: vllm_api.lora_request(adapter.name, adapter.id, str(adapter.path))
            for adapter in adapters
        }
        self.info = ModelInfo(
            name=vllm_api.served_names(engine)[0],
            max_model_len=engine.model_config.max_model_len,
            adapters=tuple(self._adapters),
            version=vllm_api.VERSION,
        )

    @property
    def dead(self) -> bool:
        """The engine's process is gone; may be asked from any thread."""
        engine = self._engine
        return engine is None or bool(engine.errored)

    @property
    def unfinished_requests(self) -> int:
        """Requests the engine is still working on; may be asked from any thread."""
        engine = self._engine
        return 0 if engine is None else vllm_api.unfinished_requests(engine)

    async def deltas(self, request: Request, *, streamed: bool = True) -> AsyncGenerator[Delta, None]:
        """Generates one reply piece by piece, or in one piece if it is not ``streamed``.

        Closing the generator, or cancelling the task that waits for it, aborts the request.

        Raises:
            ConfigurationError: The request leaves decoding to a server.
            EngineError: See its subclasses.
        """
        if request.server_decoding is not None:
            raise ConfigurationError(
                "wire='server' leaves decoding to a vLLM server, but vLLM runs in this process.",
                hint="Leave wire out: replies are decoded here. Or give base_url of a server that decodes.",
            )
        timeout = request.timeout if request.timeout is not None else self._settings.timeout
        deadline = None if timeout is None else asyncio.get_running_loop().time() + timeout
        with translated(timeout):
            name, adapter = self._resolve(request.model)
            request_id = f"raif-{uuid.uuid4().hex}"
            async with asyncio.timeout_at(deadline):
                prompt = await self._render(request.messages, request.chat_template_kwargs)
            parameters = self._parameters(request, vllm_api.prompt_length(prompt), streamed=streamed)
            outputs = self._engine.generate(prompt, parameters, request_id, lora_request=adapter)
            completion_tokens = 0
            async with aclosing(outputs):
                while True:
                    # The time a consumer takes between two pieces is not the engine's.
                    async with asyncio.timeout_at(deadline):
                        output = await anext(outputs, None)
                    if output is None:
                        return
                    completion_tokens += sum(len(part.token_ids) for part in output.outputs)
                    yield read(output, name, request_id, completion_tokens)

    async def complete(self, request: Request) -> Completion:
        """Generates one reply.

        Raises:
            EngineError: See its subclasses.
        """
        async with aclosing(self.deltas(request, streamed=False)) as deltas:
            async for delta in deltas:
                if delta.finish_reason is not None and delta.usage is not None:
                    return Completion(
                        delta.text, delta.finish_reason, delta.usage, delta.model, delta.request_id
                    )
        raise RequestError("vLLM ended the request without a reply.")

    async def complete_all(self, requests: Sequence[Request]) -> list[Completion]:
        """Generates replies side by side; the first failure aborts the others.

        Raises:
            EngineError: The first failure.
        """
        tasks = [asyncio.create_task(self.complete(request)) for request in requests]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def count_tokens(self, messages: Sequence[Message] | str) -> int:
        """Counts the tokens of a rendered prompt (messages) or of a bare text (string)."""
        with translated(None):
            if isinstance(messages, str):
                return vllm_api.prompt_length(await vllm_api.render_text(self._engine, messages))
            return vllm_api.prompt_length(await self._render(messages, {}))

    def shut_down(self) -> None:
        """Ends the engine's processes; takes a few seconds."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.shutdown(timeout=_SHUTDOWN_SECONDS)

    async def _render(self, messages: Sequence[Message], kwargs: Mapping[str, Any]) -> Any:
        if not messages:
            raise RequestError("`messages` is empty.", hint="Pass at least one message.")
        with translated_rendering():
            return await vllm_api.render_messages(
                self._engine, messages, self._settings.chat_template, kwargs
            )

    def _resolve(self, model: str | None) -> tuple[str, Any]:
        if model is None or model in self._base_names:
            return self.info.name, None
        if model in self._adapters:
            return model, self._adapters[model]
        known = ", ".join(map(repr, (self.info.name, *self._adapters)))
        raise ModelNotFoundError(
            f"The engine has neither a model nor an adapter named {model!r}.", hint=f"It has {known}."
        )

    def _parameters(self, request: Request, prompt_tokens: int, *, streamed: bool) -> Any:
        sampling = request.sampling
        parameters = sampling_parameters(sampling, self._defaults, known=vllm_api.SAMPLING_PARAMETERS)
        if self._drafts and refused_sampling(parameters):
            raise RequestError(
                "vLLM takes neither min_p nor logit_bias where it drafts tokens.",
                hint="Make the engine with speculation='off' and without a speculative_config.",
            )
        limit_tokens(
            parameters,
            asked=sampling.max_tokens,
            prompt_tokens=prompt_tokens,
            max_model_len=self._engine.model_config.max_model_len,
        )
        if request.constraint is not None:
            parameters["structured_outputs"] = vllm_api.structured_outputs(
                **constraint_arguments(request.constraint)
            )
        return vllm_api.sampling_params(parameters, streamed=streamed)
