"""The reasoning parser: sets ``<think>…</think>`` apart, and tells vLLM from where a grammar binds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.reasoning import ReasoningParser

from raif_integrations.conversation.reasoning import ReasoningSplitter
from raif_integrations.vllm_plugin.adjusting import apply
from raif_integrations.vllm_plugin.binding import binding_of
from raif_integrations.vllm_plugin.thinking import CLOSE, OPEN, Thinking, is_open, tag_ids


class RaifReasoningParser(ReasoningParser):  # type: ignore[misc]  # vLLM's classes are not checked
    """Reasoning between ``<think>`` and ``</think>``, of models that know these as tokens.

    The API server has one for each reply, the engine one for each constrained request.
    """

    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self._tags = tag_ids(tokenizer)
        self._splitter = ReasoningSplitter(inside=True)

    @property
    def reasoning_start_str(self) -> str | None:
        """The tag before the reasoning; ``None`` for a model that does not think."""
        return OPEN if self._tags is not None else None

    @property
    def reasoning_end_str(self) -> str | None:
        """The tag behind the reasoning; ``None`` for a model that does not think."""
        return CLOSE if self._tags is not None else None

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether a grammar binds from the first token on: all but prompts that end inside the reasoning.

        So ``/v1/completions`` is constrained too (vLLM issue 57726). Reasoning that the model opens itself is
        a part of the plan's grammar.
        """
        return not is_open(self._tags, input_ids)

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """Whether the reasoning ends within the newest tokens."""
        return self._tags is None or self._tags[1] in delta_ids

    def adjust_request(self, request: Any) -> Any:
        """Does what the tool parser does, for releases that ask only this one where there are no tools."""
        binding = binding_of(request)
        if binding is not None:
            apply(request, binding, self.model_tokenizer)
        return request

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The tokens behind the reasoning."""
        if self._tags is None or self._tags[1] not in input_ids:
            return input_ids
        return input_ids[input_ids.index(self._tags[1]) + 1 :]

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """Tokens of the reasoning in a reply, tags not counted."""
        if self._tags is None or self._tags[1] not in token_ids:
            inside = self._tags is not None and bool(token_ids) and token_ids[0] == self._tags[0]
            return len(token_ids) - 1 if inside else 0
        end = list(token_ids).index(self._tags[1])
        return end - sum(token == self._tags[0] for token in token_ids[:end])

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """Splits a whole reply into reasoning and answer."""
        binding = binding_of(request)
        thinking = binding.thinking if binding is not None else Thinking.NONE
        if thinking is Thinking.NONE:
            return None, model_output
        splitter = ReasoningSplitter(inside=thinking is Thinking.OPEN)
        reasoning, answer = splitter.push(model_output)
        held_reasoning, held_answer = splitter.finish()
        return (reasoning + held_reasoning) or None, answer + held_answer

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any:
        """Reads the next piece of a reply that began inside the reasoning."""
        reasoning, answer = self._splitter.push(delta_text)
        if not (reasoning or answer):
            return None
        return DeltaMessage(reasoning=reasoning or None, content=answer or None)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether the answer has begun."""
        return self._splitter.ended

    def finish_streaming(self) -> Any:
        """Hands out what was held back as a beginning of the closing tag."""
        reasoning, answer = self._splitter.finish()
        if not (reasoning or answer):
            return None
        return DeltaMessage(reasoning=reasoning or None, content=answer or None)
