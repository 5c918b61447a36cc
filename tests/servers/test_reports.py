"""What users of vLLM's server reported, as far as a client can get it right: a row each.

The issues are of vllm-project/vllm unless another repository is named. Each row is run as a client decodes
by itself on any server, with ``wire="server"``, or both, whichever the report concerns.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.exceptions import OutputParserException
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel, Field

from raif_integrations.engines.base import Request, Sampling
from raif_integrations.engines.server import ServerEngine
from raif_integrations.errors import (
    ConfigurationError,
    EngineClosedError,
    OutputError,
    ServerError,
    TruncatedOutputError,
)
from raif_integrations.langchain import ChatRaifVLLM
from tests.langchain.report_rows import Check, Reports
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
from tests.support.stub_server import Answer, EventStream, completion, event, reply_events

report = Reports()

OSLO = {"city": "Oslo", "days": 3}
OSLO_JSON = '{"city":"Oslo","days":3}'
OSLO_RAIF = "city=Oslo\ndays=3\n"
HELLO = [ChatMessage(content="go")]


class Person(BaseModel):
    name: str
    age: int


OMAR = Person(name="Omar", age=51)


def message_of(bound: Any, *, stream: bool) -> Any:
    if not stream:
        return bound.invoke("go")
    first, *rest = bound.stream("go")
    return first + rest


def arguments(message: Any) -> list[Any]:
    assert message.invalid_tool_calls == []
    return [call["args"] for call in message.tool_calls]


def decoding_here(stub: Any, **settings: Any) -> ChatRaifVLLM:
    return langchain_model(stub, wire="auto", **settings)


@report("1", "#43920: a grammar that is not EBNF kills the engine, and every later request with it")
async def every_grammar_is_ebnf_and_a_dead_engine_is_an_error() -> None:
    with served(Answer(completion("get_weather")), Answer(completion(OSLO_RAIF))) as stub:
        decoding_here(stub).bind_tools([get_weather, now]).invoke("go")
        for body in asked(stub):
            assert body["structured_outputs"]["grammar"].startswith("root ::=")
    dead = Answer({"error": {"message": "EngineCore encountered an issue.", "code": 500}}, status=500)
    with served(dead) as stub, pytest.raises(ServerError, match="EngineCore encountered"):
        decoding_here(stub, max_retries=0).invoke("go")


@report("2", "#53975, #30047, outlines #1887, LocalAI #10339: guided_* is ignored, and nothing says so")
async def a_constraint_under_an_old_name_is_refused() -> None:
    with served(Answer(completion(OSLO_RAIF))) as stub:
        decoding_here(stub).bind_tools([get_weather], tool_choice="any").invoke("go")
        assert list(asked(stub)[0]["structured_outputs"]) == ["grammar"]
        old = decoding_here(stub, model_kwargs={"guided_json": {"type": "object"}})
        with pytest.raises(ConfigurationError, match="guided_json"):
            old.invoke("go")


@report("3", "#48765, #19945, #26362: disable_any_whitespace and whitespace_pattern do nothing")
async def no_reply_depends_on_a_whitespace_option() -> None:
    spaced = '{ "name" :\n\n "Omar" ,\t"age" : 51 }'
    for settings in ({"wire": "json"}, {"wire": "server"}):
        with served(Answer(completion(spaced))) as stub:
            assert langchain_model(stub, **settings).with_structured_output(Person).invoke("go") == OMAR
            for body in asked(stub):
                assert set(body.get("structured_outputs", {})) <= {"json"}


@report("4", "#38696, #40080, #13260: JSON runs away in whitespace up to max_tokens")
async def a_runaway_ends_in_an_error_that_names_max_tokens() -> None:
    runaway = Answer(completion('{"name": "Omar",' + "\n\t" * 500, finish_reason="length"))
    for wire in ("auto", "json", "server"):
        with served(runaway) as stub:
            model = langchain_model(stub, wire=wire).with_structured_output(Person)
            with pytest.raises(OutputParserException, match="max_tokens"):
                model.invoke("go")


@report("5", "#52011: an empty schema makes the guided model write digits without end")
async def an_empty_schema_is_no_constraint() -> None:
    anything = {"type": "json_schema", "json_schema": {"name": "anything", "schema": {}}}
    with served(Answer(completion('{"a": 1}'))) as stub:
        message = langchain_model(stub, wire="json").invoke("go", response_format=anything)
        (body,) = asked(stub)
    assert json.loads(message.text) == {"a": 1}
    assert "structured_outputs" not in body


@report("6", "#39929, #16313: with a response_format the tools are never called")
async def an_agent_calls_its_tool_and_ends_with_the_form() -> None:
    replies = {
        "auto": ["get_weather", OSLO_RAIF, "reply", "age=51\nname=Omar\n"],
        "server": [called(("get_weather", OSLO_JSON)), "I am done.", '{"age":51,"name":"Omar"}'],
    }
    for wire, given in replies.items():
        answers = [one if isinstance(one, Answer) else Answer(completion(str(one))) for one in given]
        with served(*answers) as stub:
            agent = create_agent(langchain_model(stub, wire=wire), [get_weather], response_format=Person)
            state = agent.invoke({"messages": [("human", "go")]})
            bodies = asked(stub)
        assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
        assert state["structured_response"] == OMAR
        assert not any("tools" in body and "response_format" in body for body in bodies)


@report("7", "#57726: behind a reasoning parser a grammar is not enforced")
async def a_reply_outside_the_grammar_is_mended_or_refused() -> None:
    loose = "Sure! Here it is:\n\nname=Omar\n"
    with served(Answer(completion(loose)), Answer(completion("age=51\n"))) as stub:
        assert decoding_here(stub).with_structured_output(Person).invoke("go") == OMAR
    with served(Answer(completion(loose))) as stub:
        model = decoding_here(stub, repair_attempts=0).with_structured_output(Person)
        with pytest.raises(OutputParserException, match="age"):
            model.invoke("go")


@report("8", "#44012, #47027, #50948, #50938: the JSON of a reply lands in its reasoning")
async def a_value_in_the_reasoning_is_found() -> None:
    for wire, text in (("auto", "age=51\nname=Omar\n"), ("server", '{"age":51,"name":"Omar"}')):
        stream = EventStream([event({"choices": [{"delta": {"reasoning": text}}]}), *reply_events()[1:]])
        with served(Answer(completion(None, reasoning=text)), stream) as stub:
            model = langchain_model(stub, wire=wire).with_structured_output(Person)
            assert model.invoke("go") == OMAR
            assert list(model.stream("go"))[-1] == OMAR


@report("9", "#53269, #9053, #47963, #47903: a call that max_tokens cut is reported as whole")
async def a_cut_call_is_never_whole() -> None:
    for cut in ('{"city":"Oslo","days":3}', '{"city":"Osl', "city=Oslo\nday"):
        whole = called(("get_weather", cut))
        pieces = streamed(call_start("get_weather", ""), call_piece(cut))
        with served(whole, pieces, whole) as stub:
            bound = langchain_model(stub, max_tokens=5).bind_tools([get_weather])
            for stream in (False, True):
                message = message_of(bound, stream=stream)
                assert message.tool_calls == []
                assert "max_tokens" in json.dumps(message.response_metadata["raif"]["errors"])
            llm = llama_index_model(stub, max_tokens=5)
            with pytest.raises(TruncatedOutputError):
                llm.chat(HELLO, tools=[FunctionTool.from_defaults(get_weather)])


@report("10", "#53255: required ends in tool_calls with an empty list of calls")
async def the_list_of_calls_counts_and_not_the_finish_reason() -> None:
    empty = Answer(completion("", finish_reason="tool_calls", tool_calls=[]))
    with served(empty) as stub:
        with pytest.raises(OutputError, match="required"):
            langchain_model(stub).bind_tools([get_weather, now], tool_choice="any").invoke("go")
        words = langchain_model(stub).bind_tools([get_weather, now]).invoke("go")
    assert (words.tool_calls, words.response_metadata["finish_reason"]) == ([], "stop")


@report("11", "#25054: a named call ends in stop, a required one in tool_calls")
async def a_call_is_a_call_whatever_the_finish_reason() -> None:
    for reason in ("stop", "tool_calls"):
        whole = called(("get_weather", OSLO_JSON), finish_reason=reason)
        pieces = streamed(call_start("get_weather", ""), call_piece(OSLO_JSON), finish_reason=reason)
        for choice in ("get_weather", "any"):
            with served(whole, pieces) as stub:
                bound = langchain_model(stub).bind_tools([get_weather, now], tool_choice=choice)
                for stream in (False, True):
                    message = message_of(bound, stream=stream)
                    assert arguments(message) == [OSLO]
                    assert message.response_metadata["finish_reason"] == "tool_calls"


@report("12", "#31501, #41691: with --stream-interval arguments and the last tokens are lost")
async def pieces_of_any_size_and_text_beside_the_end_are_read() -> None:
    end = {
        "id": "1",
        "model": "raif",
        "choices": [{"index": 0, "delta": {"content": "ys=3\n"}, "finish_reason": "stop"}],
    }
    big = EventStream([event({**end, "choices": [piece("city=Oslo\nda")]}), event(end), event(b"[DONE]")])
    with served(big) as stub:
        bound = decoding_here(stub).bind_tools([get_weather], tool_choice="any")
        assert arguments(message_of(bound, stream=True)) == [OSLO]
    with served(streamed(call_start("get_weather", OSLO_JSON))) as stub:
        bound = langchain_model(stub).bind_tools([get_weather], tool_choice="any")
        assert arguments(message_of(bound, stream=True)) == [OSLO]


def piece(text: str) -> dict[str, Any]:
    return {"index": 0, "delta": {"content": text}, "finish_reason": None}


@report("13", "#47901, #10395, #9693: arguments are dropped after a call without any, or null, or doubled")
async def every_call_has_its_own_arguments_and_id() -> None:
    pieces = streamed(
        call_start("now", None, index=0, call_id="same"),
        call_start("get_weather", None, index=1, call_id="same"),
        call_piece('{"city":"Oslo",', index=1),
        call_piece('"days":3}', index=1),
        call_start("now", "{}", index=2, call_id="other"),
    )
    with served(pieces) as stub:
        message = message_of(langchain_model(stub).bind_tools([get_weather, now]), stream=True)
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [
        ("now", {}),
        ("get_weather", OSLO),
        ("now", {}),
    ]
    assert len({call["id"] for call in message.tool_calls}) == 3


@report("14", "#49316, #47906, #13622, #21756: a value has another type streamed than whole")
async def types_come_from_the_schema_streamed_or_not() -> None:
    def book(code: str, copies: int, price: float, signed: bool) -> str:
        """Books."""
        return code

    expected = {"code": "007", "copies": 3, "price": 5.0, "signed": True}
    text = "code=007\ncopies=3\nprice=5.0\nsigned=true\n"
    for wire, whole, pieces in (
        ("auto", Answer(completion(text)), EventStream(reply_events(*text))),
        ("server", called(("book", text)), streamed(call_start("book", ""), *map(call_piece, text))),
    ):
        with served(whole, pieces) as stub:
            bound = langchain_model(stub, wire=wire).bind_tools([book], tool_choice="any")
            for stream in (False, True):
                (found,) = arguments(message_of(bound, stream=stream))
                assert found == expected
                assert [type(found[key]) for key in expected] == [str, int, float, bool]


@report("15", "#25281, #45832, #46875: marks that end a reply leak into it")
async def marks_around_a_document_are_no_part_of_it() -> None:
    for text in (
        f"<raif>\n{OSLO_RAIF}</raif>",
        f"{OSLO_RAIF}</raif>",
        f"<tool_call>\n{OSLO_RAIF}</tool_call>",
    ):
        whole, pieces = called(("get_weather", text)), EventStream(reply_events(*text))
        with served(whole) as stub:
            bound = langchain_model(stub).bind_tools([get_weather], tool_choice="any")
            assert arguments(bound.invoke("go")) == [OSLO]
        with served(Answer(completion(text)), pieces) as stub:
            bound = decoding_here(stub).bind_tools([get_weather], tool_choice="any")
            for stream in (False, True):
                assert arguments(message_of(bound, stream=stream)) == [OSLO]


@report("16", "#48745, #49034: an orderly shutdown ends in a trace of a dead engine")
async def a_stream_of_a_closed_engine_says_closed() -> None:
    stream = EventStream([event({"choices": [piece("a")]})] * 3, end="hang", pause=0.05)
    request = Request([{"role": "user", "content": "go"}], Sampling(), model="raif")
    with served(stream) as stub:
        engine = ServerEngine(stub.root)
        deltas = engine.stream(request)
        assert next(deltas).text == "a"
        engine.close()
        with pytest.raises(EngineClosedError):
            list(deltas)


@report("17", "#17894: a huge maximum in a schema crashes the grammar compiler")
async def a_bound_of_any_size_is_checked_and_not_compiled() -> None:
    class Count(BaseModel):
        count: int = Field(ge=0, le=10**30)

    with served(Answer(completion(f"count={10**29}\n")), Answer(completion(f"count={10**31}\n"))) as stub:
        model = decoding_here(stub, repair_attempts=0).with_structured_output(Count)
        assert model.invoke("go") == Count(count=10**29)
        with pytest.raises(OutputParserException, match="maximum"):
            model.invoke("go")
        assert len(asked(stub)[0]["structured_outputs"]["grammar"]) < 2000


@report("18", "#23323: a named tool_choice gives the model's raw text as arguments")
async def raw_text_of_a_named_call_is_decoded() -> None:
    pieces = streamed(call_start("get_weather", "city="), *map(call_piece, "Oslo\ndays=3"))
    with served(called(("get_weather", OSLO_RAIF), finish_reason="stop"), pieces) as stub:
        bound = langchain_model(stub).bind_tools([get_weather], tool_choice="get_weather")
        for stream in (False, True):
            assert arguments(message_of(bound, stream=stream)) == [OSLO]


@pytest.mark.parametrize("check", report.rows)
async def test_report(check: Check) -> None:
    await check()
