"""A user's own values, one a line of JSON, and which schema each belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raif_integrations.cli.report.subjects import Subject
from raif_integrations.errors import ConfigurationError

_NAMES = ("name", "tool", "schema")
_VALUES = ("arguments", "args", "value", "input")


@dataclass(slots=True)
class Payloads:
    """Values by subject.

    Attributes:
        values: The values of each subject, in the order of the subjects.
        unfit: Lines that fit no schema, as sentences.
    """

    values: list[list[Any]]
    unfit: list[str] = field(default_factory=list)


def read_payloads(path: Path, subjects: Sequence[Subject]) -> Payloads:
    """Reads the file.

    A line is a value, or a call with the name of its tool (``{"name": ..., "arguments": {...}}``, where
    the arguments may be JSON text, as OpenAI's API has them). A value without a name belongs to the first
    subject it is valid for.

    Raises:
        ConfigurationError: The file cannot be read, or a line is not JSON.
    """
    payloads = Payloads([[] for _ in subjects])
    names = {subject.name: index for index, subject in reversed(list(enumerate(subjects)))}
    for number, line in _lines(path):
        name, value = _named(line, names)
        wanted = range(len(subjects)) if name is None else [names[name]]
        reasons = []
        for index in wanted:
            errors = subjects[index].contract.validate(value)
            if not errors:
                payloads.values[index].append(value)
                break
            reasons.append(f"{subjects[index].name}: {errors[0]}")
        else:
            payloads.unfit.append(f"line {number} fits no schema ({'; '.join(reasons[:3])})")
    return payloads


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"--payloads {path} cannot be read: {error.strerror}.") from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except ValueError as error:
            raise ConfigurationError(
                f"--payloads {path}, line {number} is not JSON: {error}.", hint="Give one value a line."
            ) from None


def _named(line: Any, names: Mapping[str, int]) -> tuple[str | None, Any]:
    """The name of a known subject, and the value; a line that names none is the value itself."""
    if isinstance(line, Mapping):
        function = line.get("function")
        called = function if isinstance(function, Mapping) else line
        for key in _NAMES:
            name = called.get(key)
            for under in _VALUES:
                if isinstance(name, str) and name in names and under in called:
                    return name, _parsed(called[under])
    return None, line


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
