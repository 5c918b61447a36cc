"""What a decode reports beside the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Repair:
    """Something that was put right while decoding.

    Attributes:
        kind: A stable name, such as ``quotes_removed``.
        path: The field concerned, or the empty string for the document.
        detail: What was found, for a person.
    """

    kind: str
    path: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field that is missing or does not fit the schema.

    Attributes:
        path: ``items[2].price`` style; the empty string is the whole value.
        rule: The JSON Schema keyword it breaks (``required``, ``type``, ``enum`` …), or ``syntax``
            where the text itself cannot be read.
        message: One sentence for a person.
        excerpt: The text or value concerned, shortened.
    """

    path: str
    rule: str
    message: str
    excerpt: str = ""

    def __str__(self) -> str:
        where = self.path or "the value"
        shown = f" (found {self.excerpt})" if self.excerpt else ""
        return f"{where}: {self.message}{shown}"


@dataclass(frozen=True, slots=True)
class Decoded:
    """The outcome of decoding one text.

    Attributes:
        value: The decoded value in the schema's own shape (the envelope is already removed). Only to
            be handed out as whole when ``ok``; otherwise it holds the complete part.
        ok: The text was read to its end and the value validates against the schema.
        repairs: What was put right on the way.
        errors: What is missing or wrong; empty exactly when ``ok``, except for truncation.
        truncated: The text ends before the value does.
        raif: The exact RAIF text that was decoded, without what surrounded it (JSON text where
            the wire is JSON).
    """

    value: Any
    ok: bool
    repairs: tuple[Repair, ...] = ()
    errors: tuple[FieldError, ...] = ()
    truncated: bool = False
    raif: str = ""
