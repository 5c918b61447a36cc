"""The languages of strings: which texts may stand behind a key, in a row, in a cell, in a block.

They follow ``layout``: a text is bare exactly where ``layout`` writes it bare, so that what is read
never looks like the opening line of a block, a second cell or a blank row. A bare text may also be one
that ``layout`` would tag (``123`` under a string field is the string), and one that is wrapped in
``<<<`` ``>>>``: both read as strings.

Every state that admits nearly all characters costs a walk over the vocabulary when a grammar is
compiled (about 10 ms for 49,000 tokens), so the states are few and shared.
"""

from __future__ import annotations

from raif_integrations.contract.automaton import Automaton, Edges, write, write_states
from raif_integrations.contract.ebnf import (
    CharSet,
    Rules,
    char_class,
    charset,
    complement,
    difference,
    union,
)
from raif_integrations.contract.layout import WHITESPACE

_BREAKS = charset("\n")
_EDGE = charset(WHITESPACE)
_SPACE = charset(" \t\v\f\r")
_CELL_SPACE = charset(" \t\v\f")
_EQUALS = charset("=")
_LESS = charset("<")
_MORE = charset(">")
_OPENING = charset("[{")
_HEX = charset((0x30, 0x39), "abcdefABCDEF")

# States of a bare text
_START, _TEXT, _SPACED, _EQUAL, _ANGLE = range(5)


def _other(admitted: CharSet, *sets: CharSet) -> CharSet:
    return difference(admitted, union(*sets))


def bare_leaf(start_without: CharSet = ()) -> Automaton:
    """Texts that may stand bare behind ``key=``.

    Not empty, no white space in front, no ASCII white space at the end (other white space there is
    trimmed by the reader at most), no line break, no ``<<`` in front or behind ``=``, and no end that
    reads as the opening of a block (``layout.OPENER_TAIL``).

    Args:
        start_without: Characters that the text may not start with.
    """
    any_char = complement(_BREAKS)
    text: Edges = (
        (_other(any_char, _SPACE, _EQUALS), _TEXT),
        (_EQUALS, _EQUAL),
        (_SPACE, _SPACED),
    )
    start: Edges = (
        (_other(any_char, _EDGE, _EQUALS, _LESS, _OPENING, start_without), _TEXT),
        (_EQUALS, _EQUAL),
        (_OPENING, _SPACED),
        (_LESS, _ANGLE),
    )
    equal: Edges = (
        (_other(any_char, _SPACE, _EQUALS, _LESS, _OPENING), _TEXT),
        (_EQUALS, _EQUAL),
        (union(_OPENING, _SPACE), _SPACED),
        (_LESS, _ANGLE),
    )
    angle: Edges = (
        (_HEX, _ANGLE),
        (_other(any_char, _SPACE, _EQUALS, _HEX, _LESS), _TEXT),
        (_EQUALS, _EQUAL),
        (_SPACE, _SPACED),
    )
    return Automaton((start, text, text, equal, angle), frozenset({_TEXT, _EQUAL}))


def bare_cell() -> Automaton:
    """Texts that may stand bare in a table cell or an inline object."""
    any_char = complement(charset("\n\r,{}"))
    plain = _other(any_char, _CELL_SPACE, _EQUALS, _LESS)
    open_bracket = charset("[")
    text: Edges = ((plain, _TEXT), (_EQUALS, _EQUAL), (_CELL_SPACE, _SPACED), (_LESS, _ANGLE))
    start: Edges = (
        (_other(plain, open_bracket, _EDGE), _TEXT),
        (_EQUALS, _EQUAL),
        (open_bracket, _SPACED),
    )
    equal: Edges = (
        (difference(plain, open_bracket), _TEXT),
        (_EQUALS, _EQUAL),
        (union(open_bracket, _CELL_SPACE), _SPACED),
    )
    angle: Edges = ((plain, _TEXT), (_EQUALS, _EQUAL), (_CELL_SPACE, _SPACED))
    return Automaton((start, text, text, equal, angle), frozenset({_TEXT, _EQUAL, _ANGLE}))


def inline_key() -> Automaton:
    """Free keys of an inline object that need no quotes there (``layout.inline_key``)."""
    inside = complement(charset(".[]=:,{}<>\n\r \t"))
    space = charset(" \t")
    text: Edges = ((inside, 1), (space, 2))
    return Automaton((((difference(inside, charset(WHITESPACE)), 1),), text, text), frozenset({1}))


class StringRules:
    """The unconstrained string languages of one grammar, each written once and only if used."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._names: dict[str, str] = {}
        self._bare: list[str] = []

    def bare(self) -> str:
        """Rule for a bare text behind a key."""
        return self._state(_START)

    def row(self) -> str:
        """Rule for a row of an array literal.

        It shares the states of :meth:`bare` behind its first character; a carriage return inside a row
        is admitted with them, which no reader minds.
        """
        if "row" not in self._names:
            chars = complement(union(_EDGE, _EQUALS, _LESS, _OPENING, charset("]")))
            body = (
                f"{char_class(chars)} {self._state(_TEXT)} | {char_class(_OPENING)} {self._state(_SPACED)}"
                f" | {char_class(_EQUALS)} {self._state(_EQUAL)} | {char_class(_LESS)} {self._state(_ANGLE)}"
            )
            content = char_class(complement(charset("\n\r>")))
            self._names["row"] = self._rules.add("row", f'{body} | "<<<" {content}* ">>>"')
        return self._names["row"]

    def cell(self) -> str:
        """Rule for a string in a table cell or an inline object, bare or wrapped."""
        if "cell" not in self._names:
            bare = write(bare_cell(), self._rules, "cell")
            self._names["cell"] = self._rules.add("cell_text", f'{bare} | "<<<" {self._wrapped()}')
        return self._names["cell"]

    def block(self, *, empty: bool) -> str:
        """Rule for the lines of a block behind ``<<<`` and its line break, closing line included.

        A line of three or more ``>`` alone would close the block and is left out. A line that starts
        with ``>`` goes on after its last ``>`` with something else, or is ``>`` or ``>>``.

        Args:
            empty: Whether the block may hold the empty text.
        """
        key = "block" if empty else "filled_block"
        if key in self._names:
            return self._names[key]
        line = self._rules.reserve("block_line")
        within = self._rules.reserve("block_text")
        quoted = self._rules.reserve("block_quote")
        content = char_class(complement(charset("\n>")))
        going_on = f'{content} {within} | ">" {quoted} | ">\\n" {line} | ">>\\n" {line}'
        self._rules.define(line, f'">>>" | "\\n" {line} | {going_on}')
        self._rules.define(within, f'{char_class(complement(_BREAKS))} {within} | "\\n" {line}')
        self._rules.define(
            quoted, f'{char_class(complement(charset(chr(10), chr(13), ">")))} {within} | ">" {quoted}'
        )
        self._names["block"] = line
        second = self._rules.add("block_second", f'"\\n" {line} | {going_on}') if not empty else ""
        if not empty:
            self._names[key] = self._rules.add("block_first", f'"\\n" {second} | {going_on}')
        return self._names[key]

    def leaf(self, *, empty: bool = True, tagged: bool = True) -> str:
        """Rule for what follows the key of a string: separator and text.

        Args:
            empty: Whether the empty string is allowed.
            tagged: Whether the text may stand behind ``:s=``.
        """
        bare = self.bare()
        content = char_class(complement(charset("\n>")))
        parts = [f'"=" {bare}']
        if tagged:
            parts.append(f'":s=" {bare}?' if empty else f'":s=" {bare}')
        parts.append(f'"=<<<" {content}{"*" if empty else "+"} ">>>"')
        parts.append(f'"=<<<\\n" {self.block(empty=empty)}')
        return self._rules.add("string", " | ".join(parts))

    def _state(self, state: int) -> str:
        """Name of a state's rule of the bare text."""
        if not self._bare:
            self._bare = write_states(bare_leaf(), self._rules, "text")
        return self._bare[state]

    def _wrapped(self) -> str:
        """Rule for the content of a wrapped cell and its ``>>>``; the content holds no ``>>>``."""
        content = complement(charset("\n\r"))
        plain = difference(content, _MORE)
        edges: tuple[Edges, ...] = (
            ((plain, 0), (_MORE, 1)),
            ((plain, 0), (_MORE, 2)),
            ((plain, 0), (_MORE, 3)),
            ((_MORE, 4),),
            ((_MORE, 5),),
            (),
        )
        return write(Automaton(edges, frozenset({3, 4, 5})), self._rules, "wrapped")
