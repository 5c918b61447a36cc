"""The tool parser: RAIF's grammar into the request, and calls, answer and JSON text out of the reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.tool_parsers import ToolParser

from raif_integrations.conversation.one_pass_reader import (
    AnswerDelta,
    ArgumentsDelta,
    CallBegun,
    ReadCall,
    ReadEvent,
)
from raif_integrations.turn.generations import new_call_id
from raif_integrations.vllm_plugin import vllm_api
from raif_integrations.vllm_plugin.adjusting import apply, bind_rendered, give_back_text
from raif_integrations.vllm_plugin.binding import Binding, Decoding, binding_of
from raif_integrations.vllm_plugin.metrics import announce
from raif_integrations.vllm_plugin.reading import Reading, Told


class RaifToolParser(ToolParser):  # type: ignore[misc]  # vLLM's classes are not checked
    """Decodes the replies of one server, ``tool_choice="none"`` and response formats included.

    vLLM makes one for each request, and one for each choice of a streamed reply.
    """

    engine_based_streaming = True
    """It is asked for every reply, and keeps the text it still needs itself."""

    supports_required_and_named = False
    """A forced call is RAIF too, not the JSON vLLM would read itself."""

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        super().__init__(tokenizer, tools)
        if not Decoding.is_on and vllm_api.carries_requests():
            announce()
        Decoding.is_on = True
        self._reading: Reading | None = None
        self._wants_empty = True

    def adjust_request(self, request: Any) -> Any:
        """Puts the plan's grammar into the request."""
        tokenizer = self.model_tokenizer
        apply(request, binding_of(request) or bind_rendered(request, tokenizer), tokenizer)
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Reads a whole reply, its reasoning already taken off.

        A call that was cut off is left out. One that ended but breaks its schema (a few keywords are
        beyond any grammar) keeps arguments without an end, so that nobody takes them for whole.
        """
        binding = _binding(request, self.model_tokenizer)
        give_back_text(request)
        reading = Reading(binding, splits_reasoning=False)
        reading.push(model_output)
        _, result, finished = reading.finish()
        calls = [call for call in result.calls if not call.decoded.truncated]
        vllm_api.report_length(request, binding.tool_choice, cut_off=bool(calls) and not finished)
        return ExtractedToolCallInformation(
            tools_called=bool(calls),
            tool_calls=[_tool_call(call) for call in calls],
            content=result.text or None,
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """Reads the next piece of a streamed reply."""
        if self._reading is None:
            binding = _binding(request, self.model_tokenizer)
            give_back_text(request)
            self._reading = Reading(binding)
            self._wants_empty = binding.plan.make_reader is None
        message = _message(self._reading.push(delta_text))
        if message is None and self._wants_empty:
            return DeltaMessage(content="")
        return message

    def finish_streaming(self) -> Any:
        """Ends a streamed reply: what was held back, and the ends of its JSON texts."""
        if self._reading is None:
            return None
        told, _, _ = self._reading.finish()
        self._reading = None
        return _message(told)


def _binding(request: Any, tokenizer: Any) -> Binding:
    """The binding of a request whose reply is read.

    vLLM's batch endpoint reads replies with a new copy of the request, which is bound and adjusted anew.
    """
    binding = binding_of(request)
    if binding is None:
        binding = bind_rendered(request, tokenizer)
        apply(request, binding, tokenizer)
    return binding


def _tool_call(call: ReadCall) -> Any:
    identifier = new_call_id()
    function = FunctionCall(id=identifier, name=call.name, arguments=call.json)
    return ToolCall(id=identifier, function=function)


def _message(told: Told) -> Any:
    """What a piece came to as vLLM's delta, or ``None`` if there is nothing to tell."""
    content = "".join(event.text for event in told.events if isinstance(event, AnswerDelta))
    calls = _call_deltas(told.events)
    if not (content or calls or told.reasoning):
        return None
    return DeltaMessage(content=content or None, reasoning=told.reasoning or None, tool_calls=calls)


def _call_deltas(events: Sequence[ReadEvent]) -> list[Any]:
    """One delta for each call that goes on; a call that begins brings its name and id."""
    deltas: dict[int, Any] = {}
    for event in events:
        if isinstance(event, CallBegun):
            function = DeltaFunctionCall(name=event.name, arguments="")
            deltas[event.index] = DeltaToolCall(
                id=new_call_id(), type="function", index=event.index, function=function
            )
        elif isinstance(event, ArgumentsDelta):
            known = deltas.setdefault(
                event.index, DeltaToolCall(index=event.index, function=DeltaFunctionCall(arguments=""))
            )
            known.function.arguments += event.json
    return list(deltas.values())
