"""LangChain's flows on a real model in this process, with the values checked.

The sentences are of the kinds the test adapter was trained on.
"""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.exceptions import OutputParserException
from pydantic import BaseModel

from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.langchain import ChatRaifVLLM

pytestmark = pytest.mark.real


class Item(BaseModel):
    item: str
    price: float
    quantity: int


class Invoice(BaseModel):
    invoice_number: str
    company: str
    items: list[Item]
    total: float


INVOICE_TEXT = "Invoice INV-2041 from Northwind Ltd: 2 x laptop at 899.5, 3 x mug at 12. Total 1835."
INVOICE = Invoice(
    invoice_number="INV-2041",
    company="Northwind Ltd",
    items=[
        Item(item="laptop", price=899.5, quantity=2),
        Item(item="mug", price=12, quantity=3),
    ],
    total=1835,
)
PEOPLE = {
    "Alice Berg is a 34 year old nurse from Oslo.": ("Alice Berg", 34),
    "Omar Khan is a 51 year old chef from Cairo.": ("Omar Khan", 51),
}


class Person(BaseModel):
    name: str
    age: int
    job_title: str
    city: str


def get_weather(city: str) -> str:
    """Get the current weather for a city"""
    return f"Sunny, 21 degrees in {city}"


def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@pytest.fixture
def chat(embedded_engine: EmbeddedEngine, adapter_name: str) -> ChatRaifVLLM:
    return ChatRaifVLLM(engine=embedded_engine, adapter=adapter_name, temperature=0, max_tokens=200)


def test_a_tool_call_with_its_types(chat: ChatRaifVLLM) -> None:
    reply = chat.bind_tools([add], tool_choice="add").invoke("What is 17 plus 25?")
    (call,) = reply.tool_calls
    assert call["args"] == {"a": 17, "b": 25}
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["output_tokens"] == reply.response_metadata["raif"]["completion_tokens"] > 0


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_an_invoice(chat: ChatRaifVLLM, way: str) -> None:
    model = chat.with_structured_output(Invoice)
    if way == "invoke":
        found = model.invoke(INVOICE_TEXT)
    elif way == "ainvoke":
        found = await model.ainvoke(INVOICE_TEXT)
    elif way == "stream":
        found = list(model.stream(INVOICE_TEXT))[-1]
    else:
        found = [item async for item in model.astream(INVOICE_TEXT)][-1]
    assert found == INVOICE


def test_a_streamed_invoice_grows(chat: ChatRaifVLLM) -> None:
    items = list(chat.with_structured_output(Invoice.model_json_schema()).stream(INVOICE_TEXT))
    assert items[-1] == INVOICE.model_dump()
    assert len(items) >= 5
    assert len(items[0]) < len(items[-1])


def test_a_cut_off_invoice_is_an_exception(chat: ChatRaifVLLM) -> None:
    model = chat.model_copy(update={"max_tokens": 10}).with_structured_output(Invoice)
    with pytest.raises(OutputParserException, match="max_tokens"):
        model.invoke(INVOICE_TEXT)
    with pytest.raises(OutputParserException, match="max_tokens"):
        list(model.stream(INVOICE_TEXT))


def test_a_cut_off_call_is_invalid_on_every_path(chat: ChatRaifVLLM) -> None:
    bound = chat.model_copy(update={"max_tokens": 10}).bind_tools([Invoice], tool_choice="Invoice")
    invoked = bound.invoke(INVOICE_TEXT)
    chunks = list(bound.stream(INVOICE_TEXT))
    streamed = chunks[0] + chunks[1:]
    assert invoked.tool_calls == streamed.tool_calls == []
    assert invoked.invalid_tool_calls[0]["args"] == streamed.invalid_tool_calls[0]["args"]


def test_a_stop_string_ends_the_text(chat: ChatRaifVLLM, embedded_engine: EmbeddedEngine) -> None:
    plain = ChatRaifVLLM(engine=embedded_engine, temperature=0, max_tokens=30)
    text = plain.invoke("Count from one to ten in words.").text
    word = text.split()[3]
    stopped = plain.invoke("Count from one to ten in words.", stop=[word]).text
    assert word not in stopped
    assert text.startswith(stopped)


def test_a_batch_of_sixteen(chat: ChatRaifVLLM) -> None:
    texts = list(PEOPLE) * 8
    people = chat.with_structured_output(Person).batch(texts)
    assert [(person.name, person.age) for person in people] == [PEOPLE[text] for text in texts]


async def test_a_cancelled_stream_leaves_nothing_running(
    chat: ChatRaifVLLM, embedded_engine: EmbeddedEngine
) -> None:
    stream = chat.astream("Write a long story about a lamp.")
    await anext(stream)
    await stream.aclose()
    for _ in range(100):
        if embedded_engine.unfinished_requests == 0:
            break
        await asyncio.sleep(0.05)
    assert embedded_engine.unfinished_requests == 0


def test_an_agent_calls_a_tool_and_then_answers(chat: ChatRaifVLLM) -> None:
    agent = create_agent(chat.model_copy(update={"max_tokens": 60}), tools=[get_weather, add])
    state = agent.invoke({"messages": [("human", "What is the weather in Paris?")]}, {"recursion_limit": 10})
    kinds = [message.type for message in state["messages"]]
    assert kinds[0] == "human"
    assert kinds[-1] == "ai"
    assert not state["messages"][-1].tool_calls
    assert "tool" in kinds


def test_tokens_are_counted_by_the_models_own_tokenizer(chat: ChatRaifVLLM) -> None:
    reply = chat.bind_tools([add], tool_choice="add").invoke("What is 17 plus 25?")
    counted = chat.get_num_tokens_from_messages(chat._convert_input("What is 17 plus 25?").to_messages())
    assert reply.usage_metadata is not None
    assert 0 < counted < reply.usage_metadata["input_tokens"]
