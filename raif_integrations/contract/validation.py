"""The last word on a value: the JSON Schema itself."""

from __future__ import annotations

import json
import re
import reprlib
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from raif_integrations.contract.dialect import JsonSchema, ValidatorClass, registry_of
from raif_integrations.contract.formats import CHECKS, checker
from raif_integrations.contract.report import FieldError
from raif_integrations.errors import SchemaError

if TYPE_CHECKING:
    from jsonschema import ValidationError

_LONGEST_EXCERPT = 80
_MOST_ERRORS = 50


class SchemaValidator:
    """Validates values against one JSON Schema. Safe for concurrent use.

    ``jsonschema-rs``, where it is installed, says whether a value is valid; ``jsonschema`` explains what is
    wrong, and decides alone where ``jsonschema-rs`` is missing or cannot take the schema or the value.

    Args:
        schema: The JSON Schema.
        draft: The draft it is written in.
    """

    def __init__(self, schema: JsonSchema, draft: ValidatorClass) -> None:
        self._schema = schema
        self._draft = draft
        self._lock = threading.Lock()
        self._slow: Any = None
        self._fast: Any = None

    def errors(self, value: Any) -> tuple[FieldError, ...]:
        """Every rule a value breaks, the outermost field first; empty if it is valid.

        Raises:
            SchemaError: The schema refers to something that is not in it, or has a pattern that cannot be
                read.
        """
        with self._lock:
            if self._slow is None:
                self._fast = _compiled(self._schema, self._draft)
                self._slow = _explaining(self._draft)(
                    self._schema,
                    registry=registry_of(self._schema, self._draft),
                    format_checker=checker(),
                )
        verdict = self._verdict(value)
        if verdict:
            return ()
        try:
            found = self._explained(value)
        except re.error as error:
            if verdict is None:
                raise SchemaError(
                    f"A pattern of the schema cannot be read: {error}",
                    hint="Write it so that Python's re reads it, or install jsonschema-rs.",
                ) from error
        else:
            if found or verdict is None or _has_long_integer(value):
                return found
        return tuple(
            FieldError(path_text(tuple(error.instance_path)), error.kind.name, error.message)
            for error in self._fast.iter_errors(value)
        )

    def _verdict(self, value: Any) -> bool | None:
        """What the compiled validator says; ``None`` if it cannot tell."""
        if self._fast is None:
            return None
        try:
            return bool(self._fast.is_valid(value))
        except (ValueError, TypeError, OverflowError, RecursionError):  # a lone surrogate, for example
            return None

    def _explained(self, value: Any) -> tuple[FieldError, ...]:
        from referencing.exceptions import Unresolvable

        found: dict[FieldError, None] = {}
        try:
            for error in self._slow.iter_errors(value):
                for reported in _report(error):
                    found.setdefault(reported)
                    if len(found) >= _MOST_ERRORS:
                        return tuple(found)
        except RecursionError:
            return (FieldError("", "depth", "the value is nested too deeply to be checked"),)
        except Unresolvable as error:
            raise SchemaError(
                f"A reference leads nowhere inside the schema: {error}",
                hint="Put the definition under $defs; nothing is fetched from the network.",
            ) from error
        return tuple(found)


def _compiled(schema: JsonSchema, draft: ValidatorClass) -> Any:
    """The compiled validator of a schema, or ``None`` where it is not to be had."""
    try:
        import jsonschema_rs
    except ImportError:
        return None
    compiler = getattr(jsonschema_rs, draft.__name__, None)
    if compiler is None:  # draft 3
        return None
    try:
        return compiler(schema, validate_formats=True, formats=CHECKS, retriever=_retrieve_nothing)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None


@lru_cache(maxsize=16)
def _explaining(draft: ValidatorClass) -> ValidatorClass:
    """A draft whose patterns are those of ECMA-262 and take no longer the more of a text they try.

    Python's own may take exponentially long, and the texts are a model's.
    """
    from jsonschema import ValidationError
    from jsonschema.validators import extend

    def pattern(validator: Any, wanted: str, value: Any, schema: JsonSchema) -> Iterator[ValidationError]:
        if validator.is_type(value, "string") and not _is_found(wanted, value):
            yield ValidationError(f"{value!r} does not match {wanted!r}")

    return extend(draft, {"pattern": pattern})  # type: ignore[no-untyped-call]


def _is_found(pattern: str, text: str) -> bool:
    search = _search_of(pattern)
    try:
        return bool(search(text))
    except ValueError:  # a lone surrogate
        return re.search(pattern, text) is not None


@lru_cache(maxsize=256)
def _search_of(pattern: str) -> Callable[[str], object]:
    try:
        import jsonschema_rs

        found: Callable[[str], object] = jsonschema_rs.Draft202012Validator({"pattern": pattern}).is_valid
    except (ImportError, ValueError):
        return re.compile(pattern).search
    return found


def _has_long_integer(value: Any) -> bool:
    """Whether a value holds an integer that ``jsonschema-rs`` does not see."""
    if isinstance(value, dict):
        return any(map(_has_long_integer, value.values()))
    if isinstance(value, list):
        return any(map(_has_long_integer, value))
    return isinstance(value, int) and value.bit_length() > 1024


def _retrieve_nothing(uri: str) -> Any:
    raise ValueError(f"{uri} is not part of the schema")


def path_text(path: tuple[str | int, ...]) -> str:
    """``items[2].price`` for ``("items", 2, "price")``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def excerpt_of(value: Any) -> str:
    """A value shortened for a message."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = reprlib.repr(value)
    return text if len(text) <= _LONGEST_EXCERPT else text[: _LONGEST_EXCERPT - 1] + "…"


def _report(error: ValidationError) -> Iterator[FieldError]:
    """A validation error as field errors.

    A missing key is reported under its own path; of several alternatives, the one that fits best is
    explained.
    """
    path = tuple(error.absolute_path)
    rule = str(error.validator) if error.validator else "false"
    value = error.instance
    if rule in ("anyOf", "oneOf") and error.context:
        nearest = _nearest(error.context)
        if nearest:
            for below in nearest:
                yield from _report(below)
            return
    if rule == "required" and isinstance(value, dict) and isinstance(error.validator_value, list):
        missing = [
            name for name in error.validator_value if name not in value and repr(name) in error.message
        ]
        for name in missing:
            yield FieldError(path_text((*path, name)), rule, "this required field is missing")
        if missing:
            return
    message = error.message
    if len(message) > 3 * _LONGEST_EXCERPT:
        message = f"does not satisfy {rule} {excerpt_of(error.validator_value)}"
    yield FieldError(path_text(path), rule, message, excerpt_of(value))


def _nearest(context: list[ValidationError]) -> list[ValidationError]:
    """The errors of the alternative that fits best; none if no alternative is of the value's type."""
    branches: dict[Any, list[ValidationError]] = {}
    for error in context:
        branches.setdefault(error.relative_schema_path[0], []).append(error)
    near = [
        errors
        for errors in branches.values()
        if not any(
            error.validator in ("type", "const", "enum") and not error.relative_path for error in errors
        )
    ]
    if not near:
        return []
    return min(near, key=lambda errors: (_tag_errors(errors), len(errors)))


def _tag_errors(errors: list[ValidationError]) -> int:
    """Errors that speak against an alternative as a whole: a fixed value that differs."""
    return sum(error.validator in ("const", "enum") for error in errors)
