"""The text of one message: content parts flattened, markup that belongs to us or the template neutralised."""

from __future__ import annotations

import re
from typing import Any

from raif_integrations.errors import RequestError

_OWN_TAGS = ("schema", "tools", "tool_call", "tool_response", "raif")

_OWN_TAG = re.compile(rf"<(/?)(?=(?:{'|'.join(_OWN_TAGS)})>)", re.IGNORECASE)

# Turn markers of the common chat templates: `<|im_end|>`, `<|eot_id|>`, `<|start_header_id|>`, Gemma's turns.
_TURN_MARKER = re.compile(r"<(?=\|[A-Za-z0-9_.:/-]{1,64}\|>|(?:start|end)_of_turn>)")


def text_of(content: Any, *, role: str) -> str:
    """Flattens a message's content to text.

    Args:
        content: A string, ``None``, or a list of strings and OpenAI content parts.
        role: The message's role, named in the error.

    Returns:
        The text; text parts are joined by a newline.

    Raises:
        RequestError: A part is not text (an image, audio, a file).
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise RequestError(
            f"The content of a {role} message is a {type(content).__name__}.",
            hint="Give a string or a list of text parts.",
        )
    return "\n".join(_part_text(part, role) for part in content)


def _part_text(part: Any, role: str) -> str:
    if isinstance(part, str):
        return part
    kind = part.get("type") if isinstance(part, dict) else type(part).__name__
    if kind in ("text", "input_text", "output_text") and isinstance(part.get("text"), str):
        return str(part["text"])
    raise RequestError(
        f"A {role} message holds a content part of type {kind!r}.",
        hint="Only text can be sent to this model; put what the model should read into a text part.",
    )


def without_turn_markers(text: str) -> str:
    """Breaks up a chat template's own turn markers, so that text cannot end its turn or open another.

    A tokenizer reads ``<|im_end|>`` in a message as the end of the turn, whoever wrote it. A space
    after ``<`` keeps it readable and makes it plain text.
    """
    return _TURN_MARKER.sub("< ", text)


def inert(text: str) -> str:
    """Breaks up both, for text that is quoted inside a tag or a cue, whoever wrote it."""
    return without_own_tags(without_turn_markers(text))


def without_own_tags(text: str) -> str:
    """Breaks up ``<schema>``, ``<tools>``, ``<tool_call>`` …, so that text cannot close or forge a cue."""
    return _OWN_TAG.sub(r"< \1", text)
