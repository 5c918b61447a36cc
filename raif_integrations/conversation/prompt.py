"""Where the cue goes, and what stands beside it for a model that was not trained on RAIF.

The trained form is the user's request, a blank line and ``<schema>…</schema>`` in the same user
turn. It is what the published RAIF adapters were trained on, and it needs no tools, no response
format and no special chat template.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from raif_integrations.contract.tree import Array, Node, Object, Reference, Union
from raif_integrations.conversation.content import inert
from raif_integrations.engines.base import Message

if TYPE_CHECKING:
    from raif_integrations.contract import OutputContract


def with_block(turns: list[Message], block: str) -> list[Message]:
    """Adds a block to the last user turn, or as a user turn of its own where the model spoke last.

    Args:
        turns: Turns as :func:`raif_integrations.conversation.history.as_turns` makes them; not changed.
        block: The text to add.

    Returns:
        New turns that end with a user turn.
    """
    if turns and turns[-1]["role"] == "user":
        request = turns[-1]["content"]
        return [*turns[:-1], {"role": "user", "content": f"{request}\n\n{block}" if request else block}]
    return [*turns, {"role": "user", "content": block}]


def cue_block(contract: OutputContract, *, trained: bool, purpose: str = "") -> str:
    """The block that shows the model what to write.

    Args:
        contract: What must come back.
        trained: The model knows the bare cue; otherwise a primer explains RAIF and the cue carries
            enums and descriptions.
        purpose: A sentence for models that were not trained, such as which tool the arguments are for.

    Returns:
        Text for the last user turn.
    """
    if contract.wire == "json":
        schema = json.dumps(contract.schema, ensure_ascii=False, separators=(",", ":"))
        lead = f"{inert(purpose)} " if purpose else ""
        return f"{lead}Answer with JSON that fits this JSON Schema and nothing else:\n{inert(schema)}"
    if trained:
        return f"<schema>\n{contract.cue('trained')}\n</schema>"
    lead = "\n".join(part for part in (inert(purpose), primer(contract)) if part)
    return f"{lead}\n<schema>\n{contract.cue('described')}\n</schema>"


def primer(contract: OutputContract) -> str:
    """Explains RAIF in as few words as the schema's shapes need."""
    lines = [
        "Answer only with lines `key=value`, one for each field of the schema; leave out unknown `?` fields."
    ]
    return "\n".join([*lines, *shape_notes([contract])])


def shape_notes(contracts: Iterable[OutputContract]) -> list[str]:
    """At most one line that says how nested objects, lists and records are written, if there are any."""
    shapes = {shape for contract in contracts for shape in _shapes(contract)}
    forms = []
    if "nested" in shapes:
        forms.append("nested fields are `outer.inner=value`")
    if "list" in shapes:
        forms.append("a list is `key=[`, one item a line, then `]`")
    if "table" in shapes:
        forms.append("a list of records is `key::field1,field2`, then `key[0]=value1,value2` for each record")
    text = "; ".join(forms)
    return [text[0].upper() + text[1:] + "."] if forms else []


def _shapes(contract: OutputContract) -> set[str]:
    found: set[str] = set()
    pending: list[Node] = [prop.node for prop in contract.tree.root.properties]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        match node:
            case Object():
                found.add("nested")
                pending += [prop.node for prop in node.properties]
            case Array():
                elements = [*node.prefix, *([node.items] if node.items is not None else [])]
                records = [element for element in elements if isinstance(element, Object)]
                found.add("table" if records else "list")
                for record in records:
                    pending += [prop.node for prop in record.properties]
                pending += [element for element in elements if not isinstance(element, Object)]
            case Union():
                pending += node.options
            case Reference():
                pending.append(contract.tree.definitions[node.target])
    return found
