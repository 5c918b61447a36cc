"""Where a model or an adapter lies: a directory of this machine, or a repository of the model hub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from raif_integrations.errors import ConfigurationError

_HUB_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_OTHER_FORMATS: Final = ("hf_config_path", "config_format", "load_format")


@dataclass(frozen=True, slots=True)
class Location:
    """A place to load from.

    Attributes:
        text: What vLLM is given: the directory's absolute path, or the repository's id.
        directory: The directory, or ``None`` for a repository of the hub.
    """

    text: str
    directory: Path | None = None


def locate(place: str | Path, argument: str) -> Location:
    """Tells directories from repository ids.

    Args:
        place: What the user passed.
        argument: The argument it was passed as, for the error.

    Raises:
        ConfigurationError: It is empty, or a path where nothing lies.
    """
    if not isinstance(place, str | Path) or not str(place).strip():
        raise ConfigurationError(
            f"`{argument}` is empty.", hint="Pass a directory or the id of a repository on the model hub."
        )
    path = Path(place).expanduser()
    if path.exists():
        return Location(str(path.resolve()), path.resolve())
    if isinstance(place, Path) or not _HUB_ID.fullmatch(place):
        raise ConfigurationError(
            f"`{argument}` is {str(place)!r}, and nothing is there.",
            hint="Pass an existing directory or the id of a repository on the model hub.",
        )
    return Location(place)


def locate_model(model: str | Path | None, engine_args: Mapping[str, Any]) -> Location:
    """Finds the model, and makes sure that a directory holds one.

    Raises:
        ConfigurationError: No model was named, nothing is there, or the directory has no ``config.json``.
    """
    if model is None:
        raise ConfigurationError(
            "No `model` was given.", hint="Pass a directory or the id of a repository on the model hub."
        )
    location = locate(model, "model")
    directory = location.directory
    if directory is None or directory.is_file() or not engine_args.keys().isdisjoint(_OTHER_FORMATS):
        return location
    if (directory / "adapter_config.json").is_file() and not (directory / "config.json").is_file():
        raise ConfigurationError(
            f"`model` is {directory}, which holds a LoRA adapter.",
            hint="Pass its base model as `model` and this directory in `adapters`.",
        )
    if not any((directory / name).is_file() for name in ("config.json", "params.json")):
        raise ConfigurationError(
            f"`model` is {directory}, which has no config.json.",
            hint="Pass the directory of a model in Hugging Face's format.",
        )
    return location
