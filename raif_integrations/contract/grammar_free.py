"""Free keys and untyped values: lines whose path is not known beforehand.

A line whose key is free stands for itself: no rule can make a second line repeat its key. So a value
under a free key takes one line or one block; arrays there are literals, described objects are inline.
An untyped object is any number of lines with paths of any depth below its own; an untyped list is a
literal, or JSON on one line, which a bare text can always be. That no two lines claim the same place is
left to the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence

from raif_integrations.contract.automaton import (
    Automaton,
    Edges,
    intersect,
    write,
)
from raif_integrations.contract.ebnf import (
    Rules,
    alternatives,
    charset,
    complement,
    difference,
    sequence,
    union,
)
from raif_integrations.contract.free_keys import key_language
from raif_integrations.contract.grammar_arrays import ArrayRules
from raif_integrations.contract.grammar_leaves import LeafRules
from raif_integrations.contract.layout import WHITESPACE
from raif_integrations.contract.tree import Anything, Array, Node, Object, Union

_MOST_STATES = 10_000


def bare_key() -> Automaton:
    """Keys that need no quotes in a path (``layout.path_key``); without ``<``."""
    special = charset("\n.[]=:<")
    space = charset(" \t")
    inside = difference(complement(union(special, charset("\r"))), space)
    start = difference(inside, charset(WHITESPACE, "`"))
    text: Edges = ((inside, 1), (space, 2))
    return Automaton((((start, 1),), text, text), frozenset({1}))


def quoted_key() -> Automaton:
    """Keys between ``<<<`` and ``>>>``: empty, or with a character that needs the quotes."""
    special = charset(".[]=:")
    inside = complement(charset("\n\r<>"))
    plain: Edges = ((difference(inside, special), 1), (special, 2))
    return Automaton((plain, plain, ((inside, 2),)), frozenset({0, 2}))


class FreeRules:
    """Rules for free keys and untyped values.

    Args:
        rules: Where the rules are added.
        leaves: The rules for values in one line.
    """

    def __init__(self, rules: Rules, leaves: LeafRules) -> None:
        self._rules = rules
        self._leaves = leaves
        self._literals = ArrayRules(rules, leaves, lambda prefix, node, shape: [])
        self._open: str | None = None
        self._written: dict[Automaton, str] = {}

    def key(self, pattern: str | None, declared: Sequence[str]) -> str | None:
        """Rule for a free key.

        Args:
            pattern: What the key must match, if anything.
            declared: Keys that are not free.

        Returns:
            The name of the rule, or ``None`` if there is no such key.
        """
        wanted = key_language(pattern, tuple(declared))
        parts = []
        for base, hint in ((bare_key(), "key"), (quoted_key(), "quoted_key")):
            automaton = base if wanted is None else intersect(base, wanted, limit=_MOST_STATES)
            if not automaton.is_empty:
                name = self._shared(automaton, hint)
                parts.append(name if hint == "key" else f'"<<<" {name} ">>>"')
        return self._rules.add("free_key", " | ".join(parts)) if parts else None

    def behind(self, node: Node) -> list[str]:
        """Alternatives for what stands behind a free key; empty if the value needs more lines."""
        if isinstance(node, Anything):
            return [self._open_tail()]
        parts = self._leaves.leaf(node)
        for option in node.options if isinstance(node, Union) else (node,):
            if isinstance(option, Array):
                parts.extend(self._literals.literals(option))
            elif isinstance(option, Object):
                parts.extend(sequence('"="', body) for body in self._leaves.inline(option))
        if node.nullable and isinstance(node, (Object, Array)):
            parts.append('"=null"')
        return parts

    def units(self, prefix: str) -> list[str]:
        """Alternatives for an untyped value that is not a scalar.

        Args:
            prefix: Body for its path.
        """
        line = self._rules.add("open_line", sequence(prefix, '"."', self._any_key(), self._open_tail()))
        return [sequence(prefix, self._list()), f'{line} ("\\n" {line})*']

    def _open_tail(self) -> str:
        """Rule for the rest of a line below an untyped value: further keys and the value."""
        if self._open is None:
            self._open = self._rules.reserve("open")
            leaf = self._leaves.leaf(Anything())
            self._rules.define(
                self._open,
                " | ".join(
                    [
                        *leaf,
                        self._list(),
                        f'"." {self._any_key()} {self._open}',
                    ]
                ),
            )
        return self._open

    def _any_key(self) -> str:
        key = self.key(None, ())
        assert key is not None
        return key

    def _list(self) -> str:
        row = alternatives(self._leaves.row(Anything()))
        return self._rules.add("open_list", f'"=[" ("\\n" {row})+ "\\n]"')

    def _shared(self, automaton: Automaton, hint: str) -> str:
        if automaton not in self._written:
            self._written[automaton] = write(automaton, self._rules, hint)
        return self._written[automaton]
