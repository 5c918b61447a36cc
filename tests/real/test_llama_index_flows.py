"""LlamaIndex's flows on a real model in this process.

The sentences are of the kinds the test adapter was trained on, so that its values can be checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.program import FunctionCallingProgram
from llama_index.core.prompts import PromptTemplate
from llama_index.core.response_synthesizers import Refine
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import WorkflowRuntimeError
from pydantic import BaseModel

import llama_index_extraction
from llama_index_extraction import Person
from raif_integrations.engines.base import Delta, Request
from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.errors import TruncatedOutputError
from raif_integrations.llama_index import RaifVLLM

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


INVOICE_TEXT = "Invoice INV-204 from Acme Inc: 2 x laptop at 450, 3 x lamp at 20. Total 960."
INVOICE = Invoice(
    invoice_number="INV-204",
    company="Acme Inc",
    items=[Item(item="laptop", price=450, quantity=2), Item(item="lamp", price=20, quantity=3)],
    total=960,
)
PROMPT = PromptTemplate("{text}")


PEOPLE = {
    "Alice Berg is a 34 year old nurse from Oslo.": Person(
        name="Alice Berg", age=34, job_title="nurse", city="Oslo"
    ),
    "Omar Khan is a 51 year old chef from Cairo.": Person(
        name="Omar Khan", age=51, job_title="chef", city="Cairo"
    ),
}


def get_weather(city: str) -> str:
    """Get the current weather for a city"""
    return f"Sunny, 21 degrees in {city}"


def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


TOOLS = [FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(add)]


@pytest.fixture(scope="module")
def llm(embedded_engine: EmbeddedEngine, adapter_name: str) -> RaifVLLM:
    return RaifVLLM(engine=embedded_engine, adapter=adapter_name, temperature=0.0, max_tokens=200)


def test_metadata_comes_from_the_engine(llm: RaifVLLM, embedded_engine: EmbeddedEngine) -> None:
    assert llm.metadata.context_window == embedded_engine.info.max_model_len


def test_plain_chat_and_completion(embedded_engine: EmbeddedEngine) -> None:
    llm = RaifVLLM(engine=embedded_engine, temperature=0.0, max_tokens=12)
    chat = llm.chat([ChatMessage(content="Say hello.")])
    completion = llm.complete("Say hello.")
    assert chat.message.content
    assert completion.text == chat.message.content
    assert chat.raw["usage"]["completion_tokens"] <= 12
    chunks = list(llm.stream_chat([ChatMessage(content="Say hello.")]))
    assert "".join(chunk.delta or "" for chunk in chunks) == chat.message.content
    assert chunks[-1].raw["usage"] is not None


@pytest.mark.parametrize(
    "method",
    ["structured_predict", "astructured_predict", "stream_structured_predict", "astream_structured_predict"],
)
async def test_an_invoice_by_all_four_methods(llm: RaifVLLM, method: str) -> None:
    result: Any = getattr(llm, method)(Invoice, PROMPT, text=INVOICE_TEXT)
    if method.startswith("a"):
        result = await result
    if "stream" in method:
        objects = [item async for item in result] if method.startswith("a") else list(result)
        assert len(objects) > 1
        result = objects[-1]
    assert result == INVOICE


def test_a_cut_off_invoice_is_an_error(llm: RaifVLLM) -> None:
    with pytest.raises(TruncatedOutputError):
        llm.structured_predict(Invoice, PROMPT, llm_kwargs={"max_tokens": 5}, text=INVOICE_TEXT)


@pytest.mark.parametrize("stream", [False, True])
def test_a_function_calling_program(llm: RaifVLLM, stream: bool) -> None:
    program = FunctionCallingProgram.from_defaults(output_cls=Invoice, prompt_template_str="{text}", llm=llm)
    result: Any = list(program.stream_call(text=INVOICE_TEXT))[-1] if stream else program(text=INVOICE_TEXT)
    assert result == INVOICE


def test_a_structured_llm(llm: RaifVLLM) -> None:
    structured = llm.as_structured_llm(Invoice)
    assert structured.chat([ChatMessage(content=INVOICE_TEXT)]).raw == INVOICE
    assert list(structured.stream_chat([ChatMessage(content=INVOICE_TEXT)]))[-1].raw == INVOICE


async def test_the_chosen_tool_is_run(llm: RaifVLLM) -> None:
    result = await llm.apredict_and_call(TOOLS, user_msg="What's the weather in Oslo?")
    assert result.response == "Sunny, 21 degrees in Oslo"


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_agent_with_two_tools_ends_in_text(llm: RaifVLLM, streaming: bool) -> None:
    agent = FunctionAgent(tools=TOOLS, llm=llm, streaming=streaming)
    result = await agent.run("What's the weather in Oslo?", max_iterations=4)
    assert [call.tool_name for call in result.tool_calls] == ["get_weather"]
    assert result.tool_calls[0].tool_kwargs == {"city": "Oslo"}
    assert "21" in str(result)


async def test_an_agent_workflow(llm: RaifVLLM) -> None:
    workflow = AgentWorkflow.from_tools_or_functions([get_weather, add], llm=llm)
    result = await workflow.run("What is 14 plus 27?")
    assert [call.tool_output.raw_output for call in result.tool_calls] == [41]
    assert str(result)


async def test_an_agents_structured_answer(llm: RaifVLLM) -> None:
    class Weather(BaseModel):
        city: str
        temperature: int

    agent = FunctionAgent(tools=TOOLS, llm=llm, output_cls=Weather)
    result = await agent.run("What's the weather in Oslo?", max_iterations=4)
    assert isinstance(result.get_pydantic_model(Weather), Weather)


def test_node_metadata_in_an_ingestion_pipeline(llm: RaifVLLM) -> None:
    nodes = llama_index_extraction.nodes_with_metadata(llm, tuple(PEOPLE))
    assert [Person.model_validate(node.metadata) for node in nodes] == list(PEOPLE.values())


def test_a_property_graph(llm: RaifVLLM) -> None:
    # So small a model mixes up which of the two is the company, but not the names.
    (triplet,) = llama_index_extraction.property_graph(llm).get_triplets(relation_names=["WORKS_AT"])
    subject, relation, target = triplet
    assert (subject.id, relation.label, target.id) == ("Alice Berg", "WORKS_AT", "Acme")


def test_refine_with_structured_answers_ends_in_text(llm: RaifVLLM) -> None:
    refine = Refine(llm=llm, structured_answer_filtering=True)
    answer = refine.get_response("Where is Alice from?", ["Alice Berg is a 34 year old nurse from Oslo."])
    assert isinstance(answer, str)


async def test_a_react_agent_is_asked_in_plain_text(
    embedded_engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[Request] = []
    stream = embedded_engine.astream

    def recorded(request: Request) -> AsyncIterator[Delta]:
        requests.append(request)
        return stream(request)

    monkeypatch.setattr(embedded_engine, "astream", recorded)
    llm = RaifVLLM(engine=embedded_engine, temperature=0.0, max_tokens=40)
    with suppress(WorkflowRuntimeError):  # So small a model rarely keeps to ReAct's form.
        await ReActAgent(tools=TOOLS, llm=llm).run("What is 2 plus 3?", max_iterations=2)
    assert requests
    for request in requests:
        assert request.constraint is None
        assert "<schema>" not in str(request.messages)


def test_leaving_a_stream_leaves_no_request_behind(llm: RaifVLLM, embedded_engine: EmbeddedEngine) -> None:
    stream = llm.stream_chat([ChatMessage(content="Count to one hundred.")])
    next(stream)
    stream.close()
    llm.chat([ChatMessage(content="Say hello.")], max_tokens=1)
    assert embedded_engine.unfinished_requests == 0


def test_the_same_settings_share_the_engine(
    embedded_engine: EmbeddedEngine, model_path: Path, adapter_path: Path, engine_args: dict[str, Any]
) -> None:
    llm = RaifVLLM(model=str(model_path), adapter=str(adapter_path), engine_args=engine_args, temperature=0.0)
    assert llm.structured_predict(Person, PROMPT, text=next(iter(PEOPLE))) == next(iter(PEOPLE.values()))
    assert llm._open_engine() is embedded_engine
