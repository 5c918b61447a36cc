"""Reports about what goes over the wire and comes back, a row each, against a stub server.

The issues are of langchain-ai/langchain unless another repository is named; the rest of the table is in
``test_reports.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage

from raif_integrations.langchain import ChatRaifVLLM
from tests.langchain.chats import INVOICE, INVOICE_TEXT, Invoice, get_weather, now
from tests.langchain.report_rows import Check, Reports
from tests.support.stub_server import (
    Answer,
    EventStream,
    StubServer,
    chunk,
    completion,
    event,
    reply_events,
    usage_chunk,
)

report = Reports()

OSLO = "city=Oslo\ndays=3\n"
CALL = [{"name": "get_weather", "args": {"city": "Oslo", "days": 3}}]


@contextmanager
def served(*replies: Any, **settings: Any) -> Iterator[tuple[ChatRaifVLLM, StubServer]]:
    """A chat model of a server that gives these replies, the last one again and again."""
    answers = [one if isinstance(one, Answer | EventStream) else Answer(completion(one)) for one in replies]
    with StubServer(chat=answers) as stub:
        yield ChatRaifVLLM(base_url=f"{stub.root}/v1", model="raif", **settings), stub


def calls(message: AIMessage) -> list[dict[str, Any]]:
    return [{"name": call["name"], "args": call["args"]} for call in message.tool_calls]


def summed(chunks: Any) -> AIMessageChunk:
    first, *rest = chunks
    return first + rest if rest else first


@report("11", "vllm #39780, fast-agent #781: an empty list of tools is refused by the server")
async def an_agent_without_tools_sends_none() -> None:
    with served(INVOICE_TEXT) as (model, stub):
        agent = create_agent(model, [], response_format=Invoice)
        state = agent.invoke({"messages": [("human", "go")]})
    assert state["structured_response"] == Invoice(**INVOICE)
    assert {"tools", "tool_choice", "response_format"}.isdisjoint(stub.chats[0].body)


@report("12", "vllm #41114, gptme #3779, ciso-assistant #4679, conversations #197: system message not first")
async def templates_get_one_system_message_and_roles_that_alternate() -> None:
    with served("reply", "Hi.") as (model, stub):
        model.bind_tools([get_weather, now]).invoke(
            [
                SystemMessage("Be brief."),
                HumanMessage("one"),
                HumanMessage("two"),
                AIMessage("three"),
                SystemMessage("Be kind."),
                HumanMessage("four"),
            ]
        )
    for request in stub.chats:
        roles = [message["role"] for message in request.body["messages"]]
        assert roles == ["system", "user", "assistant", "user"]
        assert request.body["messages"][0]["content"] == "Be brief.\n\nBe kind."


@report("14", "#34706, #35059, #36809, #37960, #35941: vLLM's reasoning is lost")
async def reasoning_is_a_block_of_its_own_under_both_of_its_names() -> None:
    for name in ("reasoning", "reasoning_content"):
        whole = Answer(completion("Yes.", **{name: "Hm."}))
        pieces = [event(chunk(None, **{name: "Hm."})), *reply_events("Yes.")]
        with served(whole, EventStream(pieces)) as (model, _):
            for message in (model.invoke("go"), summed(model.stream("go"))):
                kinds = [(block["type"], block.get("reasoning")) for block in message.content_blocks]
                assert kinds == [("reasoning", "Hm."), ("text", None)]
                assert message.text == "Yes."


@report("15", "vllm #18255, #16182, #17357, #17393: a structured reply lands in the reasoning")
async def a_value_in_the_reasoning_is_found() -> None:
    for name in ("reasoning", "reasoning_content"):
        whole = Answer(completion(None, **{name: INVOICE_TEXT}))
        pieces = [
            *(event(chunk(None, **{name: line + "\n"})) for line in INVOICE_TEXT.splitlines()),
            event(chunk("", finish_reason="stop")),
            event(b"[DONE]"),
        ]
        with served(whole, EventStream(pieces)) as (model, _):
            structured = model.with_structured_output(Invoice)
            assert structured.invoke("go") == Invoice(**INVOICE)
            assert list(structured.stream("go"))[-1] == Invoice(**INVOICE)


@report("17", "vllm #53363: finish_reason says tool_calls, and there is only prose")
async def the_finish_reason_of_the_server_makes_no_call() -> None:
    body = completion("It is noon.", finish_reason="tool_calls", tool_calls=[])
    with served(Answer(completion("reply")), Answer(body)) as (model, _):
        message = model.bind_tools([get_weather, now]).invoke("go")
    assert (message.text, message.tool_calls) == ("It is noon.", [])
    assert message.response_metadata["finish_reason"] == "stop"


@report("19", "vllm #7262: usage on every chunk adds up to three prompts")
async def usage_that_is_repeated_counts_once() -> None:
    usage = {"prompt_tokens": 100, "total_tokens": 100}
    pieces = [
        *(
            event(chunk(text, usage={**usage, "completion_tokens": count}))
            for count, text in enumerate(("a", "b"), 1)
        ),
        event(chunk("", finish_reason="stop", usage={**usage, "completion_tokens": 2})),
        event(usage_chunk(100, 2)),
        event(b"[DONE]"),
    ]
    with served(EventStream(pieces)) as (model, _):
        chunks = list(model.stream("go"))
    found = summed(chunks).usage_metadata
    assert found is not None
    assert (found["input_tokens"], found["output_tokens"]) == (100, 2)
    assert sum(bool(one.usage_metadata) for one in chunks) == 1


@report("20", "#26810, #15921, #22717: the stop strings of the model are lost in a call")
async def stop_strings_of_model_and_call_are_joined() -> None:
    with served("Hi.", stop=["END"]) as (model, stub):
        model.invoke("go")
        model.invoke("go", stop=["STOP"])
        model.bind(stop=["STOP"]).invoke("go")
    assert [request.body["stop"] for request in stub.chats] == [["END"], ["END", "STOP"], ["END", "STOP"]]


@report("27", "#38705, langchain-aws #925, #35564: a tool_choice the server does not take")
async def a_tool_choice_never_reaches_the_server() -> None:
    for choice in ("any", "auto", "none", "get_weather"):
        with served("get_weather", OSLO) as (model, stub):
            model.bind_tools([get_weather, now], tool_choice=choice, parallel_tool_calls=False).invoke("go")
        for request in stub.chats:
            assert {"tools", "tool_choice", "parallel_tool_calls"}.isdisjoint(request.body)


@report("29", "vllm #12937: a chat template breaks on an empty list of tool calls")
async def messages_on_the_wire_have_no_list_of_tool_calls() -> None:
    with served("Hi.") as (model, stub):
        past = AIMessage("", tool_calls=[{"id": "c", "name": "get_weather", "args": {"city": "Oslo"}}])
        history = [HumanMessage("go"), past, ToolMessage("3", tool_call_id="c"), AIMessage("Cold.")]
        model.invoke([*history, HumanMessage("Thanks")])
    assert all(set(message) == {"role", "content"} for message in stub.chats[0].body["messages"])


@report("31", "vllm #9692, #17161, #27642, #18724: no calls without the server's own tool parser")
async def calls_need_nothing_of_the_server() -> None:
    pieces = reply_events(*(OSLO[start : start + 3] for start in range(0, len(OSLO), 3)))
    with served(OSLO, EventStream(pieces)) as (model, stub):
        bound = model.bind_tools([get_weather], tool_choice="any")
        assert calls(bound.invoke("go")) == calls(summed(bound.stream("go"))) == CALL
    allowed = {"messages", "model", "stream", "stream_options", "structured_outputs"}
    for request in stub.chats:
        assert set(request.body) <= allowed
        assert list(request.body["structured_outputs"]) == ["grammar"]


@report("32", "#31335: structured output of Qwen3-32B fails on vLLM")
async def a_thinking_model_gives_its_object() -> None:
    for text in (f"<think>\n\n</think>\n\n{INVOICE_TEXT}", f"<think>\nTwo tags.\n</think>\n\n{INVOICE_TEXT}"):
        pieces = reply_events(*(text[start : start + 5] for start in range(0, len(text), 5)))
        with served(text, EventStream(pieces), constrain=False) as (model, _):
            structured = model.with_structured_output(Invoice)
            assert structured.invoke("go") == Invoice(**INVOICE)
            assert list(structured.stream("go"))[-1] == Invoice(**INVOICE)


@pytest.mark.parametrize("check", report.rows)
async def test_report(check: Check) -> None:
    await check()
