"""What every course of a turn does: start generations, read them, ask for lost fields again."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from raif_integrations.contract import OutputContract
from raif_integrations.contract.report import Decoded
from raif_integrations.conversation.content import without_turn_markers
from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.prompt import cue_block, with_block
from raif_integrations.conversation.reasoning import ReasoningSplitter
from raif_integrations.conversation.tools import check_tools
from raif_integrations.engines.base import (
    Constraint,
    Delta,
    FinishReason,
    GrammarConstraint,
    JsonConstraint,
    Message,
    Request,
)
from raif_integrations.errors import OutputError, TruncatedOutputError
from raif_integrations.turn.protocol import Next, Open, Step, Steps
from raif_integrations.turn.sinks import CallPieces, DecodingSink, PlainSink, Sink, TextSink
from raif_integrations.turn.tally import Tally
from raif_integrations.turn.types import InvalidToolCall, ReasoningDelta, ToolCall, TurnRequest


@dataclass(frozen=True, slots=True)
class Generated:
    """A generation that has been read to its end."""

    text: str
    finish_reason: FinishReason


class Generations:
    """A turn under way: its conversation, its generations and what they add up to.

    Args:
        request: The turn.
        trained: The model was trained on RAIF cues; decides how a schema is shown.
        streaming: Events are looked at as they come.

    Raises:
        RequestError: The messages cannot be sent.
        ConfigurationError: The tools or the tool choice contradict each other.
    """

    def __init__(self, request: TurnRequest, *, trained: bool, streaming: bool) -> None:
        check_tools(request.tools, request.tool_choice)
        self._request = request
        self._trained = trained
        self._streaming = streaming
        self._tools = {tool.name: tool for tool in request.tools}
        self._offered = () if request.tool_choice == "none" else request.tools
        self._turns = as_turns(
            request.messages,
            contracts={name: tool.contract for name, tool in self._tools.items()},
            neutralise_tags=bool(self._offered or request.output),
        )
        self._opened = 0
        self._tally = Tally()

    def _reply(self) -> Steps:
        sampling = self._request.sampling
        (number,) = yield from self._open(replace(self._generation(self._turns, None), sampling=sampling))
        yield from self._read(number, TextSink(self._tally))

    # Values

    def _asking(self, contract: OutputContract, tool: str = "", made: str = "") -> list[Message]:
        """The conversation with the cue in its last user turn, after the calls made so far."""
        turns = [*self._turns, {"role": "assistant", "content": made}] if made else self._turns
        purpose = f"Give the arguments for the next call of {tool}." if tool else ""
        return with_block(turns, cue_block(contract, trained=self._trained, purpose=purpose))

    def _settle_value(
        self,
        sink: DecodingSink,
        written: str,
        decoded: Decoded,
        turns: list[Message],
        *,
        asked_again: int = 0,
    ) -> Generator[Step, Delta | None, Decoded]:
        """Asks again for what is missing or broken in a value that was read to its end.

        Args:
            sink: Where the value was read.
            written: The text of it.
            decoded: What came of it.
            turns: What the model was asked.
            asked_again: How often that has been done for this value.
        """
        for _ in range(self._request.options.repair_attempts - asked_again):
            patch = None if decoded.ok or decoded.truncated else sink.contract.missing(decoded)
            if patch is None:
                break
            said = without_turn_markers(decoded.raif or written or "-")
            asked = [*turns, {"role": "assistant", "content": said}]
            asked = with_block(
                asked, cue_block(patch, trained=self._trained, purpose=_what_is_wrong(decoded))
            )
            (again,) = yield from self._open(self._generation(asked, self._constraint(patch)))
            answer = yield from self._read(again, PlainSink())
            given = patch.decode(
                answer.text,
                finished=answer.finish_reason == "stop",
                constrained=self._request.options.constrain,
            )
            decoded = sink.contract.merge(decoded, given)
            self._tally.repair_requests += 1
        decoded = sink.settle(decoded)
        yield from sink.rest()
        self._tally.add_value(sink.contract, decoded, sink.text)
        return decoded

    # Generations

    def _constraint(self, contract: OutputContract) -> Constraint | None:
        """What the engine enforces.

        Nothing for a schema that allows anything: vLLM's guidance would then write without end.
        """
        if contract.wire == "raif":
            return GrammarConstraint(contract.grammar("trained" if self._trained else "described"))
        schema = contract.schema
        return JsonConstraint(schema) if isinstance(schema, Mapping) and schema else None

    def _generation(self, turns: list[Message], constraint: Constraint | None) -> Request:
        """A request for structured text: a user's stop strings would cut RAIF short, so they do not apply."""
        request = self._request
        return Request(
            messages=turns,
            sampling=replace(request.sampling, stop=()),
            constraint=constraint if request.options.constrain else None,
            model=request.model,
            chat_template_kwargs=request.chat_template_kwargs,
            timeout=request.timeout,
        )

    def _open(self, *requests: Request) -> Generator[Step, Delta | None, list[int]]:
        if requests:
            yield Open(requests)
        numbers = list(range(self._opened, self._opened + len(requests)))
        self._opened += len(requests)
        return numbers

    def _read(
        self, number: int, sink: Sink, calls: CallPieces | None = None
    ) -> Generator[Step, Delta | None, Generated]:
        """Reads a generation to its end; reasoning is handed on, the answer goes into the sink.

        A server's reasoning parser takes everything for reasoning where a model does not think. Data is
        then found there.
        """
        splitter = ReasoningSplitter()
        parts: list[str] = []
        set_apart: list[str] = []
        finish_reason: FinishReason = "abort"
        asking = Next(number)
        while (delta := (yield asking)) is not None:
            self._tally.note(delta)
            finish_reason = delta.finish_reason or finish_reason
            set_apart.append(delta.reasoning or "")
            thought, text = splitter.push(delta.text) if delta.text else ("", "")
            if delta.finish_reason is not None:
                held_thought, held_text = splitter.finish()
                thought, text = thought + held_thought, text + held_text
            if reasoning := (delta.reasoning or "") + thought:
                self._tally.reasoning.append(reasoning)
                yield ReasoningDelta(reasoning)
            if text:
                parts.append(text)
                yield from sink.push(text)
            if calls is not None and delta.tool_calls:
                yield from calls.take(delta.tool_calls)
        if sink.is_data and not "".join(parts).strip() and (found := "".join(set_apart)):
            parts = [found]
            yield from sink.push(found)
        return Generated("".join(parts), finish_reason)


def no_call(text: str, *, cut_off: bool) -> OutputError:
    """The error for a plan that must name a tool and names none."""
    if cut_off:
        message = "The reply was cut off before it named a tool."
        return TruncatedOutputError(message, text=text, hint="Raise max_tokens.")
    message = "A call is required, but the model named none of the tools."
    return OutputError(message, text=text, hint="With constrain=True it cannot write anything else.")


def new_call_id() -> str:
    """An id that no other call has."""
    return f"call_{uuid.uuid4().hex[:24]}"


def finished_call(
    call_id: str, name: str, decoded: Decoded, sink: DecodingSink
) -> ToolCall | InvalidToolCall:
    """A call whose arguments have been decoded, valid or not."""
    if decoded.ok and isinstance(decoded.value, dict):
        return ToolCall(call_id, name, decoded.value, decoded.raif)
    if decoded.truncated:
        error = f"The reply was cut off before the arguments of {name} were complete; raise max_tokens."
    else:
        error = f"The arguments of {name} do not fit its schema: {_first_errors(decoded)}."
    return InvalidToolCall(
        call_id, name, sink.text, error, decoded.errors, decoded.truncated, certain=sink.json
    )


def _first_errors(decoded: Decoded) -> str:
    shown = "; ".join(str(error) for error in decoded.errors[:3])
    return shown + (f"; and {len(decoded.errors) - 3} more" if len(decoded.errors) > 3 else "")


def _what_is_wrong(decoded: Decoded) -> str:
    return f"Some fields are missing or wrong ({_first_errors(decoded)}). Give only these."
