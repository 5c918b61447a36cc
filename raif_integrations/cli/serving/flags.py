"""The vLLM flags a user gave: on the command line, and in the file named by ``--config``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from raif_integrations.errors import ConfigurationError

Flags: TypeAlias = dict[str, str | list[str] | None]
"""Values by flag; ``None`` for a flag without value."""

_SHORT = {"-sc": "speculative-config", "-cc": "compilation-config"}
_NUMBER = re.compile(r"-\d")
_SECRETS = ("api-key", "hf-token", "ssl-keyfile-password")


class VllmFlags:
    """Flags by name, however vLLM allows them to be written.

    ``--max_model_len 9``, ``--max-model-len=9`` and ``max-model-len: 9`` in the configuration file are the
    same flag; ``--kv-transfer-config.role x`` gives ``kv-transfer-config``, ``--no-enable-lora`` gives
    ``enable-lora``. On the command line a flag wins over the file, and a later one over an earlier one.

    Args:
        arguments: The user's arguments for vLLM, without the model.

    Raises:
        ConfigurationError: The file of ``--config`` cannot be read.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._values: dict[str, list[str]] = {}
        self._negated: set[str] = set()
        self._read(arguments)
        if file := self.value("config"):
            self._values = _read_config(Path(file)) | self._values

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def value(self, name: str) -> str | None:
        """The first value of a flag; ``None`` if it is not given, empty for a flag without value."""
        values = self._values.get(name)
        if values is None:
            return None
        return values[0] if values else ""

    def as_flags(self) -> Flags:
        """All of them."""
        return {
            name: values if len(values) > 1 else (values[0] if values else None)
            for name, values in self._values.items()
        }

    def as_engine_args(self) -> dict[str, Any]:
        """The flags under the names of vLLM's engine arguments, with values of their kind where it shows."""
        return {name.replace("-", "_"): self._engine_value(name) for name in self._values}

    def _engine_value(self, name: str) -> Any:
        value = self.value(name)
        if not value or value in ("True", "False"):
            return name not in self._negated and value != "False"
        try:
            return json.loads(value)
        except ValueError:
            return value

    def _read(self, arguments: Sequence[str]) -> None:
        name = ""
        for argument in arguments:
            if argument.startswith("-") and not _NUMBER.match(argument):
                key, equals, value = argument.partition("=")
                name = _name(key)
                self._values[name] = [value] if equals else []
                (self._negated.add if key.startswith("--no-") else self._negated.discard)(name)
            elif name:
                self._values[name].append(argument)


def shown(arguments: Sequence[str]) -> list[str]:
    """A command line as it may be shown: secrets are replaced by stars."""
    result = []
    secret = False
    for argument in arguments:
        if argument.startswith("--"):
            key, equals, _ = argument.partition("=")
            secret = _name(key) in _SECRETS
            argument = f"{key}=***" if secret and equals else argument
        elif secret:
            argument = "***"
        result.append(argument)
    return result


def as_arguments(flags: Flags) -> list[str]:
    """Flags as arguments of a command line."""
    arguments: list[str] = []
    for name, value in flags.items():
        if value is None:
            arguments.append(f"--{name}")
        elif isinstance(value, str):
            # A value that begins with a minus would be taken for a flag.
            arguments += [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]
        else:
            arguments += [f"--{name}", *value]
    return arguments


def _name(key: str) -> str:
    if not key.startswith("--"):
        return "optimization-level" if key.startswith("-O") else _SHORT.get(key, key.lstrip("-"))
    name = key.removeprefix("--").partition(".")[0].replace("_", "-")
    return name.removeprefix("no-")


def _read_config(path: Path) -> dict[str, list[str]]:
    yaml: Any = import_module("yaml")  # Brought by vLLM, which reads the same file.
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigurationError(
            f"--config {path} cannot be read: {error}", hint="Give a YAML file of vLLM's flags."
        ) from error
    if not isinstance(content, Mapping):
        raise ConfigurationError(f"--config {path} is not a mapping of vLLM's flags to values.")
    return {
        _name(f"--{key}"): [str(one) for one in value] if isinstance(value, list) else [str(value)]
        for key, value in content.items()
    }
