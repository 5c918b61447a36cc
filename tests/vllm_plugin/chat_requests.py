"""Requests as vLLM makes them from a client's JSON, bound and adjusted as on a server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.parser import ParserManager

from raif_integrations.vllm_plugin import register
from raif_integrations.vllm_plugin.adjusting import plan_of
from raif_integrations.vllm_plugin.binding import Binding, bind
from raif_integrations.vllm_plugin.flags import PARSER_NAME
from raif_integrations.vllm_plugin.thinking import Thinking

END = "<|im_end|>"
TEXT = {"type": "string"}


def tool(name: str, /, **properties: Any) -> dict[str, Any]:
    """An OpenAI tool dict whose properties are all required."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    described = {"name": name, "description": f"Calls {name}.", "parameters": parameters}
    return {"type": "function", "function": described}


WEATHER = tool("get_weather", city=TEXT)
TIME = tool("get_time", zone=TEXT)
NOW = tool("now")
TREE = tool("tree", n=TEXT, c={"type": "array", "items": {"$ref": "#"}})


def schema_format(schema: Any) -> dict[str, Any]:
    """OpenAI's response format for a schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


PERSON = schema_format(tool("p", name=TEXT, age={"type": "integer"})["function"]["parameters"])


def chat(**fields: Any) -> ChatCompletionRequest:
    """A chat request."""
    messages = [{"role": "user", "content": "Hello?"}]
    return ChatCompletionRequest(**{"model": "raif", "messages": messages, **fields})


def responses(**fields: Any) -> ResponsesRequest:
    """A request of the Responses API."""
    return ResponsesRequest(**{"model": "raif", "input": "Hello?", **fields})


def bound(request: Any, *, thinking: Thinking = Thinking.NONE) -> Binding:
    """Binds a request as the renderer does."""
    binding = Binding(
        plan_of(request, ()),
        thinking=thinking,
        endings=(END,),
        tool_choice=getattr(request, "tool_choice", None),
    )
    bind(request, binding)
    return binding


@lru_cache
def parser_class(tokenizer: Any) -> Any:
    """The parser a server composes under the plugin's flags."""
    register()
    return ParserManager.get_parser(PARSER_NAME, PARSER_NAME, True, tokenizer=tokenizer)


class Replies:
    """What a client gets for what a model wrote."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._class = parser_class(tokenizer)

    def parser(self, request: Any) -> Any:
        """A parser for one request or choice."""
        return self._class(self.tokenizer, request.tools)

    def adjust(self, request: Any, *, thinking: Thinking = Thinking.NONE) -> Binding:
        """Binds and adjusts a request as a server does before it generates."""
        binding = bound(request, thinking=thinking)
        assert self.parser(request).adjust_request(request) is request
        return binding

    def whole(self, request: Any, text: str) -> tuple[str | None, str | None, list[tuple[str, str]]]:
        """Reasoning, content and calls of a reply that is not streamed."""
        reasoning, content, calls = self.parser(request).parse(text, request, enable_auto_tools=True)
        return reasoning, content, [(call.name, call.arguments) for call in calls or []]

    def streamed(
        self, request: Any, pieces: Sequence[str], *, prompt: Sequence[int] = (1,)
    ) -> tuple[str | None, str | None, list[tuple[str, str]]]:
        """The same of a streamed one, put together as clients do."""
        parser = self.parser(request)
        reasoning, content = "", ""
        calls: dict[int, list[str]] = {}
        for number, piece in enumerate(pieces):
            ids = self.tokenizer.encode(piece, add_special_tokens=False)
            delta = parser.parse_delta(piece, ids, request, list(prompt), finished=number == len(pieces) - 1)
            if delta is None:
                continue
            reasoning += delta.reasoning or ""
            content += delta.content or ""
            for call in delta.tool_calls:
                if call.index not in calls:
                    assert call.id
                    assert call.function.name
                    calls[call.index] = [call.function.name, ""]
                calls[call.index][1] += call.function.arguments or ""
        assert list(calls) == list(range(len(calls)))
        return reasoning or None, content or None, [(name, text) for name, text in calls.values()]


def cut(text: str, size: int) -> list[str]:
    """A text in pieces; the end token comes as a piece of its own, as from a tokenizer."""
    ended = text.endswith(END)
    body = text.removesuffix(END)
    pieces = [body[start : start + size] for start in range(0, len(body), size)] or [""]
    return [*pieces, END] if ended else pieces
