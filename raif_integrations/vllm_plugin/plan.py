"""What a request asks for, and what follows from it: cue, constraint, reader. Knows nothing of vLLM."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from raif_integrations.contract.ebnf import Rules
from raif_integrations.conversation.one_pass import OnePass, one_pass_block, one_pass_grammar
from raif_integrations.conversation.one_pass_reader import (
    CallReader,
    OnePassReader,
    ReadEvent,
    ReadResult,
    ValueReader,
)
from raif_integrations.conversation.prompt import cue_block
from raif_integrations.conversation.tools import NamedTool, Tool, ToolChoice, check_tools
from raif_integrations.errors import RaifIntegrationsError
from raif_integrations.openai_format import (
    output_from_response_format,
    tool_choice_from,
    tools_from_dicts,
)
from raif_integrations.vllm_plugin.json_grammars import json_grammar

if TYPE_CHECKING:
    from raif_integrations.contract import OutputContract


class RefusedFieldError(RaifIntegrationsError):
    """A field of a request cannot be used.

    Args:
        field: Its name.
        error: Why not.
    """

    def __init__(self, field: str, error: RaifIntegrationsError) -> None:
        super().__init__(error.message, hint=error.hint)
        self.field = field


class Reader(Protocol):
    """Reads one generation piece by piece."""

    def push(self, text: str) -> list[ReadEvent]:
        """Takes the next piece and tells what has become certain."""

    def finish(self, *, finished: bool) -> tuple[list[ReadEvent], ReadResult]:
        """Ends the generation; ``finished`` is false if it was cut off."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one request asks for.

    Attributes:
        tools: The tools it brings, to show earlier calls in the layout the model writes.
        block: What is added to the last user turn; ``None`` for plain chat.
        grammar: EBNF that replaces vLLM's JSON guidance, or ``None``.
        only_data: Nothing but data comes, so the client's stop strings and tokens would only cut it short.
        make_reader: Makes the reader of one generation; ``None`` where the text is handed on as it is.
    """

    tools: tuple[Tool, ...] = ()
    block: str | None = None
    grammar: str | None = None
    only_data: bool = False
    make_reader: Callable[[], Reader] | None = field(default=None, compare=False)

    @property
    def is_chat(self) -> bool:
        """The model is asked for nothing but text."""
        return self.block is None

    @property
    def constrains(self) -> bool:
        """The constraint of the request is this plan's, not what the client gave."""
        return self.grammar is not None


CHAT = Plan()
"""A request that the plugin leaves as it is."""


def make_plan(
    *,
    tools: Sequence[Mapping[str, Any]],
    tool_choice: Any,
    parallel: bool,
    response_format: Mapping[str, Any] | None,
    trained: bool,
) -> Plan:
    """Decides what a request asks for. Equal requests share one plan.

    Args:
        tools: OpenAI tool dicts.
        tool_choice: ``None`` (``auto``), a word, or OpenAI's dict with a name.
        parallel: Several calls in one reply are allowed.
        response_format: OpenAI's dict in the form of chat completions, or ``None``.
        trained: The model knows RAIF's bare cue.

    Raises:
        RefusedFieldError: A schema is not a JSON Schema, or tools and tool choice contradict each other.
    """
    asked = json.dumps([list(tools), tool_choice, parallel, response_format, trained])
    return _plan(asked)


@lru_cache(maxsize=256)
def _plan(asked: str) -> Plan:
    dicts, choice_given, parallel, response_format, trained = json.loads(asked)
    with _field("tools"):
        tools = tools_from_dicts(dicts)
        # A string is a word here, never a tool's name.
        names = [] if isinstance(choice_given, str) else [tool.name for tool in tools]
        choice = tool_choice_from(choice_given, names)
        check_tools(tools, choice)
    with _field("response_format"):
        output = output_from_response_format(response_format)
    if not tools or choice == "none":
        return _value_plan(tools, output, response_format, trained=trained)
    forced = _forced(tools, choice)
    if forced is not None:
        return _call_plan(tools, forced, trained=trained)
    may_reply = choice == "auto"
    with _field("tools"):
        one_pass = OnePass(
            tools, may_reply=may_reply, parallel=parallel, output=output if may_reply else None
        )
    return Plan(
        tools=tools,
        block=one_pass_block(one_pass, trained=trained),
        grammar=one_pass_grammar(
            one_pass,
            trained=trained,
            json_grammars={tool.name: _json_grammar(tool.contract) for tool in tools},
            output_json=_json_grammar(output) if output is not None else None,
        ),
        only_data=not may_reply or output is not None,
        make_reader=lambda: OnePassReader(one_pass),
    )


@contextmanager
def _field(name: str) -> Iterator[None]:
    """Says of an error which field it lies in."""
    try:
        yield
    except RaifIntegrationsError as error:
        raise RefusedFieldError(name, error) from error


def _forced(tools: tuple[Tool, ...], choice: ToolChoice) -> Tool | None:
    """The tool that must be called, if there is just one that may be."""
    if isinstance(choice, NamedTool):
        return next(tool for tool in tools if tool.name == choice.name)
    return tools[0] if choice == "required" and len(tools) == 1 else None


def _call_plan(tools: tuple[Tool, ...], tool: Tool, *, trained: bool) -> Plan:
    """One tool must be called: its arguments come under the cue and grammar they were trained with."""
    contract = tool.contract
    return Plan(
        tools=tools,
        block=cue_block(contract, trained=trained, purpose=f"Give the arguments for a call of {tool.name}."),
        grammar=_grammar(contract, trained=trained),
        only_data=True,
        make_reader=lambda: CallReader(tool),
    )


def _grammar(contract: OutputContract, *, trained: bool) -> str:
    """The grammar of a value: RAIF's, or JSON's where only JSON can carry it.

    vLLM's own JSON guidance refuses schemas with a keyword that xgrammar does not know, such as
    ``uniqueItems``; here such a keyword is left to validation.
    """
    if contract.wire == "raif":
        return contract.grammar("trained" if trained else "described")
    rules = Rules()
    return rules.text(rules.include(json_grammar(contract.schema), "json"))


def _value_plan(
    tools: tuple[Tool, ...],
    output: OutputContract | None,
    response_format: Mapping[str, Any] | None,
    *,
    trained: bool,
) -> Plan:
    if output is None or (response_format or {}).get("type") == "json_object":
        # No schema to show: vLLM's own JSON guidance does what was asked, and its text is JSON already.
        return Plan(tools=tools)
    return Plan(
        tools=tools,
        block=cue_block(output, trained=trained),
        grammar=_grammar(output, trained=trained),
        only_data=True,
        make_reader=lambda: ValueReader(output),
    )


def _json_grammar(contract: OutputContract) -> str:
    return json_grammar(contract.schema) if contract.wire == "json" else ""
