"""The decoder that is fed piece by piece. One-shot decoding is the same decoder, fed once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from raif_integrations.contract.constants import same
from raif_integrations.contract.document import Document
from raif_integrations.contract.emission import Emitter, Event, JsonWriter
from raif_integrations.contract.json_text import ROOT, JsonDocument
from raif_integrations.contract.reading import load_json
from raif_integrations.contract.recognition import PlaceBook
from raif_integrations.contract.report import Decoded, FieldError, Repair
from raif_integrations.errors import ConfigurationError

_LONGEST_START = 4096
"""A line whose key has not ended by then is no growing string."""


class Reader(Protocol):
    """What a decoder needs of its contract."""

    @property
    def wire(self) -> str:
        """``raif`` or ``json``."""

    @property
    def book(self) -> PlaceBook:
        """The places of the tree."""

    @property
    def envelope(self) -> str | None:
        """Key under which a value that is no object travels."""

    def validate(self, value: Any) -> tuple[FieldError, ...]:
        """The rules a whole value breaks."""


class StreamDecoder:
    """Decodes a reply while it is written.

    Feed it with :meth:`push`, end it with :meth:`finish`. Not safe for concurrent use: one decoder
    belongs to one reply.

    Args:
        reader: The contract's side.
        constrained: The text is generated under the contract's grammar. Objects are contiguous then, so
            that each can be closed as soon as it is left; otherwise an object stays open until all its
            declared keys have come.
        events: Events and JSON deltas are wanted.
    """

    def __init__(self, reader: Reader, *, constrained: bool = False, events: bool = True) -> None:
        self._reader = reader
        self._is_json = reader.wire == "json"
        shapes = reader.book.shapes
        self._emitter: Emitter | None = None
        if events:
            self._emitter = Emitter(
                shapes.anything if self._is_json else shapes.root,
                envelope=self._is_json or reader.envelope is not None,
                constrained=constrained or self._is_json,
            )
        self._writer = JsonWriter()
        self._json: list[str] = []
        self._delta: list[str] = []
        self._text = JsonDocument(shapes, self._emitter) if self._is_json else None
        self._document = (
            None
            if self._is_json
            else Document(reader.book, reader.envelope, self._emitter, constrained=constrained)
        )
        self._line: list[str] = []
        self._line_length = 0
        self._growth: bool | None = None
        self._held = ""
        self._decoded: Decoded | None = None

    def push(self, text: str) -> list[Event]:
        """Takes the next piece of the reply.

        Args:
            text: The new text; pieces may end anywhere.

        Returns:
            What has become certain with it.

        Raises:
            ConfigurationError: The decoder is finished.
        """
        if self._decoded is not None:
            raise ConfigurationError("push() was called after finish().", hint="Use a new decoder.")
        if self._text is not None:
            self._text.push(text)
        elif text:
            self._push_lines(text)
        return self._collect()

    def finish(self, finish_reason: str | None = None) -> Decoded:
        """Ends the reply. Called again, it returns the same.

        Args:
            finish_reason: Why the generation ended; ``length`` and ``abort`` mean that it was cut off.

        Returns:
            The same as :meth:`OutputContract.decode` of the whole text.
        """
        if self._decoded is None:
            complete = finish_reason not in ("length", "abort")
            if self._text is not None:
                self._decoded = self._finish_json(self._text, complete=complete)
            elif self._document is not None:
                self._decoded = self._finish_raif(self._document, complete=complete)
            self._collect()
        assert self._decoded is not None
        return self._decoded

    def amend(self, decoded: Decoded) -> Decoded:
        """Takes the outcome of a repair in place of this decoder's own, and emits what is left of it.

        Args:
            decoded: A decoded value, made from this decoder's with fields that were asked for again.

        Returns:
            The same; refused where it contradicts JSON text that was already given out.

        Raises:
            ConfigurationError: The decoder is not finished.
        """
        if self._decoded is None:
            raise ConfigurationError("amend() was called before finish().", hint="Finish the decoder first.")
        if decoded is self._decoded:
            return decoded
        if decoded.ok and self._emitter is not None and not self._continues(decoded.value):
            error = FieldError("", "syntax", "a repaired field contradicts what was already streamed")
            decoded = replace(decoded, ok=False, errors=(*decoded.errors, error))
        self._decoded = decoded
        return decoded

    def _continues(self, value: Any) -> bool:
        """Emits the rest of a value; false, with nothing emitted, if the JSON so far is not its beginning."""
        assert self._emitter is not None
        envelope = ROOT if self._is_json else self._reader.envelope
        given, waiting = len(self._json), len(self._delta)
        try:
            self._emitter.finish(value if envelope is None else {envelope: value})
            self._collect()
            if same(load_json(self.json), value):
                return True
        except (LookupError, TypeError, ValueError):
            pass
        del self._json[given:], self._delta[waiting:]
        return False

    @property
    def json(self) -> str:
        """The JSON text so far; append-only. After a good :meth:`finish`, the whole value."""
        return "".join(self._json)

    def take_json(self) -> str:
        """The JSON text since the last call."""
        delta = "".join(self._delta)
        self._delta.clear()
        return delta

    @property
    def value(self) -> Any:
        """The value so far as a fresh copy; ``None`` before the first field of a value that is no object."""
        if self._decoded is not None:
            return copy.deepcopy(self._decoded.value)
        if self._text is not None:
            return copy.deepcopy(self._text.partial.get(ROOT))
        assert self._document is not None
        root = copy.deepcopy(self._document.root)
        envelope = self._reader.envelope
        return root if envelope is None else root.get(envelope)

    @property
    def takes_any_line(self) -> bool:
        """A list or a text of several lines is open: the next line belongs to it, whatever it says."""
        return self._document is not None and self._document.takes_any_line

    # Lines

    def _push_lines(self, text: str) -> None:
        document = self._document
        assert document is not None
        if "\n" not in text:
            self._extend(text)
            return
        first, *middle, last = text.split("\n")
        self._line.append(first)
        self._end_line("".join(self._line))
        for line in middle:
            document.feed(line)
        if last:
            self._extend(last)

    def _end_line(self, line: str) -> None:
        assert self._document is not None
        self._line.clear()
        self._line_length = 0
        self._growth = None
        self._held = ""
        self._document.feed(line)

    def _extend(self, text: str) -> None:
        """Adds to the unfinished line."""
        self._line.append(text)
        self._line_length += len(text)
        document = self._document
        if self._emitter is None or document is None or self._growth is False:
            return
        if self._growth is True:
            self._grow(text)
            return
        start = "".join(self._line)
        self._line = [start]
        self._growth = document.may_grow(start) if len(start) <= _LONGEST_START else False
        if self._growth:
            before = document.grow(start)
            if before < 0:
                self._growth = False
            else:
                self._grow(start[before:])

    def _grow(self, piece: str) -> None:
        """Emits a piece, but for a carriage return that may belong to the line break."""
        assert self._document is not None
        piece = self._held + piece
        self._held = "\r" if piece.endswith("\r") else ""
        self._document.grow_by(piece.removesuffix("\r"))

    # The end

    def _finish_raif(self, document: Document, *, complete: bool) -> Decoded:
        document.finish("".join(self._line), complete=complete)
        root: Any = document.root
        envelope = self._reader.envelope
        value = root if envelope is None else root.get(envelope)
        missing = envelope is not None and envelope not in root
        errors = list(document.findings.errors)
        if missing and not errors:
            errors.append(FieldError("", "required", "there is no value in the text"))
        return self._decide(
            value,
            errors,
            document.findings.repairs,
            document.text,
            truncated=document.findings.truncated,
            absent=missing,
        )

    def _finish_json(self, text: JsonDocument, *, complete: bool) -> Decoded:
        text.finish(complete=complete)
        return self._decide(
            text.value,
            text.errors,
            text.repairs,
            text.text,
            truncated=text.truncated,
            absent=not text.found and text.value is None,
        )

    def _decide(
        self,
        value: Any,
        errors: list[FieldError],
        repairs: Sequence[Repair],
        text: str,
        *,
        truncated: bool,
        absent: bool,
    ) -> Decoded:
        """Validates the value and emits its end if it is good."""
        if not absent:
            known = {error.path for error in errors}
            errors = errors + [error for error in self._reader.validate(value) if error.path not in known]
        ok = not errors and not truncated
        if ok and self._emitter is not None:
            if self._is_json:
                self._emitter.finish({ROOT: value})
            elif self._document is not None:
                self._emitter.finish(self._document.root)
        return Decoded(value, ok, tuple(repairs), tuple(errors), truncated, text)

    def _collect(self) -> list[Event]:
        if self._emitter is None:
            return []
        events = self._emitter.take()
        if events:
            delta = self._writer.write(events)
            self._json.append(delta)
            self._delta.append(delta)
        return events
