"""LlamaIndex's flows on a real model in this process.

The sentences are of the kinds the test adapter was trained on, so that its values can be checked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.output_parsers import PydanticOutputParser
from llama_index.core.program import FunctionCallingProgram, LLMTextCompletionProgram
from llama_index.core.prompts import PromptTemplate
from llama_index.core.response_synthesizers import Refine
from llama_index.core.tools import FunctionTool
from llama_index.core.types import PydanticProgramMode
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
PROMPT = PromptTemplate("{text}")


PEOPLE = {
    "Alice Berg is a 34 year old nurse from Oslo.": Person(
        name="Alice Berg", age=34, job_title="nurse", city="Oslo"
    ),
    "Omar Khan is a 51 year old chef from Cairo.": Person(
        name="Omar Khan", age=51, job_title="chef", city="Cairo"
    ),
}

TEXT = next(iter(PEOPLE))


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
async def test_a_person_by_all_four_methods(llm: RaifVLLM, method: str) -> None:
    result: Any = getattr(llm, method)(Person, PROMPT, text=TEXT)
    if method.startswith("a"):
        result = await result
    if "stream" in method:
        objects = [item async for item in result] if method.startswith("a") else list(result)
        assert len(objects) > 1
        result = objects[-1]
    assert result == PEOPLE[TEXT]


def test_a_cut_off_invoice_is_an_error(llm: RaifVLLM) -> None:
    with pytest.raises(TruncatedOutputError):
        llm.structured_predict(Invoice, PROMPT, llm_kwargs={"max_tokens": 5}, text=INVOICE_TEXT)


def test_a_function_calling_program(llm: RaifVLLM) -> None:
    program = FunctionCallingProgram.from_defaults(output_cls=Invoice, prompt_template_str="{text}", llm=llm)
    assert program(text=INVOICE_TEXT) == INVOICE


def test_a_function_calling_program_streams(llm: RaifVLLM) -> None:
    program = FunctionCallingProgram.from_defaults(output_cls=Person, prompt_template_str="{text}", llm=llm)
    assert list(program.stream_call(text=TEXT))[-1] == PEOPLE[TEXT]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_text_completion_program(llm: RaifVLLM, stream: bool) -> None:
    # Core's prompt repeats the class as a JSON Schema, which is more than so small a model can read.
    parser = PydanticOutputParser(output_cls=Person, pydantic_format_tmpl="")
    program = LLMTextCompletionProgram.from_defaults(
        output_parser=parser, prompt_template_str="{text}", llm=llm
    )
    bound: dict[str, Any] = {"response_format": Person}
    if stream:
        result: Any = list(program.stream_call(text=TEXT, llm_kwargs=bound))[-1]
    else:
        result = await program.acall(text=TEXT, llm_kwargs=bound)
    assert result == PEOPLE[TEXT]


def test_the_text_completion_mode(llm: RaifVLLM) -> None:
    mode = llm.model_copy(update={"pydantic_program_mode": PydanticProgramMode.LLM})
    person = mode.structured_predict(Person, PROMPT, text=TEXT)
    assert (person.name, person.age, person.city) == ("Alice Berg", 34, "Oslo")


def test_a_structured_llm(llm: RaifVLLM) -> None:
    structured = llm.as_structured_llm(Person)
    assert structured.chat([ChatMessage(content=TEXT)]).raw == PEOPLE[TEXT]
    assert list(structured.stream_chat([ChatMessage(content=TEXT)]))[-1].raw == PEOPLE[TEXT]


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


def test_the_example_makes_typed_nodes_and_a_graph(
    embedded_engine: EmbeddedEngine, adapter_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    llama_index_extraction.main(["--adapter", adapter_name], embedded_engine)
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in printed if line.startswith("Person(")] == [repr(one) for one in PEOPLE.values()]
    assert printed[-1] == "Alice Berg (PERSON) -[WORKS_AT]-> Acme (COMPANY)"


def test_refine_with_structured_answers_ends_in_text(llm: RaifVLLM) -> None:
    refine = Refine(llm=llm, structured_answer_filtering=True)
    answer = refine.get_response("Where is Alice from?", ["Alice Berg is a 34 year old nurse from Oslo."])
    assert isinstance(answer, str)


async def test_a_react_agent_is_asked_in_plain_text(
    embedded_engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[Request] = []
    written: list[str] = []
    stream = embedded_engine.astream

    async def recorded(request: Request) -> AsyncGenerator[Delta, None]:
        requests.append(request)
        async with aclosing(stream(request)) as deltas:
            async for delta in deltas:
                written.append(delta.text)
                yield delta

    monkeypatch.setattr(embedded_engine, "astream", recorded)
    llm = RaifVLLM(engine=embedded_engine, temperature=0.0, max_tokens=40)
    # So small a model rarely keeps to ReAct's form. Core takes plain text for the answer, asks again after
    # a broken step, and at last for any answer.
    agent = ReActAgent(tools=TOOLS, llm=llm, early_stopping_method="generate")
    run = agent.run("What is 2 plus 3?", max_iterations=2)
    shown = [event.delta async for event in run.stream_events() if isinstance(event, AgentStream)]
    assert str(await run)
    assert "".join(shown) == "".join(written) != ""
    assert "get_weather" in str(requests[0].messages)
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
    assert llm.structured_predict(Person, PROMPT, text=TEXT) == PEOPLE[TEXT]
    assert llm._open_engine() is embedded_engine
