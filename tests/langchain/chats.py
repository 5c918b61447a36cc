"""A chat model on a scripted engine, and schemas to ask for."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from raif_integrations.langchain import ChatRaifVLLM
from tests.support.scripted_engine import Script, ScriptedEngine


class Invoice(BaseModel):
    """An invoice."""

    number: str
    total: float
    tags: list[str] = []


INVOICE_TEXT = "number=0042\ntags=[\nurgent\npaid\n]\ntotal=12.5\n"
INVOICE = {"number": "0042", "tags": ["urgent", "paid"], "total": 12.5}


def get_weather(city: str, days: int) -> str:
    """Tells the weather of a city."""
    return f"{city} {days}"


def now() -> str:
    """Tells the time."""
    return "12:00"


def chat(replies: Script, *, chunk_sizes: tuple[int, ...] = (4,), **settings: Any) -> ChatRaifVLLM:
    """A chat model whose engine answers from a script."""
    engine = ScriptedEngine(replies, chunk_sizes=chunk_sizes, model="raif-scripted")
    return ChatRaifVLLM(engine=engine, **settings)
