"""What LangChain users reported about tool calls and structured output, a row each; here all of it is right.

The issues are of langchain-ai/langchain unless another repository is named. Rows about what goes over the
wire are in ``test_reports_wire.py``, what ``ChatOpenAI`` does with some of them in
``test_reports_chat_openai.py``.
"""

from __future__ import annotations

import enum
import json
from typing import Any, Generic, TypeVar

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel

from raif_integrations.engines.base import GrammarConstraint, Request
from raif_integrations.errors import OutputError
from tests.langchain.chats import INVOICE, INVOICE_TEXT, Invoice, chat, get_weather, now
from tests.langchain.report_rows import Check, Reports
from tests.support.scripted_engine import Reply, ScriptedEngine

report = Reports()

OSLO = "city=Oslo\ndays=3\n"
CUT_OFF = Reply("city=prod-u", finish_reason="length")


def summed(chunks: Any) -> Any:
    first, *rest = chunks
    return first + rest if rest else first


def calls(message: Any) -> list[tuple[str, Any]]:
    return [(call["name"], call["args"]) for call in message.tool_calls]


def every_way(bound: Any) -> list[Any]:
    """The reply through ``invoke``, a summed stream and version 3 events."""
    return [
        bound.invoke("go"),
        summed(bound.stream("go")),
        bound.stream_events("go", version="v3").output,
    ]


@report("1", "#39275, langchainjs #11469: a cut-off stream gives a valid call")
async def a_cut_off_call_is_invalid_everywhere() -> None:
    bound = chat(lambda request: CUT_OFF).bind_tools([get_weather], tool_choice="any")
    for message in every_way(bound):
        assert message.tool_calls == []
        (call,) = message.invalid_tool_calls
        assert call["name"] == "get_weather"
    assert "max_tokens" in bound.invoke("go").invalid_tool_calls[0]["error"]


@report("2", "vllm #47903: a cut-off call differs between stream and reply and leaks into the content")
async def a_cut_off_call_leaves_no_markup_in_the_content() -> None:
    bound = chat(lambda request: CUT_OFF).bind_tools([get_weather], tool_choice="any")
    invoked, streamed, _ = every_way(bound)
    assert invoked.content == streamed.content == ""
    assert invoked.invalid_tool_calls[0]["args"] == streamed.invalid_tool_calls[0]["args"]


@report("3", "#33504, deepagents #4662: only invalid calls end an agent in silence")
async def a_lost_argument_is_asked_for_again_or_named() -> None:
    lost = ["get_weather", "days=3"]
    free: dict[str, Any] = {"constrain": False}
    model = chat([*lost, "city=Oslo", "reply", "Cold."], **free)
    state = create_agent(model, [get_weather, now]).invoke({"messages": [("human", "go")]})
    assert [message.text for message in state["messages"][2:]] == ["Oslo 3", "Cold."]
    state = create_agent(chat(lost, **free, repair_attempts=0), [get_weather, now]).invoke(
        {"messages": [("human", "go")]}
    )
    assert "city: this required field is missing" in state["messages"][-1].invalid_tool_calls[0]["error"]


@report("4", "#36349: the model forgets the call that was to hold the structured response")
async def a_structured_response_by_a_tool_is_forced() -> None:
    model = chat(["Invoice", INVOICE_TEXT])
    agent = create_agent(model, [get_weather], response_format=ToolStrategy(Invoice))
    assert agent.invoke({"messages": [("human", "go")]})["structured_response"] == Invoice(**INVOICE)
    first = model.engine.requests[0].constraint
    assert first.ebnf.splitlines()[1] == 'call ::= "get_weather" | "Invoice"'
    assert "reply" not in first.ebnf
    with pytest.raises(OutputError, match="named none of the tools"):
        chat(["No."], constrain=False).bind_tools([get_weather, now], tool_choice="any").invoke("go")


@report("5", "#23901, local-deep-researcher #47, langchain-community #63: structured output is None")
async def a_reply_that_is_no_object_is_an_exception_with_its_text() -> None:
    for method in ("raif", "function_calling"):
        model = chat(lambda request: "Sorry, no.").with_structured_output(Invoice, method=method)
        with pytest.raises(OutputParserException) as caught:
            model.invoke("go")
        assert caught.value.llm_output == "Sorry, no."
        raw = chat(lambda request: "Sorry, no.").with_structured_output(
            Invoice, method=method, include_raw=True
        )
        assert isinstance(raw.invoke("go")["parsing_error"], OutputParserException)


class Order(BaseModel):
    id: str
    count: int
    lines: list[dict[str, int]]


ORDER_TEXT = "id=12345678901234567890\ncount=12345678901234567890\nlines[0].a=1\nlines[1].b=2\n"


@report("6", "#25343, #28412: a nested list arrives as a string of JSON")
async def a_nested_list_is_a_list() -> None:
    bound = chat([ORDER_TEXT]).bind_tools([Order], tool_choice="any")
    assert calls(bound.invoke("go"))[0][1]["lines"] == [{"a": 1}, {"b": 2}]


@report("7", "#30145: digits of a string become a number, large integers are rounded")
async def digits_are_what_the_schema_says() -> None:
    found = chat([ORDER_TEXT]).with_structured_output(Order).invoke("go")
    assert (found.id, found.count) == ("12345678901234567890", 12345678901234567890)


@report("8", "langchain-ollama's own tests, hermes-agent #5265: '3' where 3 is declared")
async def an_integer_is_an_integer() -> None:
    (call,) = calls(chat([OSLO]).bind_tools([get_weather], tool_choice="any").invoke("go"))
    assert call == ("get_weather", {"city": "Oslo", "days": 3})


@report("9", "#34790, #36550, #34746: one malformed call in the history breaks every later turn")
async def a_malformed_call_in_the_history_is_shown_and_the_talk_goes_on() -> None:
    cut_off = {"name": "get_weather", "arguments": '{"city": "Os'}
    raw = {"tool_calls": [{"id": "c1", "type": "function", "function": cut_off}]}
    broken = ('["Oslo"]', '{"city": "Os', "", "3", "null", None)
    for past in [
        AIMessage("", additional_kwargs=raw),
        *(
            AIMessage(
                "", invalid_tool_calls=[{"id": "c1", "name": "get_weather", "args": one, "error": "no"}]
            )
            for one in broken
        ),
    ]:
        model = chat(["reply", "Cold."])
        history = [HumanMessage("go"), past, ToolMessage("failed", tool_call_id="c1"), HumanMessage("again")]
        assert model.bind_tools([get_weather, now]).invoke(history).content == "Cold."
        shown = model.engine.requests[0].messages
        assert [message["role"] for message in shown] == ["user", "assistant", "user"]
        assert shown[1]["content"].startswith("<tool_call>\nget_weather")
        assert all(isinstance(message["content"], str) for message in shown)


@report("10", "#34654: deltas without index or with an empty name make three calls of one")
async def a_streamed_call_has_one_index_and_says_its_name_once() -> None:
    bound = chat(["get_weather\nget_weather", OSLO, OSLO], chunk_sizes=(3,)).bind_tools([get_weather, now])
    chunks = list(bound.stream("go"))
    deltas = [delta for chunk in chunks for delta in chunk.tool_call_chunks]
    assert {delta["index"] for delta in deltas} == {0, 1}
    assert [delta["name"] for delta in deltas if delta["name"] is not None] == ["get_weather"] * 2
    assert len({delta["id"] for delta in deltas if delta["id"] is not None}) == 2
    assert calls(summed(chunks)) == [("get_weather", {"city": "Oslo", "days": 3})] * 2


@report("13", "docs #3786: a system message of blocks loses its text")
async def a_system_message_of_blocks_keeps_its_text() -> None:
    model = chat([INVOICE_TEXT])
    system = SystemMessage([{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}])
    model.with_structured_output(Invoice).invoke([system, HumanMessage("go")])
    assert model.engine.last_request.messages[0] == {"role": "system", "content": "Be brief.\nBe kind."}


@report("16", "#40147, vllm #23323: arguments wrapped in think or tool_call tags are not valid JSON")
async def arguments_are_found_in_a_noisy_text() -> None:
    for text in (
        f"<think>Oslo, I guess.</think>\n\n{OSLO}",
        f"<tool_call>\n{OSLO}</tool_call>",
        f"<think>hm</think><tool_call>\n{OSLO}</tool_call>",
        f"Sure:\n```raif\n{OSLO}```\nAnything else?",
    ):
        bound = chat([text], constrain=False).bind_tools([get_weather], tool_choice="any")
        assert calls(bound.invoke("go")) == [("get_weather", {"city": "Oslo", "days": 3})]


@report("18", "dynamo #13789: the forced call of a tool without parameters is 644 characters of whitespace")
async def a_tool_without_parameters_has_no_arguments_to_write() -> None:
    model = chat([])
    assert calls(model.bind_tools([now, get_weather], tool_choice="now").invoke("go")) == [("now", {})]
    assert model.engine.requests == []


@report("21", "#37686, #32222: arguments that are not ASCII are escaped in chunks and in the history")
async def arguments_are_literal_in_chunks_and_history() -> None:
    bound = chat(["city=東京\ndays=3"]).bind_tools([get_weather], tool_choice="any")
    streamed = "".join(d["args"] for chunk in bound.stream("go") for d in chunk.tool_call_chunks)
    assert "東京" in streamed
    model = chat(["Cold."])
    past = AIMessage("", tool_calls=[{"id": "c", "name": "get_weather", "args": {"city": "東京", "days": 1}}])
    model.invoke([HumanMessage("go"), past, ToolMessage("3", tool_call_id="c")])
    assert "city=東京" in model.engine.last_request.messages[1]["content"]


@report("22", "#31423: a JSON Schema with an array at its root becomes an object without fields")
async def an_array_at_the_root_is_an_array() -> None:
    schema = {"title": "numbers", "type": "array", "items": {"type": "integer"}}
    model = chat(lambda request: _written(schema, [1, 2]))
    assert model.with_structured_output(schema).invoke("go") == [1, 2]


def _written(schema: dict[str, Any], value: Any) -> str:
    from raif_integrations import OutputContract

    return OutputContract.from_json_schema(schema).encode(value)


@report("23", "docs #1420: a JSON Schema without a title is refused")
async def a_schema_needs_no_title() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    for method in ("raif", "function_calling"):
        assert chat(["a=1"]).with_structured_output(schema, method=method).invoke("go") == {"a": 1}


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    inside: T


@report("24", "#27260: the tool of a generic class has another name than the class")
async def a_generic_class_is_found_by_its_own_name() -> None:
    model = chat(["inside=3"])
    structured = model.with_structured_output(Box[int], method="function_calling")
    assert structured.invoke("go") == Box[int](inside=3)
    (bound,) = [step.kwargs["tools"] for step in structured.steps if hasattr(step, "kwargs")]
    assert bound[0]["function"]["name"].isidentifier()


@report("25", "#28848: tools and structured output exclude each other")
async def tools_and_structured_output_go_together() -> None:
    replies = ["get_weather", OSLO, "reply", INVOICE_TEXT]
    model = chat(replies).with_structured_output(Invoice, tools=[get_weather, now], include_raw=True)
    assert calls(model.invoke("go")["raw"]) == [("get_weather", {"city": "Oslo", "days": 3})]
    assert model.invoke("go")["parsed"] == Invoice(**INVOICE)
    bound = chat(replies).bind_tools([get_weather, now], response_format=Invoice)
    assert calls(bound.invoke("go")) == [("get_weather", {"city": "Oslo", "days": 3})]
    assert json.loads(bound.invoke("go").content) == INVOICE


@report("26", "#26335, langchain-community #256: tool_choice is ignored or its forms are not known")
async def every_form_of_a_tool_choice_is_honoured() -> None:
    def choose(choice: Any) -> ScriptedEngine:
        model = chat(_obedient)
        reply = model.bind_tools([get_weather, now], tool_choice=choice).invoke("Hello!")
        assert [call["name"] for call in reply.tool_calls] == ["get_weather"]
        return model.engine

    for choice in ("any", "required", True):
        plan = choose(choice).requests[0].constraint
        assert isinstance(plan, GrammarConstraint)
        assert "reply" not in plan.ebnf
    named = {"type": "function", "function": {"name": "get_weather"}}
    for choice in ("get_weather", named, {"type": "tool", "name": "get_weather"}):
        assert len(choose(choice).requests) == 1
    for choice in ("auto", None, False, {"type": "auto"}):
        model = chat(["reply", "Hi."])
        assert model.bind_tools([get_weather, now], tool_choice=choice).invoke("Hello!").content == "Hi."
    assert chat(["Hi."]).bind_tools([get_weather], tool_choice="none").invoke("Hello!").content == "Hi."


def _obedient(request: Request) -> str:
    return "get_weather" if "<tools>" in request.messages[-1]["content"] else OSLO


@report("28", "#29860: a structured stream yields nothing")
async def a_structured_stream_grows() -> None:
    seen = list(chat([INVOICE_TEXT]).with_structured_output(Invoice.model_json_schema()).stream("go"))
    assert seen[-1] == INVOICE
    assert len(seen) > 3
    assert list(chat([INVOICE_TEXT]).with_structured_output(Invoice).stream("go"))[-1] == Invoice(**INVOICE)


@report("30", "#34970: an Enum as a schema gives junk")
async def an_enum_is_refused() -> None:
    color = enum.Enum("Color", "RED BLUE")
    with pytest.raises(TypeError, match="Color is an Enum"):
        chat([]).with_structured_output(color)
    with pytest.raises(TypeError, match="Color is an Enum"):
        chat([]).bind_tools([color])


@pytest.mark.parametrize("check", report.rows)
async def test_report(check: Check) -> None:
    await check()
