"""The arguments vLLM's engine is started with: the user's own, completed by our defaults."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Mapping
from typing import Any, Final

from raif_integrations.errors import ConfigurationError, RaifIntegrationsError

_OWN_ARGUMENTS: Final = {"model": "model", "tokenizer": "tokenizer", "lora_modules": "adapters"}

_CPU_KV_CACHE_BYTES: Final = 2 * 1024**3
_AUTO_CONTEXT: Final = -1
_CPU_MEMORY_ARGUMENTS: Final = ("kv_cache_memory_bytes", "gpu_memory_utilization", "num_gpu_blocks_override")


def check_engine_args(engine_args: Mapping[str, Any]) -> None:
    """Refuses engine arguments that are arguments of the embedded engine itself.

    Raises:
        ConfigurationError: There is one, or a name is not a string.
    """
    for name in engine_args:
        if not isinstance(name, str):
            raise ConfigurationError(f"`engine_args` has the name {name!r}, which is not a string.")
        if name in _OWN_ARGUMENTS:
            raise ConfigurationError(
                f"`engine_args` has {name!r}.", hint=f"Pass it as `{_OWN_ARGUMENTS[name]}` instead."
            )


def check_names(
    given: Collection[str],
    known: Collection[str],
    where: str,
    error: type[RaifIntegrationsError] = ConfigurationError,
) -> None:
    """Refuses unknown names and says which known ones come close.

    Args:
        given: Names the user wrote.
        known: Names that exist.
        where: Whose names they are, as the error begins.
        error: What to raise.

    Raises:
        RaifIntegrationsError: A name is unknown; its class is ``error``.
    """
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
            raise error(
                f"{where} has no {name!r}.",
                hint=f"Did you mean {' or '.join(map(repr, close))}?" if close else None,
            )


def complete(
    given: Mapping[str, Any], derived: Mapping[str, Any], *, known: Collection[str], cpu: bool
) -> dict[str, Any]:
    """Puts the user's engine arguments, what follows from other settings, and our defaults together.

    Args:
        given: The user's own arguments; they win.
        derived: Arguments that follow from the model, the tokenizer and the adapters.
        known: Names this vLLM takes.
        cpu: The model runs without a GPU.

    Raises:
        ConfigurationError: A name of ``given`` is unknown to this vLLM.
    """
    check_names(given, known, "vLLM's engine (`engine_args`)")
    defaults = {
        # A grammar sent to another backend than the first one latched can end the engine (vLLM 0.19).
        "structured_outputs_config": structured_outputs(given.get("structured_outputs_config")),
        # Statistics are logged by vLLM's server only; without one they just cost time.
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        **(cpu_defaults(given) if cpu else {}),
    }
    completed = (
        {name: value for name, value in defaults.items() if name in known} | dict(derived) | dict(given)
    )
    if isinstance(given.get("structured_outputs_config"), Mapping):
        completed["structured_outputs_config"] = defaults["structured_outputs_config"]
    return completed


def structured_outputs(given: Any) -> dict[str, Any]:
    """XGrammar, and JSON on one line: models lose themselves in free whitespace (vLLM issue 38696).

    Args:
        given: The user's own ``structured_outputs_config``; what it sets stays.
    """
    own = {"backend": "xgrammar", "disable_any_whitespace": True}
    if not isinstance(given, Mapping):
        return own
    if given.get("backend", "xgrammar") not in ("xgrammar", "guidance"):
        del own["disable_any_whitespace"]
    return own | dict(given)


def cpu_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without a GPU: no compilation, which takes minutes, and a cache that leaves memory to others.

    Args:
        given: The user's own arguments; a memory setting among them is not touched.
    """
    defaults: dict[str, Any] = {"enforce_eager": True}
    if not os.environ.get("VLLM_CPU_KVCACHE_SPACE") and not any(
        name in given for name in _CPU_MEMORY_ARGUMENTS
    ):
        defaults["kv_cache_memory_bytes"] = _CPU_KV_CACHE_BYTES
        # vLLM shortens the context to what the cache holds, where it would otherwise not start.
        defaults["max_model_len"] = _AUTO_CONTEXT
    return defaults
