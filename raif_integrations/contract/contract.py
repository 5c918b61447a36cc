"""The contract: one schema, and the texts and readers made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

from raif_integrations.contract import sources
from raif_integrations.contract.cue import CueStyle, cue
from raif_integrations.contract.dialect import JsonSchema, draft_of
from raif_integrations.contract.encode import Encoder, UnwritableError
from raif_integrations.contract.memory import IdentityMemory, Memory, text_of
from raif_integrations.contract.mending import Wanted, put_fields, wanted_fields
from raif_integrations.contract.numerals import dump_json
from raif_integrations.contract.projection import schema_of
from raif_integrations.contract.recognition import PlaceBook
from raif_integrations.contract.report import Decoded, FieldError, Repair
from raif_integrations.contract.schema import lower
from raif_integrations.contract.shape import Shapes
from raif_integrations.contract.stream import StreamDecoder
from raif_integrations.contract.tree import Limit, Tree
from raif_integrations.contract.validation import SchemaValidator, path_text
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
        self.schema: JsonSchema = plain(schema)
        draft = draft_of(self.schema)
        self.tree: Tree = lower(self.schema, draft)
        if wire == "raif" and self.tree.limits:
            limit = self.tree.limits[0]
            raise SchemaError(
                f"RAIF cannot carry {limit.path or 'this schema'}: {limit.reason}",
                hint="Use wire='auto' or change the field.",
            )
        self._asked_wire = wire
        self.wire: Literal["raif", "json"] = "json" if wire == "json" or self.tree.limits else "raif"
        self._validator = SchemaValidator(self.schema, draft)
        self._cues: dict[str, str] = {}
        self._grammars: dict[str, str] = {}

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
        text = text_of(schema)
        key = (cls, text, name, description, wire)
        known: Self | None = _BUILT.get(key) if text is not None else None
        if known is not None:
            return known
        built = cls(schema, name=name, description=description, wire=wire)
        if text is not None:
            _BUILT.put(key, built)
        return built

    @classmethod
    def from_pydantic(
        cls, model: Any, *, name: str | None = None, description: str | None = None, wire: Wire = "auto"
    ) -> Self:
        """A contract for a Pydantic model, ``TypedDict``, dataclass or any type Pydantic can describe.

        Raises:
            SchemaError: Pydantic cannot describe the type.
        """
        return cls._remembered(sources.from_type, model, name, description, wire)

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
        return cls._remembered(sources.from_tool, tool, name, description, wire)

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
        return cls._remembered(sources.from_callable, function, name, description, wire)

    @classmethod
    def _remembered(
        cls,
        read: Callable[[Any], sources.Source],
        origin: Any,
        name: str | None,
        description: str | None,
        wire: Wire,
    ) -> Self:
        """The contract of an object, as long as the object says the same of itself."""
        key: tuple[Any, ...] = (cls, read, sources.face(origin), name, description, wire)
        known: Self | None = _MADE_FROM.get(origin, *key)
        if known is not None:
            return known
        source = read(origin)
        built = cls.from_json_schema(
            source.schema,
            name=name or source.name,
            description=description or source.description,
            wire=wire,
        )
        _MADE_FROM.put(origin, *key, entry=built)
        return built

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

    def grammar(self, style: CueStyle = "trained") -> str:
        """EBNF (xgrammar's dialect) of RAIF-G texts that decode to a valid object.

        Args:
            style: Style of the cue that is shown with it. With ``described`` a string carries no type tag
                where the schema says that it is one; every value can still be written.
        """
        if style not in self._grammars:
            from raif_integrations.contract.grammar import grammar

            self._grammars[style] = grammar(self.tree, style)
        return self._grammars[style]

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
        """Writes what a model once produced, whether it fits the schema or not.

        Never raises for JSON data.
        """
        return self._encode(value, strict=False)

    def _encode(self, value: Any, *, strict: bool) -> str:
        if self.wire == "json":
            return dump_json(value)
        wrapped = value if self.tree.envelope is None else {self.tree.envelope: value}
        try:
            if isinstance(wrapped, dict):
                return Encoder(self.book.shapes, strict=strict).encode(wrapped)
        except UnwritableError:
            pass
        return dump_json(wrapped)

    def decode(self, text: str, *, finished: bool = True, constrained: bool = False) -> Decoded:
        """Reads a reply.

        Args:
            text: What the model wrote.
            finished: The model ended by itself; otherwise it was cut off.
            constrained: The text was generated under :meth:`grammar`, which leaves the digits of indices
                free: elements are told apart by the order of their keys.
        """
        decoder = self.decoder(constrained=constrained, events=False)
        decoder.push(text)
        return decoder.finish(None if finished else "length")

    def missing(self, decoded: Decoded) -> OutputContract | None:
        """The contract for what a reply lacks or has wrong, for asking again.

        Args:
            decoded: A reply that was decoded with this contract.

        Returns:
            A contract of an object with those fields only (fields inside a list stand for the whole list);
            this contract itself if the fault lies in no single field; ``None`` if the reply is good.
        """
        if decoded.ok:
            return None
        wanted = self._wanted(decoded)
        if wanted is None:
            return self
        wire: Wire = "json" if self._asked_wire == "json" else "auto"
        schema = schema_of(self.tree, wanted)
        return OutputContract.from_json_schema(
            schema, name=self.name, description=self.description, wire=wire
        )

    def merge(self, decoded: Decoded, patch: Decoded) -> Decoded:
        """Puts the answer to :meth:`missing` into a reply.

        Args:
            decoded: The reply.
            patch: What the contract of :meth:`missing` decoded from the answer.

        Returns:
            The whole, validated anew: good only if every fault is gone.
        """
        wanted = self._wanted(decoded)
        if wanted is None:
            return patch
        value, taken = put_fields(decoded.value, wanted, patch.value)
        texts = {path_text(path) for path in taken}
        left = [error for error in decoded.errors if error.rule in ("syntax", "truncated")]
        errors = [error for error in left if not _is_within(error.path, texts)]
        # What the answer holds beyond what was asked is never taken over, so it is no fault of the whole.
        answered = [error for error in patch.errors if error.rule != "additionalProperties"]
        errors += [error for error in answered if error not in errors]
        known = {error.path for error in errors}
        errors += [error for error in self.validate(value) if error.path not in known]
        repairs = [Repair("asked_again", text) for text in sorted(texts)]
        return Decoded(
            value,
            not errors and not patch.truncated,
            (*decoded.repairs, *patch.repairs, *repairs),
            tuple(errors),
            patch.truncated,
            "\n".join(text for text in (decoded.raif, patch.raif) if text),
        )

    def _wanted(self, decoded: Decoded) -> Wanted | None:
        if self.envelope is not None:
            return None
        return wanted_fields(self.tree, self.book.shapes.root, decoded)

    def decoder(self, *, constrained: bool = False, events: bool = True) -> StreamDecoder:
        """A decoder for one reply that is fed piece by piece.

        Args:
            constrained: The reply is generated under :meth:`grammar`; its objects can be closed as soon
                as they are left.
            events: Events and JSON deltas are wanted.
        """
        return StreamDecoder(self, constrained=constrained, events=events)


_BUILT: Memory[Any] = Memory(512)
_MADE_FROM: IdentityMemory[Any] = IdentityMemory(512)


def plain(schema: Any) -> Any:
    """A copy of a schema in dicts and lists.

    Raises:
        SchemaError: A key is no string.
    """
    if isinstance(schema, Mapping):
        for key in schema:
            if not isinstance(key, str):
                raise SchemaError(
                    f"This is not a JSON Schema: the key {key!r} is no string.", hint="Use string keys."
                )
        return {key: plain(below) for key, below in schema.items()}
    if isinstance(schema, (list, tuple)):
        return [plain(below) for below in schema]
    return schema


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _is_within(path: str, outer: set[str]) -> bool:
    """Whether a path is one of the others or below it."""
    return any(path == other or path.startswith((f"{other}.", f"{other}[")) for other in outer)
