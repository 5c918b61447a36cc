"""The ``<schema>`` cue: what the model is told of the object it must write.

The trained style is what RAIF adapters were fine-tuned on (the dataset generator of the RAIF
specification): one ``path:code`` line a field, keys sorted at every level, depth first. The described
style adds what the codes leave out as short trailing comments.

The lines are put between ``<schema>`` tags in a prompt, so nothing taken from the schema may look like
a tag or break a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from raif_integrations.contract.layout import CLOSE, OPEN, is_writable_key, path_key
from raif_integrations.contract.tree import (
    Anything,
    Array,
    Choice,
    Node,
    Object,
    Reference,
    Scalar,
    Tree,
    Union,
)

CueStyle: TypeAlias = Literal["trained", "described"]

_TAG = re.compile(r"<(?=[/|!?A-Za-z])")
_SPACES = re.compile(r"\s+")
_LONGEST_COMMENT = 80
_MOST_WORDS = 20

_CODES = {"string": "s", "integer": "n", "number": "n", "boolean": "b"}


def cue(tree: Tree, style: CueStyle = "trained") -> str:
    """Writes the cue.

    Args:
        tree: The schema's tree.
        style: ``trained`` for models fine-tuned on RAIF, ``described`` for all others.

    Returns:
        Lines without a final line break; empty if the object declares no key.
    """
    described = style == "described"
    return "\n".join(_object(tree.root, "", tree.definitions, described, ()))


def inert(text: str) -> str:
    """A text on one line in which nothing looks like a tag or a special token."""
    visible = "".join(character if character.isprintable() else " " for character in text)
    return _TAG.sub("< ", _SPACES.sub(" ", visible)).strip()


def _object(
    node: Object, prefix: str, definitions: Mapping[str, Node], described: bool, above: tuple[Node, ...]
) -> Iterator[str]:
    for declared in node.properties:
        path = f"{prefix}.{_key(declared.name)}" if prefix else _key(declared.name)
        yield from _field(declared.node, path, not declared.required, definitions, described, (*above, node))
    if described and node.additional is not None:
        code, _ = _code(node.additional)
        yield f"{prefix}.*:{code}" if prefix else f"*:{code}"


def _field(
    node: Node,
    path: str,
    optional: bool,
    definitions: Mapping[str, Node],
    described: bool,
    above: tuple[Node, ...],
) -> Iterator[str]:
    mark = "?" if optional or node.nullable else ""
    comment = _comment(node) if described else ""
    outer = node
    while isinstance(node, Array) and _item(node) is not None:
        item = _item(node)
        assert item is not None
        path, node = f"{path}[]", item
    below = _object_below(node, definitions)
    if below is None or any(below is other for other in above):
        code, _ = _code(node)
        yield f"{path}:{code}{mark}{comment}"
        return
    if outer is not node or mark or comment or not (below.properties or (described and below.additional)):
        yield f"{path}:o{mark}{comment}"
    yield from _object(below, path, definitions, described, above)


def _item(node: Array) -> Node | None:
    return node.items if node.items is not None else (node.prefix[0] if node.prefix else None)


def _object_below(node: Node, definitions: Mapping[str, Node]) -> Object | None:
    """The object whose keys are listed below a field, or ``None``."""
    if isinstance(node, Reference):
        node = definitions[node.target]
    if isinstance(node, Union):
        objects = [option for option in node.options if isinstance(option, Object)]
        return objects[0] if len(objects) == len(node.options) == 1 else None
    return node if isinstance(node, Object) else None


def _code(node: Node) -> tuple[str, bool]:
    """The type code of a field, and whether it says everything."""
    if isinstance(node, Scalar):
        return _CODES[node.type], True
    if isinstance(node, Choice):
        kinds = {type(value) for value in node.values}
        if kinds <= {int, float} and kinds:
            return "n", True
        return ("b", True) if kinds == {bool} else ("s", kinds == {str})
    if isinstance(node, Union):
        codes = {_code(option)[0] for option in node.options}
        if len(codes) == 1:
            return codes.pop(), False
        return ("s" if codes <= {"s", "n", "b"} else "o"), False
    return "o", isinstance(node, (Object, Anything))


def _key(name: str) -> str:
    """A key as the model has to write it."""
    writable = name if is_writable_key(name) else name.replace(OPEN, "").replace(CLOSE, "")
    visible = "".join(character if character.isprintable() else " " for character in writable)
    return path_key(_TAG.sub("< ", visible))


def _comment(node: Node) -> str:
    """Allowed values, then the first sentence of the description."""
    parts = []
    choice = _choice(node)
    if choice is not None and choice.values:
        words = [value if isinstance(value, str) else json.dumps(value) for value in choice.values]
        listed = "|".join(inert(word) for word in words[:_MOST_WORDS])
        parts.append(listed + ("|…" if len(words) > _MOST_WORDS else ""))
    if node.description:
        parts.append(_shortened(inert(node.description)))
    return f"  # {'; '.join(parts)}" if parts else ""


def _choice(node: Node) -> Choice | None:
    while isinstance(node, Array) and node.items is not None:
        node = node.items
    return node if isinstance(node, Choice) else None


def _shortened(text: str) -> str:
    """The first sentence, cut at a word."""
    sentence = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
    if len(sentence) <= _LONGEST_COMMENT:
        return sentence.rstrip(".")
    return sentence[: _LONGEST_COMMENT - 1].rsplit(" ", 1)[0] + "…"
