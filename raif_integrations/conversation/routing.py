"""Which tool to call, or none: the plan before the arguments.

With several tools the model first writes only names, one a line, or ``reply``. That takes a few
tokens, and the arguments of each planned call are then generated under that tool's own cue and
grammar. The block that lists the tools is the form RAIF adapters were trained on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from raif_integrations.conversation.content import inert
from raif_integrations.conversation.tools import Tool

REPLY = "reply"
"""What the model plans when it wants to answer in text."""

MAX_CALLS = 8
"""Most calls in one plan; bounds what a model can ask for in one turn."""


def reply_word(tools: Sequence[Tool]) -> str:
    """The word for answering in text: ``reply``, unless a tool has that name."""
    names = {tool.name for tool in tools}
    word = REPLY
    while word in names:
        word += "_to_user"
    return word


def plan_block(tools: Sequence[Tool], *, trained: bool, may_reply: bool, parallel: bool) -> str:
    """The block that lists the tools to choose from.

    Args:
        tools: The tools.
        trained: The model knows the bare block; otherwise a sentence says what to write.
        may_reply: Answering in text is one of the choices.
        parallel: Several calls may be planned.

    Returns:
        Text for the last user turn.
    """
    lines = [plan_line(tool.name, tool.description) for tool in tools]
    if may_reply:
        lines.append(f"{reply_word(tools)} — Answer the user directly")
    listing = "\n".join(["<tools>", *lines, "</tools>"])
    if trained:
        return listing
    what = "the names of the tools to call, one a line" if parallel else "the name of the tool to call"
    ask = f"Write {what}" + (f", or `{reply_word(tools)}` to answer without a tool." if may_reply else ".")
    return f"{ask}\n{listing}"


def plan_line(name: str, description: str) -> str:
    """The line that offers one choice: its name and when to take it."""
    words = " ".join(inert(description).split())
    return f"{name} — {words}" if words else name


def plan_grammar(tools: Sequence[Tool], *, may_reply: bool, parallel: bool) -> str:
    """EBNF that accepts exactly the plans: names of ``tools`` one a line, or the word for a reply."""
    names = " | ".join(_literal(tool.name) for tool in tools)
    more = f' ("\\n" call){{0,{MAX_CALLS - 1}}}' if parallel else ""
    reply = f" | {_literal(reply_word(tools))}" if may_reply else ""
    return f"root ::= call{more}{reply}\ncall ::= {names}\n"


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_plan(
    text: str, tools: Sequence[Tool], *, may_reply: bool, parallel: bool, cut_off: bool = False
) -> tuple[str, ...]:
    """Reads the names a model planned.

    Args:
        text: What the model wrote; constrained or not.
        tools: The tools it could choose from.
        may_reply: Answering in text was one of the choices.
        parallel: Several calls were allowed; otherwise only the first counts.
        cut_off: The text may go on: a last name that begins another one does not count.

    Returns:
        Tool names in the order written; empty where the model wants to reply or named no known tool.
    """
    known = {tool.name for tool in tools}
    word = reply_word(tools)
    names: list[str] = []
    lines = text.splitlines()
    if cut_off and lines and _begins_another(lines[-1].strip(), known):
        lines.pop()
    for line in lines:
        name = line.strip()
        if name not in known and name != word:  # written freely, with a description or marks around it
            name = re.split(r"\s+—|\s+-|[:(]", name.strip("`*- "), maxsplit=1)[0].strip("`\"' ")
        if name == word and may_reply:
            break
        if name in known:
            names.append(name)
    return tuple(names[: MAX_CALLS if parallel else 1])


def _begins_another(text: str, names: Iterable[str]) -> bool:
    return any(name.startswith(text) and name != text for name in names)
