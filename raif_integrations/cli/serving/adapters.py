"""The flags that LoRA adapters need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from raif_integrations.cli.serving.flags import Flags, VllmFlags
from raif_integrations.cli.serving.model_files import ModelFiles
from raif_integrations.engines.embedded.adapters import (
    ADAPTER_CONFIG,
    Adapter,
    load_adapter,
    lora_arguments,
    parse_adapters,
)
from raif_integrations.errors import ConfigurationError

# Those that every vLLM from 0.19 on takes for --max-lora-rank.
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)


def adapters_to_serve(given: Sequence[str]) -> tuple[Adapter, ...]:
    """Reads the values of ``--adapter``.

    Args:
        given: ``NAME=PLACE``, or a place alone, which is named after its last part. A place is a folder or
            a repository of the model hub.

    Raises:
        ConfigurationError: A name is empty or used twice, or a folder holds no adapter.
    """
    places: dict[str, str] = {}
    for value in given:
        name, equals, place = value.partition("=")
        if not equals or Path(value).exists():
            name, place = Path(value).name, value
        if name in places:
            raise ConfigurationError(
                f"--adapter gives the name {name!r} twice.", hint="Give NAME=PATH with different names."
            )
        places[name] = place
    return parse_adapters(places)


def adapter_flags(adapters: Sequence[Adapter], given: VllmFlags, *, cpu: bool) -> Flags:
    """The flags with which vLLM serves the adapters; those the user gave are left to the user.

    Args:
        adapters: What to serve.
        given: The user's own flags.
        cpu: The model runs without a GPU.

    Raises:
        ConfigurationError: ``--lora-modules`` is given too, or an adapter's rank is not known.
    """
    if not adapters:
        return {}
    if "lora-modules" in given:
        raise ConfigurationError(
            "Both --adapter and --lora-modules are given, and vLLM would serve only one of them.",
            hint="Give all adapters with --adapter.",
        )
    loadable = [load_adapter(adapter, _config_folder(adapter)) for adapter in adapters]
    derived = lora_arguments(loadable, {}, _RANKS, cpu=cpu)
    return {
        "enable-lora": None,
        "max-lora-rank": str(derived["max_lora_rank"]),
        "max-loras": str(derived["max_loras"]),
        "lora-modules": [f"{adapter.name}={adapter.location.text}" for adapter in adapters],
    }


def _config_folder(adapter: Adapter) -> Path:
    if adapter.location.directory is not None:
        return adapter.location.directory
    config = ModelFiles(adapter.location.text).find(ADAPTER_CONFIG)
    if config is None:
        raise ConfigurationError(
            f"The {ADAPTER_CONFIG} of the adapter {adapter.location.text!r}, which tells its rank, cannot be "
            "fetched from the model hub.",
            hint="Check the name, the network and HF_TOKEN, or download it and give the folder.",
        )
    return config.parent
