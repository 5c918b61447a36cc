"""A conversation as the model should see it: one leading system turn, then alternating turns of text.

Past tool calls are shown as the RAIF-G the model wrote, tool results as a user turn, the form RAIF
adapters were trained on::

    assistant: <tool_call>
               get_weather
               city=Oslo
               </tool_call>
    user:      <tool_response>
               sunny, 3 degrees
               </tool_response>

No chat template needs to know about tools, and templates that demand alternating roles or a single
system message are satisfied.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from raif_integrations.conversation.content import inert, text_of, without_own_tags, without_turn_markers
from raif_integrations.engines.base import Message
from raif_integrations.errors import RequestError

if TYPE_CHECKING:
    from raif_integrations.contract import OutputContract

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def as_turns(
    messages: Sequence[Message],
    *,
    contracts: Mapping[str, OutputContract] | None = None,
    neutralise_tags: bool = False,
) -> list[Message]:
    """Brings messages into the form every chat template accepts.

    Args:
        messages: OpenAI-shaped messages; not changed.
        contracts: Contracts of the tools by name, to show past calls in the layout the model writes.
        neutralise_tags: Break up our own tags in what users, tools and the system prompt say; for
            turns that carry a cue.

    Returns:
        New messages: at most one system message, first; then turns of alternating roles with text content.

    Raises:
        RequestError: ``messages`` is empty, a role is unknown, or content is not text.
    """
    check_messages(messages)
    system: list[str] = []
    turns: list[Message] = []
    names: dict[str, str] = {}
    clean = without_own_tags if neutralise_tags else str
    for index, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            _append(turns, "user", _tool_response(message, names, messages, index), separator="\n")
        elif role in _ROLES:
            text = without_turn_markers(text_of(message.get("content"), role=str(role)))
            if role == "assistant":
                calls = list(_tool_calls(message))
                names.update({call_id: name for call_id, name, _ in calls if call_id})
                text = "\n".join(
                    [*([text] if text else []), *(_past_call(name, a, contracts) for _, name, a in calls)]
                )
                _append(turns, "assistant", text)
            elif _ROLES[role] == "system":
                system.append(clean(text))
            else:
                _append(turns, "user", clean(text))
        else:
            raise RequestError(
                f"Message {index} has the role {role!r}.",
                hint="Known roles are system, developer, user, assistant and tool.",
            )
    leading = [text for text in system if text]
    return ([{"role": "system", "content": "\n\n".join(leading)}] if leading else []) + turns


def check_messages(messages: Sequence[Message]) -> None:
    """Refuses an empty conversation, before an engine is started or a server asked for it.

    Raises:
        RequestError: ``messages`` is empty.
    """
    if not messages:
        raise RequestError("There are no messages.", hint="Give at least one user message.")


def _append(turns: list[Message], role: str, text: str, *, separator: str = "\n\n") -> None:
    """Adds a turn, or joins it to the last one if the same role is still speaking."""
    if turns and turns[-1]["role"] == role:
        joined = [part for part in (turns[-1]["content"], text) if part]
        turns[-1] = {"role": role, "content": separator.join(joined)}
    else:
        turns.append({"role": role, "content": text})


def _tool_calls(message: Message) -> Iterable[tuple[str, str, Any]]:
    """Id, name and arguments of each call in an assistant message; an empty list and ``None`` are none."""
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        yield str(call.get("id") or ""), str(function.get("name") or ""), function.get("arguments")


def _past_call(name: str, arguments: Any, contracts: Mapping[str, OutputContract] | None) -> str:
    return call_text(name, arguments_text(arguments, (contracts or {}).get(name)))


def call_text(name: str, arguments: str) -> str:
    """A call as it is shown to the model.

    Args:
        name: The tool's name.
        arguments: Text of the arguments; nothing where there are none.
    """
    lines = ["<tool_call>", inert(name), *([inert(arguments)] if arguments else []), "</tool_call>"]
    return "\n".join(lines)


def arguments_text(arguments: Any, contract: OutputContract | None = None) -> str:
    """Arguments of a past call as RAIF-G.

    Args:
        arguments: A dict, JSON text, or whatever an earlier model produced; nothing is refused.
        contract: The tool's contract, if it is still known.

    Returns:
        RAIF-G in the contract's layout; JSON or the text itself where RAIF cannot show it.
    """
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return arguments
    elif arguments is None:
        return ""
    else:
        read = arguments
    shown = _data_text(read, contract)
    return str(arguments) if shown is None else shown


def _data_text(arguments: Any, contract: OutputContract | None) -> str | None:
    """Arguments as RAIF-G, else as JSON; ``None`` for what neither can show."""
    if isinstance(arguments, dict):
        try:
            if contract is not None:
                return contract.encode_history(arguments)
            from raif import encode

            return encode(arguments, {"profile": "generation"})
        except (ValueError, TypeError, RecursionError):
            pass
    try:
        return json.dumps(arguments, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return None


def _tool_response(
    message: Message, names: Mapping[str, str], messages: Sequence[Message], index: int
) -> str:
    """One tool result; where a turn has several, each says which tool it comes from."""
    text = inert(text_of(message.get("content"), role="tool"))
    if message.get("status") == "error" and not text.lower().startswith("error"):
        text = f"Error: {text}"
    lines = ["<tool_response>", text, "</tool_response>"]
    if _has_neighbour(messages, index):
        name = message.get("name") or names.get(str(message.get("tool_call_id") or ""), "")
        if name:
            lines.insert(1, inert(str(name)))
    return "\n".join(lines)


def _has_neighbour(messages: Sequence[Message], index: int) -> bool:
    around = messages[max(index - 1, 0) : index] + messages[index + 1 : index + 2]  # type: ignore[operator]
    return any(neighbour.get("role") == "tool" for neighbour in around)
