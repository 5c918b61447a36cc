"""The typed tree: what a JSON Schema says, with every reference resolved and every keyword read.

Cue, grammar, encoder and decoders are all made from this one tree, so that they cannot disagree.
``schema.py`` builds it. Nodes are immutable and compared by identity; a recursive schema is a
:class:`Reference` into :attr:`Tree.definitions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

JsonScalar: TypeAlias = str | int | float | bool | None
ScalarType: TypeAlias = Literal["string", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Node:
    """What every node has.

    Attributes:
        nullable: ``null`` is allowed beside what the node describes.
        description: The schema's ``description``, for the described cue.
        loose: The schema only implies the type (``properties`` without ``type``): values of other types
            are valid too. They are read and encoded, but never generated.
        limit: Why no grammar can keep what the schema says here, beyond what the tree says; ``None`` if
            the tree says it all.
    """

    nullable: bool = False
    description: str | None = None
    loose: bool = False
    limit: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scalar(_Node):
    """A string, integer, number or boolean, with the limits a grammar can enforce.

    Attributes:
        type: The JSON type.
        min_length: Least number of characters (strings).
        max_length: Largest number of characters (strings).
        pattern: ECMA-262 regular expression (strings).
        format: ``date``, ``date-time``, ``uuid`` … (strings).
        minimum: Inclusive lower bound (numbers); an exclusive integer bound is already shifted.
        maximum: Inclusive upper bound (numbers); an exclusive integer bound is already shifted.
    """

    type: ScalarType
    min_length: int = 0
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choice(_Node):
    """One of a fixed set of scalar values (``enum``, ``const``), kept with their JSON types.

    ``null`` among the values of the schema is kept as ``nullable``, so that ``values`` holds none;
    a choice of null alone has no values and is nullable.
    """

    values: tuple[str | int | float | bool, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Property:
    """A declared key of an object."""

    name: str
    node: Node
    required: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Object(_Node):
    """An object with declared keys, free keys, or both.

    Attributes:
        properties: Declared keys, sorted by code point (the trained order); declaration order is kept
            in ``declared_order``.
        additional: What the value of any other key must look like; ``None`` if other keys are
            forbidden or not described (a closed world: undeclared keys are never generated).
        additional_pattern: ECMA-262 regular expression the free keys must match
            (``patternProperties``, ``propertyNames``), or ``None`` for any key.
        min_properties: Least number of keys.
        max_properties: Largest number of keys.
        declared_order: Names of ``properties`` as the schema lists them.
        patterns: ``patternProperties`` one by one, for reading; ``additional`` covers them for generating.
        rest: What a key that neither ``properties`` nor ``patterns`` covers looks like when it is read;
            ``None`` if such keys are forbidden.
    """

    properties: tuple[Property, ...]
    additional: Node | None = None
    additional_pattern: str | None = None
    min_properties: int = 0
    max_properties: int | None = None
    declared_order: tuple[str, ...] = ()
    patterns: tuple[tuple[str, Node], ...] = ()
    rest: Node | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Array(_Node):
    """A list.

    Attributes:
        items: What each element after the prefix must look like; ``None`` forbids further elements.
        prefix: What the first elements must look like (``prefixItems``, a tuple).
        min_items: Least number of elements.
        max_items: Largest number of elements.
        unique: Elements must differ.
    """

    items: Node | None
    prefix: tuple[Node, ...] = ()
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Union(_Node):
    """One of several shapes (``anyOf``, ``oneOf``, a list of types). Never nested; null is ``nullable``."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Anything(_Node):
    """An untyped value: any JSON. Always nullable."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reference(_Node):
    """A place where the schema refers back to a part of itself that is still open (recursion)."""

    target: str


Node: TypeAlias = Scalar | Choice | Object | Array | Union | Anything | Reference


@dataclass(frozen=True, slots=True)
class Limit:
    """A field that RAIF cannot carry.

    Attributes:
        path: Path of the field, ``items[].meta`` style; empty for the root.
        reason: Why, in a sentence for the schema's author.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A whole schema.

    Attributes:
        root: Always an :class:`Object`; a schema with another root is wrapped under ``envelope``.
        definitions: Targets of the :class:`Reference` nodes.
        envelope: Key under which a non-object root value travels, or ``None``.
        limits: Fields that RAIF cannot carry; empty means the wire is RAIF.
    """

    root: Object
    definitions: Mapping[str, Node] = field(default_factory=dict)
    envelope: str | None = None
    limits: tuple[Limit, ...] = ()
