"""Arrays: empty, as a literal, as a table, or one path per element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from raif_integrations.contract import layout
from raif_integrations.contract.ebnf import Rules, alternatives, literal, sequence
from raif_integrations.contract.grammar_leaves import LeafRules
from raif_integrations.contract.shape import Shape
from raif_integrations.contract.tree import Anything, Array, Choice, Node, Object, Property, Scalar, Union

_LARGEST_COUNT = 4096
"""``minItems`` and ``maxItems`` beyond this are left to the validator."""

_MOST_OPTIONAL_COLUMNS = 3
"""With more optional columns, a table has all of them or none; rows that differ are a literal."""

_BREAK = '"\\n"'
_INDEX = '("0" | [1-9] [0-9]{0,5})'
_INDEX_OF_PARITY = (
    "([02468] | [1-9] [0-9]{0,4} [02468])",
    "([13579] | [1-9] [0-9]{0,4} [13579])",
)


class ArrayRules:
    """Rules for arrays behind a fixed path.

    Args:
        rules: Where the rules are added.
        leaves: The rules for values in one line.
        units_at: Gives the alternatives for all lines of a value at a path.
    """

    def __init__(
        self, rules: Rules, leaves: LeafRules, units_at: Callable[[str, Node, Shape], list[str]]
    ) -> None:
        self._rules = rules
        self._leaves = leaves
        self._units_at = units_at

    def units(self, prefix: str, node: Array, shape: Shape) -> list[str]:
        """Alternatives for all lines of an array.

        Args:
            prefix: Body for its path.
            node: The array.
            shape: Its place.
        """
        parts = [sequence(prefix, body) for body in self.literals(node)]
        most = node.max_items
        if node.items is not None and not node.prefix and (most is None or most >= 2):
            parts.extend(self._tables(prefix, node, node.items))
        if self._needs_paths(node):
            parts.extend(self._paths(prefix, node, shape))
        return parts

    def literals(self, node: Array) -> list[str]:
        """Alternatives for an array in one unit behind its path: empty, or a literal of rows."""
        parts = ['"=[]"'] if node.min_items == 0 else []
        rows = self._elements(node, lambda index, element: self._leaves.row(element), first_breaks=True)
        return [*parts, sequence('"=["', rows, '"\\n]"')] if rows else parts

    def _elements(
        self,
        node: Array,
        write: Callable[[int, Node], list[str]],
        *,
        first_breaks: bool,
        alternate: bool = False,
    ) -> str:
        """At least one element; empty if there can be none.

        Args:
            node: The array.
            write: Gives the alternatives for the element at an index.
            first_breaks: The first element too stands on a new line.
            alternate: Elements at even and at odd indices are written differently.
        """
        least = max(node.min_items, 1)
        most = node.max_items
        prefix = node.prefix if most is None else node.prefix[:most]
        body: str | None = ""
        if node.items is not None and (most is None or most > len(prefix)):
            rows = [write(len(prefix) + turn, node.items) for turn in range(2 if alternate else 1)]
            room = None if most is None else most - len(prefix)
            fewest = max(least - len(prefix), 0)
            body = self._repeated(rows, fewest, room, first_breaks or bool(prefix)) if all(rows) else None
        for index in range(len(prefix) - 1, -1, -1):
            if body is None and index + 1 < least:
                return ""
            row = write(index, prefix[index])
            breaks = _BREAK if first_breaks or index else ""
            body = sequence(breaks, alternatives(row), body or "") if row else None
            if body is not None and index >= least:
                body = f"({body})?"
        return body or ""

    def _repeated(self, rows: list[list[str]], least: int, most: int | None, first_breaks: bool) -> str:
        """Elements of one kind.

        Args:
            rows: How an element is written; two ways take turns.
            least: Least number of elements.
            most: Largest number of elements.
            first_breaks: The first element too stands on a new line.
        """
        elements = [self._rules.add("element", sequence(_BREAK, alternatives(row))) for row in rows]
        if first_breaks:
            return self._in_turn(elements, least, most)
        behind = self._in_turn(
            [*elements[1:], elements[0]], max(least - 1, 0), None if most is None else most - 1
        )
        return sequence(self._rules.add("element", alternatives(rows[0])), behind if most != 1 else "")

    def _in_turn(self, elements: list[str], least: int, most: int | None) -> str:
        """A counted repetition of one element, or of two that take turns."""
        if len(elements) == 1:
            return elements[0] + _count(least, most)
        first, second = elements
        pair = self._rules.add("pair", sequence(first, second))
        parts = []
        for rest in (0, 1):
            fewest = max(-(-(least - rest) // 2), 0)
            room = None if most is None else (most - rest) // 2
            if room is None or room >= fewest:
                pairs = "" if room == 0 else pair + _count(fewest, room)
                parts.append(sequence(pairs, first if rest else "") or '""')
        return alternatives(parts)

    def _tables(self, prefix: str, node: Array, items: Node) -> list[str]:
        """Tables with every set of columns that the rows may share."""
        rows: dict[str, list[str]] = {}
        for option in items.options if isinstance(items, Union) else (items,):
            if isinstance(option, Object) and layout.is_flat(option):
                for header, cells in self._rows(option):
                    rows.setdefault(header, []).append(cells)
        count = _count(max(node.min_items, 2), node.max_items)
        parts = []
        for header, kinds in rows.items():
            body = sequence(_BREAK, prefix, '"["', self.index(), '"]="', alternatives(kinds))
            parts.append(sequence(prefix, header, self._rules.add("table_row", body) + count))
        return parts

    def _rows(self, row: Object) -> Iterator[tuple[str, str]]:
        """The headers that a flat object can stand under, and its cells there."""
        columns: list[tuple[Property, str]] = []
        for declared in row.properties:
            cells = self._leaves.cell(declared.node) if layout.is_column(declared.name) else []
            if cells:
                columns.append((declared, alternatives(cells)))
            elif declared.required:
                return
        most = len(columns) if row.max_properties is None else row.max_properties
        for chosen in _column_sets([declared for declared, _ in columns]):
            if max(row.min_properties, 1) <= len(chosen) <= most:
                names = {declared.name for declared in chosen}
                header = literal("::" + ",".join(declared.name for declared in chosen))
                yield header, ' "," '.join(body for declared, body in columns if declared.name in names)

    def _needs_paths(self, node: Array) -> bool:
        """Whether some element does not fit into a row, or not always (a text with a line break)."""
        elements = [*node.prefix, *([node.items] if node.items is not None else [])]
        return any(_is_deep(element) or _has_free_text(element) for element in elements)

    def _paths(self, prefix: str, node: Array, shape: Shape) -> list[str]:
        """One path for each line of each element.

        Where the order of keys does not tell elements apart, even and odd indices take turns.
        """
        by_order = shape.elements_by_order

        def element(index: int, below: Node) -> list[str]:
            digits = self.index() if by_order else self._index_of_parity(index % 2)
            return self._units_at(sequence(prefix, '"["', digits, '"]"'), below, shape.element(index))

        lines = self._elements(node, element, first_breaks=False, alternate=not by_order)
        return [lines] if lines else []

    def index(self) -> str:
        """Rule for the digits of an index."""
        return self._rules.add("index", _INDEX)

    def _index_of_parity(self, parity: int) -> str:
        """Rule for the digits of an even (0) or an odd (1) index."""
        return self._rules.add("odd_index" if parity else "even_index", _INDEX_OF_PARITY[parity])


def _is_deep(node: Node) -> bool:
    """Whether a value may need more than one line."""
    if isinstance(node, Union):
        return any(map(_is_deep, node.options))
    return layout.is_flat(node) is None


def _has_free_text(node: Node) -> bool:
    """Whether a text with a line break may stand in an element of scalars."""
    if isinstance(node, Union):
        return any(map(_has_free_text, node.options))
    if isinstance(node, Object):
        below = [declared.node for declared in node.properties]
        return any(map(_has_free_text, [*below, *([node.additional] if node.additional is not None else [])]))
    if isinstance(node, Choice):
        return not all(layout.is_cell_text(value) for value in node.values if isinstance(value, str))
    return isinstance(node, Anything) or (isinstance(node, Scalar) and node.type == "string")


def _column_sets(columns: list[Property]) -> list[list[Property]]:
    optional = [declared for declared in columns if not declared.required]
    if len(optional) > _MOST_OPTIONAL_COLUMNS:
        return [columns, [declared for declared in columns if declared.required]]
    sets: list[list[Property]] = []
    for size in range(len(optional), -1, -1):
        sets.extend(
            [declared for declared in columns if declared.required or declared in chosen]
            for chosen in combinations(optional, size)
        )
    return sets


def _count(least: int, most: int | None) -> str:
    """A repetition; bounds that are too large are left out."""
    least = least if least <= _LARGEST_COUNT else 0
    if most is not None and most <= _LARGEST_COUNT:
        return f"{{{least},{most}}}"
    return {0: "*", 1: "+"}.get(least, f"{{{least},}}")
