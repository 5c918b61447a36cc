"""The typed tree as a grammar: every sentence decodes without a repair and keeps to the schema.

The grammar is EBNF in xgrammar's dialect with the start rule ``root``; equal trees give equal text. It
follows ``layout``: the order of units is fixed, an optional key is there or not, ``null`` stands only
where it is allowed, and nothing is counted that the schema does not count. The final line break is
optional: a model trained without one stops right behind the last value.

What a context-free grammar cannot say is left to the decoder: that free keys differ from each other,
that elements differ (``uniqueItems``), and that the index of an element repeats on its lines (see
``layout``: indices are advice).
"""

from __future__ import annotations

from raif_integrations.contract import layout
from raif_integrations.contract.cue import CueStyle
from raif_integrations.contract.ebnf import Rules, alternatives, literal, sequence
from raif_integrations.contract.grammar_arrays import ArrayRules
from raif_integrations.contract.grammar_free import FreeRules
from raif_integrations.contract.grammar_leaves import LeafRules
from raif_integrations.contract.grammar_objects import Unit, units_body
from raif_integrations.contract.shape import Shape, Shapes
from raif_integrations.contract.tree import Anything, Array, Node, Object, Reference, Tree, Union


def grammar(tree: Tree, style: CueStyle = "trained") -> str:
    """Write the grammar of a tree whose wire is RAIF.

    Args:
        tree: The tree; it must have no limits.
        style: The cue that is shown with it. RAIF adapters write ``:s=`` before a text that looks like
            something else (``code:s=150``). Models that were not trained copy such tags from the cue
            before any text, so with a ``described`` cue a tag stands only where the schema leaves the type
            open; the same text without it reads as the same string.

    Returns:
        EBNF text with the start rule ``root``.

    Raises:
        ValueError: The tree refers back to itself, or spells a text that no grammar can.
    """
    rules = Rules()
    body, may_be_empty = GrammarBodies(rules, style).body(tree)
    parts = [body] if body else []
    if may_be_empty:
        parts.append('""')
    return rules.text(sequence(alternatives(parts), '"\\n"?'))


class GrammarBodies:
    """Writes trees as parts of one larger grammar.

    Rules that say the same are shared between the trees, so no two can collide.

    Args:
        rules: The rules of the larger grammar.
        style: The cue that is shown with it (see :func:`grammar`).
    """

    def __init__(self, rules: Rules, style: CueStyle = "trained") -> None:
        self.rules = rules
        self.leaves = LeafRules(rules, tagged=style == "trained")
        self.free = FreeRules(rules, self.leaves)

    def body(self, tree: Tree) -> tuple[str, bool]:
        """The lines of a whole value, without the line break behind the last one.

        Args:
            tree: A tree without limits.

        Returns:
            The body for at least one line (empty if there can be none), and whether there may be none.

        Raises:
            ValueError: The tree refers back to itself, or spells a text that no grammar can.
        """
        return _Writer(tree, self).body(tree.root)


class _Writer:
    """Writes the units of one tree."""

    def __init__(self, tree: Tree, shared: GrammarBodies) -> None:
        self._rules = shared.rules
        self._shapes = Shapes(tree)
        self._leaves = shared.leaves
        self._free = shared.free
        self._arrays = ArrayRules(self._rules, self._leaves, self._units_at)

    def body(self, root: Object) -> tuple[str, bool]:
        return self._object_body(root, "", self._shapes.root)

    def _units_at(self, prefix: str, node: Node, shape: Shape) -> list[str]:
        """Alternatives for all lines of a value, the path in front.

        Args:
            prefix: Body for the path of the value.
            node: What stands there.
            shape: The place, with all alternatives of ``node``; it decides the order of units.
        """
        if isinstance(node, Reference):
            raise ValueError(f"a recursive schema has no grammar ({node.target})")
        parts: list[str] = []
        leaf = self._leaves.leaf(node)
        if leaf:
            parts.append(sequence(prefix, alternatives(leaf)))
        for option in node.options if isinstance(node, Union) else (node,):
            if isinstance(option, Object):
                parts.extend(self._object(prefix, option, shape))
            elif isinstance(option, Array):
                parts.extend(self._arrays.units(prefix, option, shape))
            elif isinstance(option, Anything):
                parts.extend(self._free.units(prefix))
        if node.nullable and isinstance(node, (Object, Array)):
            parts.append(sequence(prefix, '"=null"'))
        return parts

    def _object(self, prefix: str, node: Object, shape: Shape) -> list[str]:
        body, may_be_empty = self._object_body(node, prefix, shape)
        parts = [body] if body else []
        if may_be_empty:
            parts.append(sequence(prefix, '"={}"'))
        return parts

    def _object_body(self, node: Object, prefix: str, shape: Shape) -> tuple[str, bool]:
        """The units of an object with at least one key, and whether it may have none."""
        units = []
        placements = shape.placements
        for declared in sorted(node.properties, key=lambda one: (placements[one.name], one.name)):
            path = sequence(prefix, literal(("." if prefix else "") + layout.path_key(declared.name)))
            lines = self._units_at(path, declared.node, shape.child(declared.name))
            units.append(Unit(alternatives(lines), declared.required, placements[declared.name] == 0))
        free = self._free_unit(node, prefix)
        return units_body(self._rules, units, free, node.min_properties, node.max_properties)

    def _free_unit(self, node: Object, prefix: str) -> str | None:
        """A line under a free key, or ``None`` if there are none."""
        if node.additional is None:
            return None
        names = [declared.name for declared in node.properties]
        described = node.patterns or ((node.additional_pattern, node.additional),)
        lines = []
        for pattern, below in described:
            key = self._free.key(pattern, names)
            behind = self._free.behind(below)
            if key is not None and behind:
                lines.append(sequence(prefix, '"."' if prefix else "", key, alternatives(behind)))
        return alternatives(lines) if lines else None
