"""Tools, an answer, or both to choose from, decided in one generation.

Where :mod:`~raif_integrations.conversation.routing` asks for a plan first and for the arguments after it,
here the model writes both at once. A call is the tool's name on a line of its own, then the arguments
in the tool's own RAIF-G; further calls follow in the same way::

    get_weather
    city=Oslo
    unit=celsius
    get_time
    zone=Europe/Oslo

An answer is the word :func:`~raif_integrations.conversation.routing.reply_word` gives, on a line of its
own, then free text to the end (or, where the answer has a schema, its RAIF-G)::

    reply
    It is 3 degrees in Oslo.

The first line is what adapters write for a plan, the lines below it are what they write for arguments.
A line that is a name ends the arguments before it, and nothing else does: outside of a list and of a text
of several lines, every line of RAIF-G holds ``=`` or ``::``, which no name may hold, and inside of them
lines belong to the value whatever they say. Arguments that travel as JSON take one line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raif_integrations.conversation.content import inert
from raif_integrations.conversation.prompt import shape_notes
from raif_integrations.conversation.routing import MAX_CALLS, plan_line, reply_word
from raif_integrations.conversation.tools import Tool
from raif_integrations.errors import ConfigurationError

if TYPE_CHECKING:
    from raif_integrations.contract import OutputContract
    from raif_integrations.contract.ebnf import Rules
    from raif_integrations.contract.grammar import GrammarBodies

_NOT_IN_NAMES = ("=", "::", "<<<", ">>>")

JSON_OBJECT = r"""root ::= "{" (member (", " member)*)? "}"
member ::= string ": " value
value ::= root | "[" (value (", " value)*)? "]" | string | number | "true" | "false" | "null"
string ::= "\"" ([^"\\\U00000000-\U0000001f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,18}) ("." [0-9]{1,17})? ([eE] [+-]? [0-9]{1,3})?
"""
"""EBNF of any JSON object on one line, for arguments whose schema RAIF cannot carry."""

JSON_VALUE = "root ::= value\n" + JSON_OBJECT.replace("root", "object")
"""EBNF of any JSON value on one line."""


@dataclass(frozen=True, slots=True)
class OnePass:
    """What one generation may be.

    Attributes:
        tools: The tools to choose from; at least one.
        may_reply: It may be an answer instead of calls.
        parallel: It may be several calls, at most
            :data:`~raif_integrations.conversation.routing.MAX_CALLS`.
        output: What an answer must look like; ``None`` for free text.

    Raises:
        ConfigurationError: A tool's name could be taken for a line of arguments.
    """

    tools: tuple[Tool, ...]
    may_reply: bool = True
    parallel: bool = True
    output: OutputContract | None = None

    def __post_init__(self) -> None:
        for tool in self.tools:
            bad = next((part for part in _NOT_IN_NAMES if part in tool.name), None)
            if bad is not None:
                raise ConfigurationError(
                    f"A tool is named {tool.name!r}.", hint=f"Give it a name without {bad!r}."
                )

    @property
    def reply_word(self) -> str:
        """The line that begins an answer."""
        return reply_word(self.tools)


def one_pass_block(choice: OnePass, *, trained: bool) -> str:
    """The block that shows the tools to choose from, each with what to write for it.

    For a model that knows RAIF it keeps the form of a plan's block, one line a tool: of seven forms tried on
    an adapter that was trained on plans, it was the one that led to the fewest wrong and needless calls.

    Args:
        choice: What the model may write.
        trained: The model knows RAIF; otherwise some sentences say what to write, and the lines below a tool
            carry allowed values and descriptions.

    Returns:
        Text for the last user turn.
    """
    offers: list[tuple[str, list[str]]] = [
        (
            plan_line(tool.name, tool.description),
            _fields(tool.contract, trained) if tool.has_parameters else [],
        )
        for tool in choice.tools
    ]
    if choice.may_reply:
        fields = [] if choice.output is None else _fields(choice.output, trained)
        offers.append((plan_line(choice.reply_word, "Answer the user directly"), fields))
    if trained:
        lines = [f"{offer} ({', '.join(fields)})" if fields else offer for offer, fields in offers]
    else:
        lines = [line for offer, fields in offers for line in (offer, *fields)]
    listing = "\n".join(["<tools>", *lines, "</tools>"])
    return listing if trained else f"{_explanation(choice)}\n{listing}"


def _fields(contract: OutputContract, trained: bool) -> list[str]:
    if contract.wire == "json":
        schema = json.dumps(contract.schema, ensure_ascii=False, separators=(",", ":"))
        return [f"JSON that fits {inert(schema)}"]
    return contract.cue("trained" if trained else "described").splitlines()


def _explanation(choice: OnePass) -> str:
    word = choice.reply_word
    ask = "To call a tool, write its name on a line, then its arguments."
    if choice.parallel:
        ask += " Further calls follow in the same way."
    if choice.may_reply:
        answer = "your answer" if choice.output is None else "the fields of your answer"
        ask += f" To answer without a tool, write `{word}` on a line, then {answer}."
    contracts = [tool.contract for tool in choice.tools if tool.has_parameters]
    contracts += [choice.output] if choice.output is not None and choice.may_reply else []
    written = [one for one in contracts if one.wire == "raif"]
    if written:
        ask += (
            " Each field listed below a name is a line `key=value`; leave out `?` fields that are not known."
        )
    return "\n".join([ask, *shape_notes(written)])


def one_pass_grammar(
    choice: OnePass,
    *,
    trained: bool = True,
    json_grammars: Mapping[str, str] | None = None,
    output_json: str | None = None,
) -> str:
    """EBNF of exactly the texts that are calls or an answer.

    Args:
        choice: What the model may write.
        trained: The model knows RAIF (see :func:`raif_integrations.contract.grammar.grammar`).
        json_grammars: EBNF for the arguments of tools that travel as JSON, by name; each must keep to
            one line. Any JSON object where none is given.
        output_json: The same for an answer that travels as JSON.

    Returns:
        EBNF text with the start rule ``root``; equal choices give equal text.
    """
    from raif_integrations.contract.ebnf import Rules, literal, sequence
    from raif_integrations.contract.grammar import GrammarBodies

    rules = Rules()
    bodies = GrammarBodies(rules, "trained" if trained else "described")
    calls = [
        _named(rules, bodies, tool.name, tool.contract, (json_grammars or {}).get(tool.name))
        if tool.has_parameters
        else literal(tool.name)
        for tool in choice.tools
    ]
    call = rules.add("call", " | ".join(calls))
    more = f'("\\n" {call}){{0,{MAX_CALLS - 1}}}' if choice.parallel else ""
    parts = [sequence(call, more, '"\\n"?')]
    if choice.may_reply and choice.output is None:
        text = rules.add("anything", '[^\\n] | "\\n"')
        parts.append(sequence(literal(f"{choice.reply_word}\n"), "[^\\n]", f"{text}*"))
    elif choice.may_reply and choice.output is not None:
        value = _named(rules, bodies, choice.reply_word, choice.output, output_json)
        parts.append(sequence(value, '"\\n"?'))
    return rules.text(" | ".join(parts))


def _named(
    rules: Rules, bodies: GrammarBodies, name: str, contract: OutputContract, json_grammar: str | None
) -> str:
    """A line with a name, and the lines of a value below it."""
    from raif_integrations.contract.ebnf import literal

    if contract.wire == "json":
        return f"{literal(name + chr(10))} {rules.include(json_grammar or JSON_OBJECT, 'json')}"
    body, may_be_empty = bodies.body(contract.tree)
    if not body:
        return literal(name)
    below = f'"\\n" {rules.add("arguments", body)}'
    return f"{literal(name)} ({below})?" if may_be_empty else f"{literal(name)} {below}"
