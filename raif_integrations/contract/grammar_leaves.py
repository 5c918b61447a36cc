"""What may stand behind a key, in a row and in a cell, for every node that fits there."""

from __future__ import annotations

from raif_integrations.contract import grammar_numbers, layout
from raif_integrations.contract.automaton import Automaton, intersect, write
from raif_integrations.contract.ebnf import Rules, alternatives, literal, sequence
from raif_integrations.contract.free_keys import key_language
from raif_integrations.contract.grammar_constraints import ConstrainedStrings
from raif_integrations.contract.grammar_strings import StringRules, inline_key
from raif_integrations.contract.numerals import write_number
from raif_integrations.contract.tree import Anything, Choice, Node, Object, Scalar, Union

Value = str | int | float | bool

_MOST_STATES = 10_000


class LeafRules:
    """Rules for the values that take one unit, one row or one cell.

    Args:
        rules: Where the rules are added.
        tagged: Strings may stand behind ``:s=`` also where nothing but a string can stand.
    """

    def __init__(self, rules: Rules, *, tagged: bool = True) -> None:
        self._rules = rules
        self._tagged = tagged
        self._strings = StringRules(rules)
        self._constrained = ConstrainedStrings(rules, self._strings)
        self._keys: dict[Automaton, str] = {}

    def leaf(self, node: Node, *, alone: bool = True) -> list[str]:
        """Alternatives for a scalar behind its key, separator included; empty for other nodes.

        Args:
            node: What stands there.
            alone: Nothing else can stand there.
        """
        parts: list[str] = []
        if isinstance(node, Union):
            for option in node.options:
                parts.extend(self.leaf(option, alone=False))
        elif isinstance(node, Choice):
            texts = alone and not node.nullable and all(isinstance(value, str) for value in node.values)
            tagged = self._tagged or not texts
            parts.extend(_choice_leaf(value, only_texts=texts, tagged=tagged) for value in node.values)
        elif isinstance(node, Anything):
            parts.append(self._strings.leaf())
        elif isinstance(node, Scalar):
            if node.type == "string":
                parts.append(self._constrained.leaf(node, tagged=self._tagged or not alone))
            else:
                parts.append(f'"=" {self._atom(node)}')
        if node.nullable and isinstance(node, (Scalar, Choice, Union)):
            parts.append('"=null"')
        return parts

    def row(self, node: Node) -> list[str]:
        """Alternatives for a scalar or a flat object as a row of an array literal."""
        parts: list[str] = []
        if isinstance(node, Union):
            for option in node.options:
                parts.extend(self.row(option))
        elif isinstance(node, Choice):
            for value in node.values:
                parts.extend(_choice_text(value, row=True))
        elif isinstance(node, Anything):
            parts.append(self._strings.row())
        elif isinstance(node, Object):
            parts.extend(self.inline(node))
        elif isinstance(node, Scalar):
            parts.append(self._constrained.row(node) if node.type == "string" else self._atom(node))
        if node.nullable and not isinstance(node, Anything):
            parts.append('"null"')
        return parts

    def cell(self, node: Node) -> list[str]:
        """Alternatives for a scalar in a table cell or an inline object."""
        parts: list[str] = []
        if isinstance(node, Union):
            for option in node.options:
                parts.extend(self.cell(option))
        elif isinstance(node, Choice):
            for value in node.values:
                parts.extend(_choice_text(value, row=False))
        elif isinstance(node, Anything):
            parts.append(self._strings.cell())
        elif isinstance(node, Scalar):
            parts.append(self._constrained.cell(node) if node.type == "string" else self._atom(node))
        if node.nullable and isinstance(node, (Scalar, Choice, Union)):
            parts.append('"null"')
        return parts

    def inline(self, node: Object) -> list[str]:
        """Alternatives for a flat object in one line (``{a=1,b=2}`` or ``{}``).

        Empty if a required key or value does not fit into an inline object. Optional ones that do not
        are left out.
        """
        pairs: list[tuple[str, bool]] = []
        for declared in node.properties:
            cells = self.cell(declared.node) if layout.is_inline_key(declared.name) else []
            if cells:
                key = literal(f"{layout.inline_key(declared.name)}=")
                pairs.append((f"{key} {alternatives(cells)}", declared.required))
            elif declared.required:
                return []
        body, may_be_empty = separated(self._rules, "inline", pairs, '","') if pairs else ("", True)
        bodies = [body] if body else []
        free = self._free_pair(node)
        if free:
            more = f'("," {free})*'
            bodies = [f"{one} {more}" for one in bodies]
            if may_be_empty:
                bodies.append(f"{free} {more}")
        parts = [f'"{{" {one} "}}"' for one in bodies]
        return [*parts, '"{}"'] if may_be_empty and node.min_properties == 0 else parts

    def _free_pair(self, node: Object) -> str:
        """Rule for a free key with its value; empty if there is none."""
        if node.additional is None:
            return ""
        declared = tuple(one.name for one in node.properties)
        pairs = []
        for pattern, below in node.patterns or ((node.additional_pattern, node.additional),):
            wanted = key_language(pattern, declared)
            keys = inline_key() if wanted is None else intersect(inline_key(), wanted, limit=_MOST_STATES)
            cells = self.cell(below)
            if cells and not keys.is_empty:
                if keys not in self._keys:
                    self._keys[keys] = write(keys, self._rules, "inline_key")
                pairs.append(sequence(self._keys[keys], '"="', alternatives(cells)))
        return self._rules.add("free_pair", alternatives(pairs)) if pairs else ""

    def _atom(self, node: Scalar) -> str:
        if node.type == "boolean":
            return self._rules.add("boolean", '"true" | "false"')
        write = grammar_numbers.integer if node.type == "integer" else grammar_numbers.number
        return self._rules.add(node.type, write(node.minimum, node.maximum))


def separated(rules: Rules, hint: str, parts: list[tuple[str, bool]], separator: str) -> tuple[str, bool]:
    """Parts in their order, each at most once, with a separator between those that are there.

    Args:
        rules: Where helper rules are added.
        hint: Stem of their names.
        parts: Body of each part, and whether it must be there.
        separator: Body of the separator.

    Returns:
        The body for at least one part, and whether there may be none at all.
    """
    tail = ""
    heads: list[str] = []
    closed = False
    for body, required in reversed(parts):
        unit = rules.add(f"{hint}_part", body) if " | " in body or not required else body
        heads = [*([] if required else heads), f"{unit} {tail}".strip()]
        behind = f"{separator} {unit} {tail}".strip()
        if required:
            tail, closed = behind, True
        elif tail:
            tail = rules.add(f"{hint}_rest", f"{behind} | {tail}")
        else:
            tail = f"({behind})?"
    return alternatives(list(reversed(heads))), not closed


def _choice_leaf(value: Value, *, only_texts: bool, tagged: bool) -> str:
    """A fixed value behind its key.

    Args:
        value: The value.
        only_texts: Nothing but strings can stand there, so that a bare ``1`` is a string too.
        tagged: A text may stand behind ``:s=`` also where it need not.
    """
    if not isinstance(value, str):
        return '"=" ' + alternatives([literal(text) for text in _atoms(value)])
    form = layout.leaf_form(value)
    bare_too = form == "tagged" and bool(value) and only_texts
    written = [] if bare_too and not tagged else [literal(layout.string_leaf(value))]
    if bare_too:
        written.append(literal(f"={value}"))
    elif form == "bare" and value[0] in "'\"" and tagged:
        written.append(literal(f":s={value}"))
    return alternatives(written)


def _choice_text(value: Value, *, row: bool) -> list[str]:
    """A fixed value as a row or a cell; empty if it does not fit there."""
    if not isinstance(value, str):
        return [literal(text) for text in _atoms(value)]
    if row:
        return [literal(layout.row(value))] if layout.is_row_text(value) else []
    return [literal(layout.cell(value))] if layout.is_cell_text(value) else []


def _atoms(value: int | float | bool) -> list[str]:
    """How a fixed number or truth value may be written."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    texts = [write_number(value)]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        texts.append(str(int(value)))
    return texts
