"""The tools and schemas to report on, from the references on the command line."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from raif_integrations.contract import OutputContract
from raif_integrations.conversation.prompt import cue_block
from raif_integrations.conversation.routing import plan_line
from raif_integrations.errors import ConfigurationError, SchemaError

_HINT = "Give module:name, file.py:name, or a file with a JSON Schema, an OpenAI tool or a list of them."


@dataclass(frozen=True, slots=True)
class Subject:
    """A tool, or the schema of a structured output.

    Attributes:
        name: What the model calls it.
        is_tool: It is offered among tools, with its name and description.
        contract: What its values must look like.
    """

    name: str
    is_tool: bool
    contract: OutputContract

    def json_prompt(self) -> str:
        """What a JSON prompt shows: the tool definition as chat templates write it, or the JSON Schema."""
        schema = self.contract.schema
        if not self.is_tool:
            return json.dumps(schema, ensure_ascii=False)
        function = {"name": self.name, "description": self.contract.description or "", "parameters": schema}
        return json.dumps({"type": "function", "function": function}, ensure_ascii=False)

    def raif_prompt(self, *, trained: bool) -> str:
        """What this package shows in its place: the cue, and for a tool its line among the choices.

        Args:
            trained: The bare cue, for a model that was trained on RAIF; otherwise the described one.
        """
        cue = cue_block(self.contract, trained=trained)
        return f"{plan_line(self.name, self.contract.description or '')}\n{cue}" if self.is_tool else cue


def find_subjects(reference: str) -> list[Subject]:
    """What a reference on the command line names.

    Raises:
        ConfigurationError: There is nothing there, or it is neither a tool nor a schema.
    """
    path = Path(reference)
    if path.suffix == ".json" or path.is_file():
        found = _read_json(path)
        name = path.stem
    elif ":" in reference:
        place, _, name = reference.rpartition(":")
        found = _attribute(place, name)
    else:
        raise ConfigurationError(f"{reference!r} is no schema.", hint=_HINT)
    subjects = list(_subjects(found, name))
    if not subjects:
        raise ConfigurationError(f"{reference!r} holds no tool and no schema.", hint=_HINT)
    return subjects


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.", hint=_HINT) from None
    except ValueError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}.", hint=_HINT) from None


def _attribute(place: str, name: str) -> Any:
    found: Any = _module(place)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ConfigurationError(f"{place} has no {name!r}.", hint=_HINT) from None
    return found


def _module(place: str) -> ModuleType:
    path = Path(place)
    if path.suffix == ".py":
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise ConfigurationError(f"There is no file {place!r}.", hint=_HINT)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)  # where its own annotations are looked up
        spec.loader.exec_module(module)
        return module
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"The module {place!r} cannot be imported: {error}.", hint=_HINT) from None


def _subjects(found: Any, name: str) -> Iterator[Subject]:
    """The subjects in an object, under its own name or the one it was found by."""
    if isinstance(found, (list, tuple)):
        for index, one in enumerate(found):
            yield from _subjects(one, f"{name}[{index}]")
        return
    if isinstance(found, Mapping) and isinstance(found.get("tools"), list):
        yield from _subjects(found["tools"], name)
        return
    try:
        is_tool, contract = _contract(found, name)
    except SchemaError as error:
        raise ConfigurationError(f"{name}: {error.message}", hint=error.hint) from error
    yield Subject(contract.name or name, is_tool, contract)


def _contract(found: Any, name: str) -> tuple[bool, OutputContract]:
    if isinstance(found, bool) or (isinstance(found, Mapping) and not _is_tool_dict(found)):
        described = found.get("json_schema") if isinstance(found, Mapping) else None
        if isinstance(described, Mapping) and isinstance(described.get("schema"), Mapping):
            schema, name = described["schema"], str(described.get("name") or name)
            return False, OutputContract.from_json_schema(schema, name=name)
        title = found.get("title") if isinstance(found, Mapping) else None
        return False, OutputContract.from_json_schema(found, name=title or name)
    if isinstance(found, Mapping):
        return True, OutputContract.from_tool(found)
    if inspect.isclass(found):
        return False, OutputContract.from_pydantic(found)
    if callable(found) or hasattr(found, "args_schema") or hasattr(found, "metadata"):
        return True, OutputContract.from_tool(found)
    raise SchemaError(f"A {type(found).__name__} is neither a tool nor a schema.", hint=_HINT)


def _is_tool_dict(found: Mapping[str, Any]) -> bool:
    if isinstance(found.get("function"), Mapping):
        return True
    return isinstance(found.get("name"), str) and any(
        isinstance(found.get(keyword), Mapping) for keyword in ("parameters", "input_schema", "inputSchema")
    )
