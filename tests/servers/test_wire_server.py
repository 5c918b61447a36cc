"""``wire="server"`` in both frameworks: OpenAI's fields go out, typed and validated results come back."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

from raif_integrations.errors import ConfigurationError, OutputError
from raif_integrations.langchain import ChatRaifVLLM
from raif_integrations.llama_index import RaifVLLM
from tests.servers.wire_server import (
    asked,
    call_piece,
    call_start,
    called,
    get_weather,
    langchain_model,
    llama_index_model,
    now,
    served,
    streamed,
)
from tests.support.scripted_engine import ScriptedEngine
from tests.support.stub_server import Answer, EventStream, completion, reply_events

OSLO = {"city": "Oslo", "days": 3}
CALL = called(("get_weather", '{"city":"Oslo","days":3}'))
STREAM = streamed(call_start("get_weather", ""), call_piece('{"city":"Os'), call_piece('lo","days":3}'))
HELLO = [ChatMessage(content="go")]
PROMPT = PromptTemplate("{text}")
TOOLS = [FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(now)]


class Person(BaseModel):
    name: str
    age: int


OMAR = Person(name="Omar", age=51)
VALUE = Answer(completion('{"age":51,"name":"Omar"}'))
RAIF_STREAM = EventStream(reply_events("age=5", "1\nna", "me=Omar"))


def summed(chunks: Any) -> AIMessage:
    first, *rest = chunks
    return first + rest  # type: ignore[no-any-return]


async def test_langchain_calls_in_all_four_ways() -> None:
    with served(CALL, CALL, STREAM, STREAM) as stub:
        bound = langchain_model(stub).bind_tools([get_weather, now], parallel_tool_calls=False)
        replies = [
            bound.invoke("go"),
            await bound.ainvoke("go"),
            summed(bound.stream("go")),
            summed([chunk async for chunk in bound.astream("go")]),
        ]
        bodies = asked(stub)
    for reply in replies:
        (call,) = reply.tool_calls
        assert (call["name"], call["args"], call["id"]) == ("get_weather", OSLO, "call-0")
        assert reply.response_metadata["raif"]["wire"] == "server"
        assert reply.response_metadata["finish_reason"] == "tool_calls"
    for body in bodies:
        assert [tool["function"]["name"] for tool in body["tools"]] == ["get_weather", "now"]
        assert (body["tool_choice"], body["parallel_tool_calls"]) == ("auto", False)
        assert "structured_outputs" not in body


async def test_llama_index_calls_in_all_four_ways() -> None:
    with served(CALL, CALL, STREAM, STREAM) as stub:
        llm = llama_index_model(stub)
        responses = [
            llm.chat(HELLO, tools=TOOLS),
            await llm.achat(HELLO, tools=TOOLS),
            list(llm.stream_chat(HELLO, tools=TOOLS))[-1],
            [item async for item in await llm.astream_chat(HELLO, tools=TOOLS)][-1],
        ]
    for response in responses:
        (call,) = llm.get_tool_calls_from_response(response)
        assert (call.tool_name, call.tool_kwargs) == ("get_weather", OSLO)


@pytest.mark.parametrize("reply", [VALUE, Answer(completion("age=51\nname=Omar"))], ids=["json", "raif"])
def test_a_value_of_both_frameworks(reply: Answer) -> None:
    with served(reply) as stub:
        assert langchain_model(stub).with_structured_output(Person).invoke("go") == OMAR
        assert llama_index_model(stub).structured_predict(Person, PROMPT, text="go") == OMAR
        for body in asked(stub):
            assert body["response_format"]["json_schema"]["schema"]["required"] == ["name", "age"]
            assert "tools" not in body


def test_a_raw_stream_is_decoded_as_it_comes() -> None:
    with served(RAIF_STREAM) as stub:
        items = list(langchain_model(stub).with_structured_output(Person.model_json_schema()).stream("go"))
        assert items[-1] == {"age": 51, "name": "Omar"}
        assert len(items) > 1
        objects = list(llama_index_model(stub).stream_structured_predict(Person, PROMPT, text="go"))
        assert objects[-1] == OMAR


def test_a_setting_of_one_call() -> None:
    with served(CALL) as stub:
        chat = langchain_model(stub, wire="auto")
        chat.bind_tools([get_weather], tool_choice="get_weather", wire="server").invoke("go")
        assert "tools" in asked(stub)[-1]
        llama_index_model(stub, wire="auto").chat(HELLO, tools=TOOLS, wire="server")
        assert "tools" in asked(stub)[-1]


def test_lost_fields_are_asked_for_again() -> None:
    half = called(("get_weather", '{"city":"Oslo"}'))
    with served(half, Answer(completion("days=3\n"))) as stub:
        reply: Any = langchain_model(stub).bind_tools([get_weather]).invoke("go")
        _, repair = asked(stub)
    assert reply.tool_calls[0]["args"] == OSLO
    assert reply.response_metadata["raif"]["repair_requests"] == 1
    assert "tools" not in repair
    assert "grammar" in repair["structured_outputs"]


def test_what_stays_broken_is_an_error() -> None:
    with served(called(("get_weather", '{"city":"Oslo"}'))) as stub:
        reply: Any = langchain_model(stub, repair_attempts=0).bind_tools([get_weather]).invoke("go")
        assert reply.tool_calls == []
        assert "days" in reply.invalid_tool_calls[0]["error"]
        with pytest.raises(OutputError, match="days"):
            llama_index_model(stub, repair_attempts=0).chat(HELLO, tools=TOOLS)
    with served(Answer(completion('{"age":"old"}'))) as stub:
        model = langchain_model(stub, repair_attempts=0).with_structured_output(Person)
        with pytest.raises(OutputParserException, match="age"):
            model.invoke("go")


def test_a_call_of_no_tool_is_invalid_in_both_ways() -> None:
    wrong = streamed(call_start("get_wether", ""), call_piece("{}"))
    with served(called(("get_wether", "{}")), wrong) as stub:
        bound = langchain_model(stub).bind_tools([get_weather])
        for reply in (bound.invoke("go"), summed(bound.stream("go"))):
            assert reply.tool_calls == []
            assert reply.invalid_tool_calls[0]["name"] == "get_wether"


@pytest.mark.parametrize("kind", [ChatRaifVLLM, RaifVLLM])
def test_without_a_server_nothing_can_be_left_to_it(kind: type[Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"wire='server'.*base_url"):
        kind(model="raif", wire="server")
    with pytest.raises(ValueError, match="wire"):
        kind(base_url="http://host", wire="servant")
    assert kind(engine=ScriptedEngine([]), wire="server").wire == "server"
