"""LlamaIndex's own flows on a scripted engine: agents, extractors, response synthesis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.extractors import PydanticProgramExtractor
from llama_index.core.indices.property_graph import SchemaLLMPathExtractor
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.output_parsers import PydanticOutputParser
from llama_index.core.program import FunctionCallingProgram, LLMTextCompletionProgram
from llama_index.core.response_synthesizers import Refine
from llama_index.core.schema import Document, NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

from raif_integrations.contract import OutputContract
from raif_integrations.errors import OutputError
from raif_integrations.llama_index import RaifVLLM
from tests.llama_index.shapes import GOOD, Strict, written
from tests.support.scripted_engine import ScriptedEngine, ScriptLine


def get_weather(city: str) -> str:
    """Weather of a city, now."""
    return f"sunny in {city}"


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


TOOLS = [FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(add)]


def model(replies: Sequence[ScriptLine], **settings: Any) -> tuple[RaifVLLM, ScriptedEngine]:
    engine = ScriptedEngine(replies)
    return RaifVLLM(engine=engine, **settings), engine


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_agent_calls_two_tools_and_answers(streaming: bool) -> None:
    llm, engine = model(["get_weather", "city=Oslo", "add", "a=2\nb=3", "reply", "Sunny, and 5."])
    agent = FunctionAgent(tools=TOOLS, llm=llm, system_prompt="Be brief.", streaming=streaming)
    result = await agent.run("Weather in Oslo, and 2+3?")
    assert str(result) == "Sunny, and 5."
    assert [(call.tool_name, call.tool_output.raw_output) for call in result.tool_calls] == [
        ("get_weather", "sunny in Oslo"),
        ("add", 5),
    ]
    last = engine.last_request.messages
    assert last[0]["role"] == "system"
    text = "\n".join(message["content"] for message in last)
    assert "city=Oslo" in text
    assert "sunny in Oslo" in text


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_agent_calls_tools_side_by_side(streaming: bool) -> None:
    llm, engine = model(["get_weather\nadd", "city=Oslo", "a=2\nb=3", "reply", "Done."])
    result = await FunctionAgent(tools=TOOLS, llm=llm, streaming=streaming).run("Both, please.")
    assert str(result) == "Done."
    assert len({call.tool_id for call in result.tool_calls}) == 2
    text = engine.last_request.messages[-1]["content"]
    assert text.index("sunny in Oslo") < text.index("5")


async def test_an_agents_first_tool_may_be_given() -> None:
    llm, _ = model(["city=Rome", "reply", "Sunny."])
    result = await FunctionAgent(tools=TOOLS, llm=llm, initial_tool_choice="get_weather").run("Rome?")
    assert [call.tool_name for call in result.tool_calls] == ["get_weather"]


async def test_a_broken_call_stops_an_agent_with_the_models_text() -> None:
    llm, _ = model(["add", "a=two"], repair_attempts=0)
    with pytest.raises(OutputError, match="a=two"):
        await FunctionAgent(tools=TOOLS, llm=llm).run("2+3?")


async def test_an_agents_structured_answer() -> None:
    llm, engine = model(["reply", "Ada and Grace.", written(GOOD)])
    result = await FunctionAgent(tools=TOOLS, llm=llm, output_cls=Strict).run("Who?")
    assert result.get_pydantic_model(Strict) == GOOD
    assert len(engine.requests) == 3


async def test_a_workflow_made_from_functions_uses_the_function_agent() -> None:
    llm, _ = model(["add", "a=2\nb=3", "reply", "5"])
    workflow = AgentWorkflow.from_tools_or_functions([get_weather, add], llm=llm)
    result = await workflow.run("2+3?")
    assert [call.tool_output.raw_output for call in result.tool_calls] == [5]


async def test_a_react_agent_works_on_plain_text() -> None:
    llm, engine = model(
        [
            'Thought: I need a tool.\nAction: add\nAction Input: {"a": 2, "b": 3}',
            "Thought: I can answer without using any more tools.\nAnswer: It is 5.",
        ]
    )
    result = await ReActAgent(tools=TOOLS, llm=llm).run("2+3?")
    assert str(result) == "It is 5."
    assert all(request.constraint is None for request in engine.requests)
    assert not any("<schema>" in str(request.messages) for request in engine.requests)


# Extraction


class Metadata(BaseModel):
    """Metadata of a node."""

    title: str
    keywords: list[str]


async def test_an_extractor_fills_node_metadata() -> None:
    replies = [written(Metadata(title=title, keywords=[title.lower(), "x"])) for title in ("One", "Two")]
    llm, engine = model(replies)
    program = FunctionCallingProgram.from_defaults(
        output_cls=Metadata, prompt_template_str="Metadata of: {input}", llm=llm
    )
    extractor = PydanticProgramExtractor(program=program, input_key="input", num_workers=1)
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), extractor])
    nodes = await pipeline.arun(documents=[Document(text="first"), Document(text="second")])
    assert sorted(node.metadata["title"] for node in nodes) == ["One", "Two"]
    assert len(engine.requests) == 2


def triplet(subject: str, relation: str, target: str) -> dict[str, Any]:
    return {
        "subject": {"type": "PERSON", "name": subject},
        "relation": {"type": relation},
        "object": {"type": "COMPANY", "name": target},
    }


@pytest.mark.parametrize("strict", [True, False])
async def test_a_property_graph_is_extracted(strict: bool) -> None:
    rows = [triplet("Ada", "WORKS_AT", "Acme"), triplet("Grace", "WORKS_AT", "Navy")]
    seen: list[type[BaseModel]] = []

    def reply(request: Any) -> str:
        contract = OutputContract.from_pydantic(seen[0])
        return contract.encode({"triplets": rows})

    llm = RaifVLLM(engine=ScriptedEngine(reply))
    extractor = SchemaLLMPathExtractor(
        llm=llm,
        possible_entities=Literal["PERSON", "COMPANY"],
        possible_relations=Literal["WORKS_AT"],
        kg_validation_schema=[("PERSON", "WORKS_AT", "COMPANY")],
        strict=strict,
        num_workers=1,
    )
    seen.append(extractor.kg_schema_cls)
    (node,) = await extractor.acall([TextNode(text="Ada works at Acme, Grace at the Navy.")])
    relations = node.metadata["relations"]
    assert [relation.label for relation in relations] == ["WORKS_AT", "WORKS_AT"]
    assert {entity.name for entity in node.metadata["nodes"]} == {"Ada", "Acme", "Grace", "Navy"}


def text_program(llm: RaifVLLM) -> LLMTextCompletionProgram[Strict]:
    return LLMTextCompletionProgram.from_defaults(
        output_parser=PydanticOutputParser(output_cls=Strict), prompt_template_str="Read {text}", llm=llm
    )


def test_a_text_completion_program_reads_json_from_a_chat() -> None:
    llm, engine = model([GOOD.model_dump_json()])
    assert text_program(llm)(text="x") == GOOD
    assert engine.last_request.constraint is None


async def test_a_text_completion_program_takes_a_response_format() -> None:
    llm, engine = model([written(GOOD)] * 4)
    program = text_program(llm)
    bound: dict[str, Any] = {"response_format": Strict}
    assert program(text="x", llm_kwargs=bound) == GOOD
    assert await program.acall(text="x", llm_kwargs=bound) == GOOD
    assert list(program.stream_call(text="x", llm_kwargs=bound))[-1] == GOOD
    assert [item async for item in await program.astream_call(text="x", llm_kwargs=bound)][-1] == GOOD
    assert all(request.constraint is not None for request in engine.requests)


def test_refine_filters_structured_answers() -> None:
    def reply(request: Any) -> str:
        satisfied = "Paris" in request.messages[-1]["content"]
        return f"answer=Paris\nquery_satisfied={'true' if satisfied else 'false'}"

    llm = RaifVLLM(engine=ScriptedEngine(reply))
    refine = Refine(llm=llm, structured_answer_filtering=True)
    answer = refine.get_response("Capital of France?", ["Nothing here.", "Paris is the capital of France."])
    assert str(answer) == "Paris"


def test_a_synthesizer_gives_an_object() -> None:
    llm, _ = model([written(GOOD)])
    refine = Refine(llm=llm, output_cls=Strict)
    response = refine.synthesize("Who?", [NodeWithScore(node=TextNode(text="Ada and Grace."))])
    assert response.response == GOOD
