"""The contract: one schema, and the texts and readers made from it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

from raif_integrations.contract import sources
from raif_integrations.contract.cue import CueStyle, cue
from raif_integrations.contract.dialect import JsonSchema, draft_of
from raif_integrations.contract.encode import Encoder, UnwritableError
from raif_integrations.contract.document import PlaceBook
from raif_integrations.contract.report import Decoded, FieldError
from raif_integrations.contract.schema import lower
from raif_integrations.contract.shape import Shapes
from raif_integrations.contract.stream import StreamDecoder
from raif_integrations.contract.tree import Limit, Tree
from raif_integrations.contract.validation import SchemaValidator
from raif_integrations.errors import ConfigurationError, SchemaError

Wire: TypeAlias = Literal["auto", "raif", "json"]


class OutputContract:
    """What a reply must look like. Immutable and safe for concurrent use.

    Build one with :meth:`from_json_schema`, :meth:`from_pydantic`, :meth:`from_tool` or
    :meth:`from_callable`.

    Attributes:
        name: What the model calls it, or ``None``.
        description: What it is for, or ``None``.
        schema: The JSON Schema.
        tree: The typed tree made from it.
        wire: ``raif``, or ``json`` where RAIF cannot carry the schema or JSON was asked for.
    """

    def __init__(
        self,
        schema: JsonSchema,
        *,
        name: str | None = None,
        description: str | None = None,
        wire: Wire = "auto",
    ) -> None:
        if wire not in ("auto", "raif", "json"):
            raise ConfigurationError(f"wire={wire!r} is unknown.", hint="Use 'auto', 'raif' or 'json'.")
        if not isinstance(schema, (Mapping, bool)):
            raise SchemaError(
                f"A JSON Schema is a mapping or a boolean, not {type(schema).__name__}.",
                hint="Use from_pydantic for types and from_tool for tools.",
            )
        self.name = name
        self.description = description
        self.schema: JsonSchema = copy.deepcopy(dict(schema)) if isinstance(schema, Mapping) else schema
        draft = draft_of(self.schema)
        self.tree: Tree = lower(self.schema, draft)
        if wire == "raif" and self.tree.limits:
            limit = self.tree.limits[0]
            raise SchemaError(
                f"RAIF cannot carry {limit.path or 'this schema'}: {limit.reason}",
                hint="Use wire='auto' or change the field.",
            )
        self.wire: Literal["raif", "json"] = "json" if wire == "json" or self.tree.limits else "raif"
        self._validator = SchemaValidator(self.schema, draft)
        self._cues: dict[str, str] = {}

    @classmethod
    def from_json_schema(
        cls,
        schema: JsonSchema,
        *,
        name: str | None = None,
        description: str | None = None,
        wire: Wire = "auto",
    ) -> Self:
        """A contract for a JSON Schema.

        Args:
            schema: The schema, of any draft; references are resolved inside it only.
            name: What the model calls it; the schema's ``title`` if left out.
            description: What it is for; the schema's ``description`` if left out.
            wire: ``auto`` takes RAIF where it can carry the schema.

        Raises:
            SchemaError: It is not a JSON Schema, or ``wire="raif"`` and RAIF cannot carry it.
        """
        if isinstance(schema, Mapping):
            name = name or _text(schema.get("title"))
            description = description or _text(schema.get("description"))
        return cls(schema, name=name, description=description, wire=wire)

    @classmethod
    def from_pydantic(
        cls, model: Any, *, name: str | None = None, description: str | None = None, wire: Wire = "auto"
    ) -> Self:
        """A contract for a Pydantic model, ``TypedDict``, dataclass or any type Pydantic can describe.

        Raises:
            SchemaError: Pydantic cannot describe the type.
        """
        return cls._from_source(sources.from_type(model), name, description, wire)

    @classmethod
    def from_tool(
        cls, tool: Any, *, name: str | None = None, description: str | None = None, wire: Wire = "auto"
    ) -> Self:
        """A contract for a tool's arguments.

        Args:
            tool: An OpenAI tool dict, a dict with ``input_schema``, a LangChain or LlamaIndex tool, a
                model, or a function.
            name: Overrides the tool's name.
            description: Overrides the tool's description.
            wire: ``auto`` takes RAIF where it can carry the schema.

        Raises:
            SchemaError: It is none of these, or its schema is not a JSON Schema.
        """
        return cls._from_source(sources.from_tool(tool), name, description, wire)

    @classmethod
    def from_callable(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        wire: Wire = "auto",
    ) -> Self:
        """A contract for a function's parameters.

        Raises:
            SchemaError: A parameter cannot be given by keyword or described.
        """
        return cls._from_source(sources.from_callable(function), name, description, wire)

    @classmethod
    def _from_source(
        cls, source: sources.Source, name: str | None, description: str | None, wire: Wire
    ) -> Self:
        return cls.from_json_schema(
            source.schema,
            name=name or source.name,
            description=description or source.description,
            wire=wire,
        )

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The fields RAIF cannot carry, with the reason; empty if RAIF can carry the schema."""
        return self.tree.limits

    def cue(self, style: CueStyle = "trained") -> str:
        """The lines between the ``<schema>`` tags of a prompt.

        Args:
            style: ``trained`` for models fine-tuned on RAIF, ``described`` (with allowed values and
                descriptions) for all others.
        """
        if style not in self._cues:
            self._cues[style] = cue(self.tree, style)
        return self._cues[style]

    def grammar(self) -> str:
        """EBNF (xgrammar's dialect) of the RAIF-G texts that decode to a valid object."""
        return self._grammar

    @cached_property
    def _grammar(self) -> str:
        from raif_integrations.contract.grammar import grammar

        return grammar(self.tree)

    @cached_property
    def book(self) -> PlaceBook:
        """What the decoders of this contract share."""
        return PlaceBook(Shapes(self.tree))

    @property
    def envelope(self) -> str | None:
        """Key under which a value that is no object travels as RAIF, or ``None``."""
        return self.tree.envelope

    def validate(self, value: Any) -> tuple[FieldError, ...]:
        """Every rule of the JSON Schema a value breaks; empty if it is valid."""
        return self._validator.errors(value)

    def encode(self, value: Any) -> str:
        """Writes a value as the model would: RAIF-G, or JSON where the wire is JSON.

        A value that RAIF cannot write (a key with a line break), or whose types the schema does not allow, is
        written as JSON, which :meth:`decode` reads too.

        Raises:
            ValueError: The value is not JSON data.
        """
        return self._encode(value, strict=True)

    def encode_history(self, value: Any) -> str:
        """Writes what a model once produced, whether it fits the schema or not. Never raises for JSON data."""
        return self._encode(value, strict=False)

    def _encode(self, value: Any, *, strict: bool) -> str:
        if self.wire == "json":
            return json.dumps(value, ensure_ascii=False, allow_nan=False)
        wrapped = value if self.tree.envelope is None else {self.tree.envelope: value}
        try:
            if isinstance(wrapped, dict):
                return Encoder(self.book.shapes, strict=strict).encode(wrapped)
        except UnwritableError:
            pass
        return json.dumps(wrapped, ensure_ascii=False, allow_nan=False)

    def decode(self, text: str, *, finished: bool = True) -> Decoded:
        """Reads a reply.

        Args:
            text: What the model wrote.
            finished: The model ended by itself; otherwise it was cut off.
        """
        decoder = self.decoder(events=False)
        decoder.push(text)
        return decoder.finish(None if finished else "length")

    def decoder(self, *, constrained: bool = False, events: bool = True) -> StreamDecoder:
        """A decoder for one reply that is fed piece by piece.

        Args:
            constrained: The reply is generated under :meth:`grammar`; its objects can be closed as soon
                as they are left.
            events: Events and JSON deltas are wanted.
        """
        return StreamDecoder(self, constrained=constrained, events=events)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
