"""An exercise as the package sends it: the very messages of each generation, and what must come back.

Nothing is formatted here. A turn is taken with the right answers in the model's place, and what it asks
for is written down: cue, plan, history and targets are the package's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from raif_integrations.contract import OutputContract
from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.one_pass import OnePass, one_pass_block
from raif_integrations.conversation.prompt import with_block
from raif_integrations.conversation.routing import reply_word
from raif_integrations.conversation.tools import NamedTool, Tool, ToolChoice
from raif_integrations.engines.base import Delta, Message
from raif_integrations.turn.protocol import Next, Open
from raif_integrations.turn.steps import take_turn
from raif_integrations.turn.types import TurnRequest
from train_adapter.items import Item

Format: TypeAlias = Literal["raif", "json"]
"""What the model learns to write; with ``json`` the prompt carries the JSON Schema in place of the cue."""


@dataclass(frozen=True, slots=True)
class Example:
    """One generation to learn.

    Attributes:
        kind: The kind of the exercise.
        messages: What the model is sent.
        target: What it must write.
        contract: What the target is a value of; ``None`` for a plan and for text.
        is_plan: The target names tools.
        ends: The turn is over after the target; otherwise the model goes on as it likes.
    """

    kind: str
    messages: list[Message]
    target: str
    contract: OutputContract | None = None
    is_plan: bool = False
    ends: bool = True


def request_of(item: Item, form: Format = "raif") -> TurnRequest:
    """The turn an application would take for an exercise."""
    wire: Literal["auto", "json"] = "json" if form == "json" else "auto"
    tools = tuple(_tool(tool, wire) for tool in item.tools)
    output = None
    if item.schema is not None:
        output = OutputContract.from_json_schema(item.schema, wire=wire)
    return TurnRequest(
        messages=item.messages, tools=tools, tool_choice=_choice(item.tool_choice), output=output
    )


def _tool(tool: dict[str, Any], wire: Literal["auto", "json"]) -> Tool:
    function = tool["function"]
    contract = OutputContract.from_tool(tool, wire=wire)
    return Tool(function["name"], function.get("description", ""), contract)


def _choice(choice: Any) -> ToolChoice:
    if isinstance(choice, dict):
        return NamedTool(choice["function"]["name"])
    named: ToolChoice = choice
    return named


def examples_of(item: Item, form: Format = "raif") -> list[Example]:
    """Every generation of an exercise whose right answer is known."""
    request = request_of(item, form)
    if item.one_pass:
        return [_in_one_pass(item, request)]
    answers = _answers(item, request)
    found: list[Example] = []
    waiting: list[Delta | None] = []
    reply: Delta | None = None
    steps = take_turn(request, trained=True, streaming=False)
    while len(found) < len(answers):
        step = steps.send(reply)
        reply = None
        if isinstance(step, Open):
            for generation in step.requests:
                answer = answers[len(found)]
                messages = [dict(message) for message in generation.messages]
                found.append(Example(item.kind, messages, answer.text, answer.contract, answer.is_plan))
                waiting.append(Delta(text=answer.text, model="", request_id="", finish_reason="stop"))
        elif isinstance(step, Next):
            reply, waiting[step.number] = waiting[step.number], None
    return found


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    contract: OutputContract | None = None
    is_plan: bool = False


def _answers(item: Item, request: TurnRequest) -> list[_Answer]:
    """The right texts, in the order the turn asks for them; it ends where one is not known."""
    if request.output is not None:
        return [_Answer(written(request.output, item.value), request.output)]
    answers: list[_Answer] = []
    tools = {tool.name: tool for tool in request.tools}
    names = [call["name"] for call in item.calls]
    if tools and not _is_direct(request):
        answers.append(_Answer("\n".join(names) if names else reply_word(request.tools), is_plan=True))
    if any("arguments" not in call for call in item.calls):
        return answers
    for call in item.calls:
        tool = tools[call["name"]]
        if tool.has_parameters:
            answers.append(_Answer(written(tool.contract, call["arguments"]), tool.contract))
    if not names and item.reply is not None:
        answers.append(_Answer(item.reply))
    return answers


def _in_one_pass(item: Item, request: TurnRequest) -> Example:
    """Names and arguments in one generation: what the vLLM plugin asks for when there is a choice."""
    choice = OnePass(request.tools)
    contracts = {tool.name: tool.contract for tool in request.tools}
    turns = with_block(as_turns(item.messages, contracts=contracts), one_pass_block(choice, trained=True))
    lines = [line for call in item.calls for line in _call_lines(call, contracts[call["name"]])]
    target = "\n".join(lines) if lines else f"{choice.reply_word}\n{item.reply or ''}"
    return Example(item.kind, turns, target, ends=bool(lines or item.reply))


def _call_lines(call: dict[str, Any], contract: OutputContract) -> list[str]:
    arguments = written(contract, call["arguments"])
    return [call["name"], arguments] if arguments else [call["name"]]


def _is_direct(request: TurnRequest) -> bool:
    return isinstance(request.tool_choice, NamedTool) or (
        request.tool_choice == "required" and len(request.tools) == 1
    )


def written(contract: OutputContract, value: Any) -> str:
    """A value as the model should write it; JSON keys are in the order of the schema, as guidance asks."""
    return contract.encode(in_order(value, contract.schema) if contract.wire == "json" else value)


def in_order(value: Any, schema: Any) -> Any:
    """A value with the keys of its objects in the order of their schema."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, dict):
        below = schema.get("properties", {})
        known = [key for key in below if key in value]
        rest = [key for key in value if key not in below]
        return {key: in_order(value[key], below.get(key)) for key in [*known, *rest]}
    if isinstance(value, list):
        return [in_order(element, schema.get("items")) for element in value]
    return value


def in_words(examples: Sequence[Example]) -> str:
    """Examples for people to read."""
    return "\n\n".join(
        "\n".join([*(f"[{m['role']}] {m['content']}" for m in one.messages), f"[answer] {one.target}"])
        for one in examples
    )
