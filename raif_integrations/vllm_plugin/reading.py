"""One reply on its way from the model's text to what the client gets. Knows nothing of vLLM."""

from __future__ import annotations

from dataclasses import dataclass, field

from raif_integrations.conversation.one_pass_reader import ReadEvent, ReadResult, TextReader
from raif_integrations.conversation.reasoning import ReasoningSplitter
from raif_integrations.vllm_plugin.binding import Binding
from raif_integrations.vllm_plugin.plan import Reader
from raif_integrations.vllm_plugin.thinking import Thinking


@dataclass(slots=True)
class Told:
    """What a piece of text came to.

    Attributes:
        reasoning: New reasoning.
        events: New calls, arguments and answer text.
    """

    reasoning: str = ""
    events: list[ReadEvent] = field(default_factory=list)


class Reading:
    """Reads one reply.

    The client's limit on tokens may cut a reply in a place where it looks whole. vLLM does not tell its
    parsers, so the request asks for the text of the end token, which no limit can produce: a text
    that ends with it was ended by the model. Stop strings of the client come with it, and are taken off here.

    Args:
        binding: What the request asks for.
        splits_reasoning: Reasoning that the model opens itself is to be set apart here.
    """

    def __init__(self, binding: Binding, *, splits_reasoning: bool = True) -> None:
        plan = binding.plan
        self._reader: Reader = plan.make_reader() if plan.make_reader is not None else TextReader()
        self._endings = binding.endings if binding.applied else ()
        self._stops = binding.stops
        self._held = ""
        maybe = splits_reasoning and binding.thinking is Thinking.MAYBE
        self._splitter = ReasoningSplitter() if maybe else None
        self._skips_breaks = binding.thinking is Thinking.OPEN

    def push(self, text: str) -> Told:
        """Takes the next piece."""
        text = self._held + text
        self._held = self._end_of(text)
        return self._told(text.removesuffix(self._held))

    def finish(self) -> tuple[Told, ReadResult, bool]:
        """Ends the reply.

        Returns:
            What was left to tell, everything that was read, and whether the model ended by itself.
        """
        finished = self._held in self._endings or not self._endings
        told = Told()
        if self._held and self._held not in (*self._endings, *self._stops):
            told = self._told(self._held)
        if self._splitter is not None:
            reasoning, answer = self._splitter.finish()
            told.reasoning += reasoning
            told.events += self._reader.push(answer) if answer else []
        events, result = self._reader.finish(finished=finished)
        told.events += events
        return told, result, finished

    def _end_of(self, text: str) -> str:
        """What has to wait: an end token, or what may be the beginning of a stop string."""
        ending = next((ending for ending in self._endings if text.endswith(ending)), "")
        if ending or not self._stops:
            return ending
        lengths = (
            next(
                (
                    length
                    for length in range(min(len(stop), len(text)), 0, -1)
                    if text.endswith(stop[:length])
                ),
                0,
            )
            for stop in self._stops
        )
        length = max(lengths)
        return text[len(text) - length :]

    def _told(self, text: str) -> Told:
        if self._skips_breaks:
            text = text.lstrip()
            self._skips_breaks = not text
        reasoning = ""
        if self._splitter is not None and text:
            reasoning, text = self._splitter.push(text)
        return Told(reasoning, self._reader.push(text) if text else [])
