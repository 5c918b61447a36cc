"""Tool calls and structured output from a model in this process, through LangChain and LlamaIndex.

``make demo`` runs this. Change the sentences and the values change:

    python examples/quickstart.py --city Lima
    python examples/quickstart.py --text "Invoice A17 from Globex Corp: 2 x lamp at 30. Total 60. ..."
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from datetime import date
from typing import Any, Literal

from langchain_core.tools import tool
from llama_index.core import PromptTemplate
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers.base import BaseEventHandler
from llama_index.core.instrumentation.events.base import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent
from pydantic import BaseModel, Field

import small_model
from raif_integrations import ChatRaifVLLM, EmbeddedEngine, RaifVLLM

INVOICE_TEXT = (
    "Invoice INV-2041 from Northwind Ltd: 2 x laptop at 899.5, 3 x mug at 12, 1 x desk at 240. Total 2075. "
    "The currency is EUR. The due date is 2026-03-14."
)


@tool
def get_weather(city: str, unit: Literal["celsius", "fahrenheit"] | None = None) -> str:
    """Get the current weather for a city."""
    return f"sunny in {city}, {'64 F' if unit == 'fahrenheit' else '18 C'}"


class LineItem(BaseModel):
    """One line of an invoice."""

    item: str
    quantity: int
    price: float


class Invoice(BaseModel):
    """An invoice."""

    invoice_number: str
    company: str
    currency: Literal["EUR", "GBP", "USD"]
    due_date: date
    items: list[LineItem]
    total: float
    phone: str | None = None


def tool_call(llm: ChatRaifVLLM, engine: EmbeddedEngine, city: str) -> None:
    """LangChain: the model calls a tool."""
    request = f"What's the weather in {city}?"
    heading("LangChain: a tool call", request)
    answer = llm.bind_tools([get_weather]).invoke(request)
    for call in answer.tool_calls:
        value = {"name": call["name"], "arguments": call["args"]}
        show(engine, answer.response_metadata["raif"], value)
        row("result", get_weather.invoke(call["args"]))


def structured_output(llm: ChatRaifVLLM, engine: EmbeddedEngine, text: str) -> None:
    """LangChain: a paragraph becomes an object of a Pydantic class."""
    heading("LangChain: structured output", text)
    answer: Any = llm.with_structured_output(Invoice, include_raw=True).invoke(text)
    if answer["parsing_error"]:
        raise answer["parsing_error"]
    show(engine, answer["raw"].response_metadata["raif"], answer["parsed"])


def streamed_output(llm: ChatRaifVLLM, text: str) -> None:
    """LangChain: the same, each field shown as soon as it is complete."""
    heading("LangChain: the same, streamed")
    started = time.perf_counter()
    shown: list[str] = []
    for growing in llm.with_structured_output(Invoice.model_json_schema()).stream(text):
        for field in list(fields(growing))[len(shown) :]:
            row("" if shown else "value", f"{field}  ({time.perf_counter() - started:.1f} s)")
            shown.append(field)


def fields(value: Any, path: str = "") -> Iterator[str]:
    """The scalar fields of a value, as ``items[0].price = 899.5``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from fields(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from fields(inner, f"{path}[{index}]")
    else:
        yield f"{path} = {value!r}"


def llama_index(llm: RaifVLLM, engine: EmbeddedEngine, text: str) -> None:
    """LlamaIndex: the same object, on the same engine."""
    heading("LlamaIndex: structured_predict, on the same engine")
    last_chat = LastChat()
    get_dispatcher().add_event_handler(last_chat)
    invoice = llm.structured_predict(Invoice, PromptTemplate("{text}"), text=text)
    show(engine, last_chat.raw["raif"], invoice)


class LastChat(BaseEventHandler):
    """Keeps what the engine reported of the last chat: ``structured_predict`` returns the object only."""

    raw: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def class_name(cls) -> str:
        """The name LlamaIndex knows the handler by."""
        return "LastChat"

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        """Takes the report out of the event that ends a chat."""
        if isinstance(event, LLMChatEndEvent) and event.response is not None:
            self.raw = event.response.raw or {}


def show(engine: EmbeddedEngine, report: dict[str, Any], value: dict[str, Any] | BaseModel) -> None:
    """Prints the RAIF text, the value, and its tokens beside those of the same value as JSON."""
    row("RAIF", report["text"])
    if isinstance(value, BaseModel):
        row("value", "\n".join([type(value).__name__, *(f"  {name}={field!r}" for name, field in value)]))
        value = value.model_dump(mode="json", exclude_none=True)
    else:
        row("value", str(value))
    minified = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    as_json = engine.count_tokens(minified) + 1  # The token that ends a reply counts on both sides.
    row("tokens", f"{report['completion_tokens']} written, {as_json} as minified JSON")


def heading(title: str, request: str = "") -> None:
    """Prints what comes next."""
    print(f"\n{title}\n{'-' * len(title)}")
    if request:
        row("request", request)


def row(label: str, text: str) -> None:
    """Prints a labelled text, its lines under each other."""
    print(f"{label:>8}  " + text.strip().replace("\n", "\n" + " " * 10), flush=True)


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--city", default="Oslo", help="city to ask the weather for (default: %(default)s)")
    parser.add_argument("--text", default=INVOICE_TEXT, help="text to read an invoice from")
    parser.add_argument("--model", help="model folder or hub name (default: the prepared small model)")
    parser.add_argument("--adapter", help="its RAIF adapter (default: the small model's; '' for none)")
    return parser.parse_args()


def main() -> None:
    """Loads one engine and asks it four times."""
    options = arguments()
    model = options.model or str(small_model.prepare())
    adapter = str(small_model.ADAPTER) if options.adapter is None and not options.model else options.adapter
    print(f"Loading {model} (about a minute on a CPU)", flush=True)
    started = time.perf_counter()
    with EmbeddedEngine(model, adapters={"raif": adapter} if adapter else {}) as engine:
        engine.start()
        print(f"Loaded in {time.perf_counter() - started:.0f} s")
        served = "raif" if adapter else None
        chat = ChatRaifVLLM(engine=engine, adapter=served, temperature=0)
        tool_call(chat, engine, options.city)
        structured_output(chat, engine, options.text)
        streamed_output(chat, options.text)
        llama_index(RaifVLLM(engine=engine, adapter=served, temperature=0), engine, options.text)


# vLLM starts processes that import this file again; only the first may run it.
if __name__ == "__main__":
    main()
