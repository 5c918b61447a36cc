"""Tool calls and structured output from a model in this process, through LangChain and LlamaIndex.

``make demo`` runs this. Change the sentences and the values change:

    python examples/quickstart.py --city Lima
    python examples/quickstart.py --text "Invoice A17 from Globex Corp: 2 x lamp at 30. Total 60. ..."
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from datetime import date
from typing import Any, Literal

# Set before vLLM is imported: errors only, so that the answers stay readable.
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

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
        show(engine, answer.response_metadata["raif"], f"{call['name']}({call['args']})", value)
        row("result", get_weather.invoke(call["args"]))


def structured_output(llm: ChatRaifVLLM, engine: EmbeddedEngine, text: str) -> None:
    """LangChain: a paragraph becomes an object of a Pydantic class."""
    heading("LangChain: structured output", text)
    answer: Any = llm.with_structured_output(Invoice, include_raw=True).invoke(text)
    if answer["parsing_error"]:
        raise answer["parsing_error"]
    show(engine, answer["raw"].response_metadata["raif"], repr(answer["parsed"]), answer["parsed"])


def streamed_output(llm: ChatRaifVLLM, text: str) -> None:
    """LangChain: the same, shown as it is written."""
    heading("LangChain: the same, streamed", text)
    started, first = time.perf_counter(), 0.0
    for growing in llm.with_structured_output(Invoice.model_json_schema()).stream(text):
        first = first or time.perf_counter() - started
        redraw("value", json.dumps(growing, ensure_ascii=False))
    print()
    row("time", f"{first:.1f} s to the first value, {time.perf_counter() - started:.1f} s in all")


def llama_index(llm: RaifVLLM, engine: EmbeddedEngine, text: str) -> None:
    """LlamaIndex: the same object, on the same engine."""
    heading("LlamaIndex: structured_predict", text)
    last_chat = LastChat()
    get_dispatcher().add_event_handler(last_chat)
    invoice = llm.structured_predict(Invoice, PromptTemplate("{text}"), text=text)
    show(engine, last_chat.raw["raif"], repr(invoice), invoice)


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
            self.raw = event.response.raw


def show(engine: EmbeddedEngine, report: dict[str, Any], value: str, data: Any) -> None:
    """Prints the RAIF text, the value, and its tokens beside those of the same value as JSON."""
    data = data.model_dump(mode="json", exclude_none=True) if isinstance(data, BaseModel) else data
    minified = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    as_json = engine.count_tokens(minified) + 1  # The token that ends a reply counts on both sides.
    row("RAIF", report["text"])
    row("value", value)
    row("tokens", f"{report['completion_tokens']} written, {as_json} as minified JSON")


def heading(title: str, request: str) -> None:
    """Prints what comes next."""
    print(f"\n{title}\n{'-' * len(title)}")
    row("request", request)


def row(label: str, text: str) -> None:
    """Prints a labelled text, its lines under each other."""
    print(f"{label:>8}  " + text.strip().replace("\n", "\n" + " " * 10), flush=True)


def redraw(label: str, text: str) -> None:
    """Prints over the last line on a terminal, and on a line of its own elsewhere."""
    if sys.stdout.isatty():
        width = os.get_terminal_size().columns - 12
        print(f"\r{label:>8}  {text[-width:]:<{width}}", end="", flush=True)
    else:
        row(label, text)


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
