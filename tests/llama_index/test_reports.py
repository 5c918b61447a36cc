"""What LlamaIndex users reported about self-hosted models, a row each.

The names are the issues and pull requests of run-llama/llama_index (``li``) and vllm-project/vllm.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ThinkingBlock, ToolCallBlock
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.indices.property_graph import SchemaLLMPathExtractor
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.prompts import PromptTemplate
from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel, Field

from raif_integrations.contract import OutputContract
from raif_integrations.engines.base import Request, Sampling, Usage
from raif_integrations.errors import OutputError, TruncatedOutputError
from raif_integrations.llama_index import RaifVLLM
from tests.llama_index.shapes import GOOD, SHAPES, Single, Strict, written
from tests.support.scripted_engine import Reply, ScriptedEngine, ScriptLine

PROMPT = PromptTemplate("Read: {text}")
HELLO = [ChatMessage(content="hello")]
REPORTS: dict[str, Callable[[], Awaitable[None]]] = {}


def report(name: str) -> Callable[[Callable[[], Awaitable[None]]], Callable[[], Awaitable[None]]]:
    def add(check: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        REPORTS[name] = check
        return check

    return add


def model(replies: Sequence[ScriptLine], **settings: Any) -> tuple[RaifVLLM, ScriptedEngine]:
    engine = ScriptedEngine(replies)
    return RaifVLLM(engine=engine, **{"repair_attempts": 0, **settings}), engine


def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"sunny in {city}"


def get_time() -> str:
    """The time."""
    return "noon"


TOOLS = [FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(get_time)]


def calls(llm: RaifVLLM, response: ChatResponse) -> list[ToolSelection]:
    return llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)


@report("li 21371: complete() sends parameters the engine no longer has")
async def only_what_is_set_is_sent() -> None:
    llm, engine = model(["hi"])
    llm.complete("hello")
    assert engine.last_request.sampling == Sampling()


@report("li 18363: an agent returns the text of a tool call as its answer")
async def a_call_in_text_is_a_call() -> None:
    llm, _ = model(["get_weather", "<tool_call>\nget_weather\ncity=Oslo\n</tool_call>", "reply", "Sunny."])
    result = await FunctionAgent(tools=TOOLS, llm=llm).run("Weather in Oslo?")
    assert [call.tool_kwargs for call in result.tool_calls] == [{"city": "Oslo"}]
    assert str(result) == "Sunny."


@report("li 21582, 21075: reasoning is lost or read as the answer")
async def reasoning_is_kept_apart() -> None:
    llm, _ = model([Reply("yes", reasoning="count=1"), Reply(written(GOOD), reasoning="count=7")])
    thinking = llm.chat(HELLO).message.blocks[0]
    assert isinstance(thinking, ThinkingBlock)
    assert thinking.content == "count=1"
    assert llm.structured_predict(Strict, PROMPT, text="x") == GOOD


class Pair(BaseModel):
    names: list[str] = Field(min_length=2)


@report("li 17649, 16604: structured_predict returns the text of an error")
async def a_short_list_is_an_error() -> None:
    llm, _ = model(["names=[\nAda\n]"])
    with pytest.raises(OutputError, match="names"):
        llm.structured_predict(Pair, PROMPT, text="x")


@report("li 21024: a model with one field gets its default")
async def a_single_field_keeps_its_value() -> None:
    llm, _ = model([written(Single(names=["Ada"]))])
    assert llm.structured_predict(Single, PROMPT, text="x") == Single(names=["Ada"])


def row(subject: str, relation: str, target: str, **properties: str) -> dict[str, Any]:
    entity: dict[str, Any] = {"type": "PERSON", "name": subject}
    if properties:
        entity["properties"] = properties
    return {
        "subject": entity,
        "relation": {"type": relation},
        "object": {"type": "COMPANY", "name": target},
    }


async def extract(rows: list[dict[str, Any]], **options: Any) -> BaseNode:
    def reply(request: Request) -> str:
        return OutputContract.from_pydantic(extractor.kg_schema_cls).encode({"triplets": rows})

    llm = RaifVLLM(engine=ScriptedEngine(reply), repair_attempts=0)
    extractor = SchemaLLMPathExtractor(
        llm=llm,
        possible_entities=Literal["PERSON", "COMPANY"],
        possible_relations=Literal["WORKS_AT", "OWNS"],
        kg_validation_schema=[("PERSON", "WORKS_AT", "COMPANY")],
        num_workers=1,
        raise_on_error=True,
        **options,
    )
    (node,) = await extractor.acall([TextNode(text="Ada works at Acme.")])
    return node


@report("li 14763: a property graph without edges")
async def relations_are_normalised_and_bad_rows_dropped() -> None:
    loose = await extract([row("Ada", "works at", "Acme")], strict=False)
    strict = await extract([row("Ada", "WORKS_AT", "Acme"), row("Ada", "OWNS", "Acme")], strict=True)
    for node in (loose, strict):
        assert [relation.label for relation in node.metadata["relations"]] == ["WORKS_AT"]


@report("li 22194, 17424: extractors swallow what went wrong")
async def an_extractor_can_tell_what_went_wrong() -> None:
    llm, _ = model(["I found nothing."])
    extractor = SchemaLLMPathExtractor(llm=llm, num_workers=1, raise_on_error=True)
    with pytest.raises(ValueError, match="I found nothing"):
        await extractor.acall([TextNode(text="x")])


@report("li 21142, 20629: properties of entities are lost or refused")
async def properties_of_entities_survive() -> None:
    node = await extract(
        [row("Ada", "WORKS_AT", "Acme", title="engineer")],
        possible_entity_props=["title"],
    )
    ada = next(entity for entity in node.metadata["nodes"] if entity.name == "Ada")
    assert ada.properties["title"] == "engineer"


@report("li 18298: a Dict field fails")
async def a_map_keeps_its_keys() -> None:
    llm, _ = model([written(SHAPES["map"])])
    assert llm.structured_predict(type(SHAPES["map"]), PROMPT, text="x") == SHAPES["map"]


@report("li 20324: the name of a generic model is not found again")
async def a_generic_model_is_found_again() -> None:
    llm, _ = model([written(SHAPES["generic"])])
    assert llm.structured_predict(type(SHAPES["generic"]), PROMPT, text="x") == SHAPES["generic"]


@report("li 18463: 'does not support function calling API'")
async def it_calls_functions_without_being_told() -> None:
    metadata = model([])[0].metadata
    assert metadata.is_function_calling_model
    assert metadata.is_chat_model
    assert metadata.context_window == 4096


@report("li 16051: 'Expected at least one tool call', and no word of the answer")
async def an_answer_instead_of_a_call_is_shown() -> None:
    with pytest.raises(OutputError, match="I would rather talk"):
        model(["reply", "I would rather talk."])[0].predict_and_call(TOOLS, user_msg="?")
    llm = model(["reply", "I would rather talk."])[0]
    result = llm.predict_and_call(TOOLS, user_msg="?", error_on_no_tool_call=False)
    assert result.response == "I would rather talk."


@report("li 12479, 12483, 13649, 13484: a hallucinated tool name crashes")
async def a_tool_that_does_not_exist_is_no_key_error() -> None:
    with pytest.raises(OutputError):
        model(["python", "print(1)"])[0].predict_and_call(TOOLS, user_msg="?")
    llm, _ = model(["fine"])
    history = [
        ChatMessage(content="?"),
        ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_name="python", tool_kwargs="print(1)")]),
        ChatMessage(role="tool", content="Tool python not found."),
    ]
    assert llm.chat(history).message.content == "fine"


@report("li 17927, 22821: a call without arguments is lost or doubled in a stream")
async def a_call_without_arguments_is_one_call() -> None:
    llm, _ = model(["get_time"])
    whole = llm.chat_with_tools(TOOLS, user_msg="?")
    llm, _ = model(["get_time"])
    *_, last = llm.stream_chat_with_tools(TOOLS, user_msg="?")
    for response in (whole, last):
        assert [(call.tool_name, call.tool_kwargs) for call in calls(llm, response)] == [("get_time", {})]


@report("li 16316: arguments that are not an object become an empty call")
async def arguments_that_are_no_object_are_an_error() -> None:
    llm, _ = model(['"Oslo"'])
    with pytest.raises(OutputError):
        llm.chat_with_tools(TOOLS, user_msg="?", tool_choice="get_weather")


@report("li 17736, 19845, 21106: a structured LLM loses its usage")
async def usage_of_a_structured_llm_is_counted() -> None:
    counter = TokenCountingHandler(tokenizer=str.split)
    reply = Reply(written(GOOD), usage=Usage(prompt_tokens=20, completion_tokens=8))
    llm, _ = model([reply], callback_manager=CallbackManager([counter]))
    await llm.as_structured_llm(Strict).achat(HELLO)
    assert counter.completion_llm_token_count == 8


@report("li 18450, 13983: the system prompt is dropped in astructured_predict")
async def the_system_prompt_is_sent() -> None:
    llm, engine = model([written(GOOD)], system_prompt="Be exact.")
    await llm.astructured_predict(Strict, PROMPT, text="x")
    assert engine.last_request.messages[0] == {"role": "system", "content": "Be exact."}


@report("li 22380: braces are doubled in the prompt")
async def braces_stay_as_they_are() -> None:
    llm, engine = model([written(GOOD)])
    llm.structured_predict(Strict, PROMPT, text="{} {{}} {x}")
    content = engine.last_request.messages[-1]["content"]
    assert content.startswith("Read: {} {{}} {x}\n")
    assert content.count("{") == 4


@report("li 16359, 9477, 10183: no chat template, no streaming, no async")
async def roles_reach_the_chat_template_and_streams_are_streams() -> None:
    llm, engine = model(["Hello, world!"])
    history = [ChatMessage(role="system", content="s"), ChatMessage(content="u")]
    chunks = [chunk async for chunk in await llm.astream_chat(history)]
    assert len(chunks) > 2
    assert [message["role"] for message in engine.last_request.messages] == ["system", "user"]


@report("li 20026: an agent with a structured answer")
async def an_agent_may_answer_with_an_object() -> None:
    llm, _ = model(["reply", "Ada and Grace.", written(GOOD)])
    result = await FunctionAgent(tools=TOOLS, llm=llm, output_cls=Strict).run("Who?")
    assert result.get_pydantic_model(Strict) == GOOD


@report("li 12460, 16982: answers are cut off without a word")
async def a_cut_off_answer_says_so() -> None:
    llm, engine = model([Reply("I need", finish_reason="length")])
    assert llm.chat(HELLO).raw["finish_reason"] == "length"
    assert engine.last_request.sampling.max_tokens is None


@report("li 12853: the API key is written into to_dict()")
async def the_key_is_not_written_down() -> None:
    llm = RaifVLLM(base_url="http://localhost:1/v1", api_key="sk-secret")
    assert "sk-secret" not in f"{llm.to_dict()} {llm!r} {llm.to_payload()}"


@report("vllm 47963, 22885, 13078: a truncated or broken call passes for a whole one")
async def a_truncated_call_is_an_error() -> None:
    llm, _ = model([Reply("city=Os", finish_reason="length")])
    with pytest.raises(TruncatedOutputError):
        llm.chat_with_tools(TOOLS, user_msg="?", tool_choice="get_weather")
    llm, _ = model([Reply("names=[\nAda\nGra", finish_reason="length")])
    with pytest.raises(TruncatedOutputError):
        llm.structured_predict(Single, PROMPT, text="x")


@report("vllm 25873: an unpinned install silently takes a llama-index-core from years ago")
async def the_extra_pins_core() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    required = project["optional-dependencies"]["llama-index"]
    assert any(entry.startswith("llama-index-core>=0.14") for entry in required)


@pytest.mark.parametrize("name", REPORTS)
async def test_a_report(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL):
        await REPORTS[name]()
