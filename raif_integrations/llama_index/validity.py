"""From what did not fit to an error that says where, and what the model wrote.

LlamaIndex has no place for a call or a value that is broken: its programs and agents would run the
tool with what is left, or hand out a default object. So a broken one is raised.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from raif_integrations.contract.report import FieldError
from raif_integrations.errors import OutputError, TruncatedOutputError
from raif_integrations.turn.types import TurnResult

ModelT = TypeVar("ModelT", bound=BaseModel)

_EXCERPT_LENGTH = 200
_SHOWN_ERRORS = 3
_MORE_ROOM = "Raise max_tokens, or ask for less."
_MORE_CARE = "Set constrain=True, raise repair_attempts, or use a stronger model."


def excerpt(text: str | None) -> str:
    """The beginning of a text, quoted, for an error message."""
    text = text or ""
    return repr(text if len(text) <= _EXCERPT_LENGTH else f"{text[:_EXCERPT_LENGTH]}…")


def check_turn(result: TurnResult) -> None:
    """Refuses a turn with a broken call or a broken value.

    Raises:
        TruncatedOutputError: The model ran out of room before the call or the value was complete.
        OutputError: A call's arguments or the value do not fit their schema.
    """
    for call in result.invalid_tool_calls:
        raise _error(call.error, text=call.text, errors=call.errors, truncated=call.truncated)
    output = result.output
    if output is not None and not output.ok:
        if output.truncated:
            summary = "The reply was cut off before the value was complete."
        else:
            summary = f"The reply does not fit the schema: {_joined(output.errors)}."
        raise _error(summary, text=result.report.text, errors=output.errors, truncated=output.truncated)


def to_instance(output_class: type[ModelT], value: Any, *, text: str) -> ModelT:
    """Builds an instance of a Pydantic class from a decoded value.

    The value is validated as JSON, so that a strict class takes a date or an enum from its text.

    Args:
        output_class: The class.
        value: The value; it fits the class's JSON Schema, but validators may know better.
        text: The model's own text, for the error.

    Returns:
        The instance.

    Raises:
        OutputError: A validator of the class refuses the value.
    """
    try:
        return output_class.model_validate_json(json.dumps(value))
    except ValidationError as error:
        errors = tuple(
            FieldError(
                path=_path(problem["loc"]),
                rule=problem["type"],
                message=problem["msg"],
                excerpt=excerpt(str(problem["input"])),
            )
            for problem in error.errors(include_url=False)
        )
        summary = f"{output_class.__name__} refuses what the model wrote: {_joined(errors)}."
        raise _error(summary, text=text, errors=errors) from error


def _error(
    summary: str, *, text: str, errors: Sequence[FieldError] = (), truncated: bool = False
) -> OutputError:
    kind = TruncatedOutputError if truncated else OutputError
    return kind(
        f"{summary} The model wrote: {excerpt(text)}.",
        text=text,
        errors=errors,
        hint=_MORE_ROOM if truncated else _MORE_CARE,
    )


def _joined(errors: Sequence[FieldError]) -> str:
    shown = "; ".join(str(error) for error in errors[:_SHOWN_ERRORS])
    more = len(errors) - _SHOWN_ERRORS
    return f"{shown}; and {more} more" if more > 0 else shown


def _path(location: Sequence[int | str]) -> str:
    """``items[2].price`` from Pydantic's ``("items", 2, "price")``."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path
