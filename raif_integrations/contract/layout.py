"""How a value is laid out in RAIF-G: one order, one form for each value.

Encoder, grammar and decoder share these rules. The layout is RAIF's generation profile (ADR-0019 of
the RAIF specification) with one difference: each nested object is contiguous, so that a stream can
close it when it is left.

Order of the units of one object:

1. scalars, nested objects, maps, unions, untyped fields and arrays of deep elements, sorted by key;
2. arrays of flat objects (usually tables), sorted by key;
3. other arrays, sorted by key.

The class depends on the schema alone, never on the value: an empty array stands where a full one
would, a multi-line string where a single-line one would. Undeclared keys count to the first class.

Forms:

* string leaf: ``key=text``; ``key:s=text`` where the bare text would read as something else;
  ``key=<<<text>>>`` where its edges matter and it holds no ``>``; ``key=<<<`` … ``>>>`` around several
  lines, or one;
* array: ``key=[]``; a table (``key::a,b``, ``key[0]=1,2``) for two or more flat objects with the same
  keys; an array literal (``key=[`` … ``]``, one element a line); otherwise ``key[0].a=…`` paths;
* object: its leaves under ``key.``; ``key={}`` if empty; ``{a=1,b=2}`` inside an array literal and, if it
  is described and flat, under a free key;
* list under a free key or below an untyped field: never a table; below an untyped field JSON on one line
  where its elements are lists or objects of more than scalars.

There are no ``<raif>`` markers and no final line break.

Indices are advice. A context-free grammar can neither count rows nor make the index of an element repeat
on each of its lines, so a reader of a text that was generated under one goes by position: a table row
appends; a path line (``key[7].a=…``) starts a new element where the order of the element's units starts
again. Where that does not tell elements apart, because no key stands on a line of every element, the
grammar lets even and odd indices take turns, and a change of parity starts a new element. Otherwise the
digits are free. A text with the right indices is read the same either way, and no element is dropped,
reordered or left out because of an index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from raif_integrations.contract.tree import (
    Anything,
    Array,
    Choice,
    Node,
    Object,
    Reference,
    Scalar,
    Union,
)

OPEN = "<<<"
CLOSE = ">>>"

WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""ECMAScript white space, which RAIF trims by (it differs from Python's)."""

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""JSON's number grammar; use ``fullmatch``."""

OPENER_TAIL = re.compile(r"(?:^|=)(?:<{1,3}[0-9a-fA-F]*|\[|\{)$")
"""A bare text that ends like this would read as the opening line of a block."""

_UNSAFE_IN_LINE = re.compile(r"(?:^|=)<<")
_UNSAFE_IN_CELL = re.compile(r"<<|(?:^|=)<")
"""Kept out of bare texts beside what RAIF itself keeps out: ``<<<`` would start a wrapped text.

A little wider than necessary: the grammar's automaton for strings needs one state for it instead of
four, and each state costs compile time."""

LITERALS = frozenset({"true", "false", "null", "[]", "{}"})

Form: TypeAlias = Literal["bare", "tagged", "wrapped", "block"]
"""How a string leaf is written, in order of preference."""

Placement: TypeAlias = Literal[0, 1, 2]


# Order


def placement(node: Node, definitions: Mapping[str, Node]) -> Placement:
    """The class of a property's unit: 0 leaf or nested object, 1 table, 2 other array."""
    if isinstance(node, Reference):
        node = definitions.get(node.target, node)
    if not isinstance(node, Array):
        return 0
    elements = (*node.prefix, *((node.items,) if node.items is not None else ()))
    shapes = [is_flat(element) for element in elements]
    if any(shape is None for shape in shapes):
        return 0
    return 1 if shapes and all(shapes) else 2


def is_flat(node: Node) -> bool | None:
    """True for an object of scalars, ``None`` for a deep node, false for a scalar or an open one."""
    if isinstance(node, (Array, Reference)):
        return None
    if isinstance(node, Object):
        if not node.properties:
            return False
        return True if all(is_scalar(declared.node) for declared in node.properties) else None
    return False


def is_scalar(node: Node) -> bool:
    """Whether every value of the node fits into a cell by its schema (untyped values count)."""
    if isinstance(node, Union):
        return all(is_scalar(option) for option in node.options)
    return isinstance(node, (Scalar, Choice, Anything))


def is_single_line(node: Node) -> bool:
    """Whether every value of the node stands on a line with nothing but its own key behind the path."""
    if isinstance(node, Union):
        return all(map(is_single_line, node.options))
    return isinstance(node, (Scalar, Choice))


# Keys


def has_edge_space(text: str) -> bool:
    """Whether trimming would change a text."""
    return text.strip(WHITESPACE) != text


def is_writable_key(key: str) -> bool:
    """Whether a key can stand in a path at all."""
    return not (OPEN in key or CLOSE in key or "\n" in key or "\r" in key)


def path_key(key: str) -> str:
    """A key as it stands in a path, quoted where needed (``<<<a.b>>>``).

    Raises:
        ValueError: The key holds ``<<<``, ``>>>`` or a line break.
    """
    if not is_writable_key(key):
        raise ValueError(f"RAIF cannot carry the key {key!r}")
    quoted = not key or any(character in ".[]=:" for character in key) or has_edge_space(key)
    return f"{OPEN}{key}{CLOSE}" if quoted else key


def join(prefix: str, key: str) -> str:
    """A path one key deeper."""
    return f"{prefix}.{path_key(key)}" if prefix else path_key(key)


def is_inline_key(key: str) -> bool:
    """Whether a key can stand in an inline object (``{a=1,b=2}``)."""
    return bool(key) and is_writable_key(key)


def inline_key(key: str) -> str:
    """A key as it stands in an inline object."""
    quoted = any(character in ".[]=:,{}" for character in key) or has_edge_space(key)
    return f"{OPEN}{key}{CLOSE}" if quoted else key


def is_column(key: str) -> bool:
    """Whether a key can be a column of a table."""
    return is_inline_key(key) and not has_edge_space(key) and not any(c in ",=:{}" for c in key)


# Strings


def looks_typed(text: str) -> bool:
    """Whether an untyped reader would take a bare text for something else than a string."""
    return (
        text in LITERALS
        or NUMBER.fullmatch(text) is not None
        or (text.startswith("{") and text.endswith("}"))
    )


def leaf_form(text: str) -> Form:
    """How a string is written behind its key."""
    if "\n" in text:
        return "block"
    if has_edge_space(text) or OPENER_TAIL.search(text) or _UNSAFE_IN_LINE.search(text):
        return "block" if ">" in text else "wrapped"
    if not text or CLOSE in text or looks_typed(text):
        return "tagged"
    return "bare"


def nonce_for(text: str) -> str:
    """The shortest nonce under which no line of a text closes its block; usually none."""
    lines = {line[:-1] if line.endswith("\r") else line for line in text.split("\n")}
    nonce = ""
    count = 0
    while CLOSE + nonce in lines:
        nonce = f"{count:x}"
        count += 1
    return nonce


def string_leaf(text: str) -> str:
    """A string as it stands behind its key, the separator included."""
    form = leaf_form(text)
    if form == "bare":
        return f"={text}"
    if form == "tagged":
        return f":s={text}"
    if form == "wrapped":
        return f"={OPEN}{text}{CLOSE}"
    nonce = nonce_for(text)
    return f"={OPEN}{nonce}\n{text}\n{CLOSE}{nonce}"


def is_cell_text(text: str) -> bool:
    """Whether a string can stand in a table cell or an inline object at all."""
    return not ("\n" in text or "\r" in text or CLOSE in text)


def cell(text: str) -> str:
    """A string as it stands in a table cell or an inline object."""
    wrapped = (
        not text
        or has_edge_space(text)
        or any(character in ",{}" for character in text)
        or _UNSAFE_IN_CELL.search(text) is not None
        or looks_typed(text)
        or OPENER_TAIL.search(text) is not None
    )
    return f"{OPEN}{text}{CLOSE}" if wrapped else text


def is_row_text(text: str) -> bool:
    """Whether a string can be a row of an array literal at all."""
    return not ("\n" in text or "\r" in text or (_is_wrapped_row(text) and ">" in text))


def row(text: str) -> str:
    """A string as a row of an array literal."""
    return f"{OPEN}{text}{CLOSE}" if _is_wrapped_row(text) else text


def _is_wrapped_row(text: str) -> bool:
    return (
        not text
        or has_edge_space(text)
        or text.startswith("]")
        or OPENER_TAIL.search(text) is not None
        or _UNSAFE_IN_LINE.search(text) is not None
        or looks_typed(text)
    )


# Arrays


def table_columns(rows: list[Any]) -> tuple[str, ...] | None:
    """The columns of a table, or ``None`` if the array is not written as one.

    A table needs at least two objects with the same keys and nothing but scalars that fit into cells.
    """
    if len(rows) < 2 or not isinstance(rows[0], dict) or not rows[0]:
        return None
    keys = rows[0].keys()
    if not all(map(is_column, keys)):
        return None
    for element in rows:
        if not isinstance(element, dict) or element.keys() != keys:
            return None
        if not all(map(is_cell, element.values())):
            return None
    return tuple(sorted(keys))


def is_cell(value: Any) -> bool:
    """Whether a value can stand in a cell: a scalar without line breaks."""
    if isinstance(value, str):
        return is_cell_text(value)
    return value is None or isinstance(value, (bool, int, float))


def is_literal_row(value: Any) -> bool:
    """Whether a value can be a row of an array literal: a scalar or a flat object."""
    if isinstance(value, str):
        return is_row_text(value)
    if isinstance(value, dict):
        return bool(value) and all(map(is_inline_key, value)) and all(map(is_cell, value.values()))
    return value is None or isinstance(value, (bool, int, float))
