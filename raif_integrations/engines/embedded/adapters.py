"""LoRA adapters: where they lie, what rank they have, and the ids vLLM tells them apart by."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from raif_integrations.engines.embedded.locations import Location, locate
from raif_integrations.errors import ConfigurationError

ADAPTER_CONFIG: Final = "adapter_config.json"

_ids = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter that requests can name.

    Attributes:
        name: The name a request asks for, as :attr:`~raif_integrations.engines.base.Request.model`.
        location: Its directory, or its repository on the model hub.
    """

    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class LoadableAdapter:
    """An adapter whose files are here.

    Attributes:
        name: The name a request asks for.
        path: Its directory.
        rank: Its highest LoRA rank.
        id: vLLM's number for it; no two adapters of a process share one.
    """

    name: str
    path: Path
    rank: int
    id: int


def parse_adapters(adapters: Mapping[str, str | Path] | Sequence[str | Path]) -> tuple[Adapter, ...]:
    """Reads the ``adapters`` argument: names and places, or places alone, named after their last part.

    Raises:
        ConfigurationError: A name is empty or used twice, or a directory holds no adapter.
    """
    if isinstance(adapters, str | Path):
        raise ConfigurationError(
            f"`adapters` is one path, {str(adapters)!r}.", hint="Pass a mapping of names to paths, or a list."
        )
    pairs: Iterable[tuple[str, str | Path]] = (
        adapters.items()
        if isinstance(adapters, Mapping)
        else ((Path(place).name, place) for place in adapters)
    )
    parsed: dict[str, Adapter] = {}
    for name, place in pairs:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"`adapters` has an adapter without a name (at {str(place)!r}).")
        if name in parsed:
            raise ConfigurationError(
                f"`adapters` has two adapters named {name!r}.", hint="Pass a mapping with a name for each."
            )
        location = locate(place, f"adapters[{name!r}]")
        if location.directory is not None:
            _read_config(name, location.directory)
        parsed[name] = Adapter(name, location)
    return tuple(parsed.values())


def load_adapter(adapter: Adapter, directory: Path) -> LoadableAdapter:
    """Reads an adapter's own configuration and gives it an id.

    Args:
        adapter: The adapter.
        directory: Where its files are on this machine.

    Raises:
        ConfigurationError: The directory holds no adapter.
    """
    config = _read_config(adapter.name, directory)
    ranks = [config["r"], *dict(config.get("rank_pattern") or {}).values()]
    return LoadableAdapter(adapter.name, directory, max(ranks), next(_ids))


def lora_arguments(
    adapters: Sequence[LoadableAdapter], given: Mapping[str, Any], ranks: Sequence[int], *, cpu: bool
) -> dict[str, Any]:
    """Derives the engine arguments the adapters need, where the user did not set them.

    vLLM's CPU build reads "no adapter" as the last of its ``max_loras`` slots: beside requests for an
    adapter, requests for the base model get the adapter in that slot (vLLM pull request 48421). So there
    is one slot more than adapters, and the last one stays empty.

    Args:
        adapters: The adapters.
        given: The user's own engine arguments.
        ranks: The values vLLM takes for ``max_lora_rank``.
        cpu: The model runs without a GPU.

    Raises:
        ConfigurationError: The user's arguments leave no room for the adapters.
    """
    if not adapters:
        return {}
    if given.get("enable_lora") is False:
        raise ConfigurationError(
            f"`adapters` names {adapters[0].name!r}, but `engine_args` has enable_lora=False.",
            hint="Remove one of the two.",
        )
    limit = given.get("max_lora_rank")
    for adapter in adapters:
        if limit is not None and adapter.rank > limit:
            raise ConfigurationError(
                f"Adapter {adapter.name!r} has rank {adapter.rank}, "
                f"above max_lora_rank={limit} of `engine_args`.",
                hint=f"Set max_lora_rank to {_room_for(adapter, ranks)}, or leave it out.",
            )
    slots = len(adapters) + 1 if cpu else len(adapters)
    if cpu and given.get("max_loras", slots) < slots:
        warnings.warn(
            f"max_loras={given['max_loras']} of `engine_args`: without a GPU, vLLM then applies an adapter "
            f"to base-model requests that run beside requests for it; {slots} slots keep them apart.",
            stacklevel=2,
        )
    return {
        "enable_lora": True,
        "max_loras": slots,
        "max_lora_rank": max(_room_for(adapter, ranks) for adapter in adapters),
    }


def _room_for(adapter: LoadableAdapter, ranks: Sequence[int]) -> int:
    for rank in sorted(ranks):
        if rank >= adapter.rank:
            return rank
    raise ConfigurationError(
        f"Adapter {adapter.name!r} has rank {adapter.rank}; "
        f"this vLLM takes adapters up to rank {max(ranks)}.",
        hint="Merge the adapter into the model's weights.",
    )


def _read_config(name: str, directory: Path) -> dict[str, Any]:
    path = directory / ADAPTER_CONFIG
    if not path.is_file():
        raise ConfigurationError(
            f"adapters[{name!r}]: {directory} has no {ADAPTER_CONFIG}.",
            hint="Pass the directory of a PEFT LoRA adapter.",
        )
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"adapters[{name!r}]: {path} cannot be read: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("r"), int):
        raise ConfigurationError(
            f"adapters[{name!r}]: {path} has no rank (`r`).", hint="Only LoRA adapters are supported."
        )
    return config
