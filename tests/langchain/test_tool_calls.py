"""Tool calls, valid and not, however the reply is asked for."""

import asyncio
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from raif_integrations.engines.base import GrammarConstraint
from raif_integrations.errors import ConfigurationError
from tests.langchain.chats import chat, get_weather, now
from tests.support.scripted_engine import Reply

OSLO = "city=Ås 東京\ndays=3\n"


def _bound(replies, *, tool_choice="get_weather", chunk_sizes=(4,), **kwargs):
    model = chat(replies, chunk_sizes=chunk_sizes, repair_attempts=0)
    return model.bind_tools([get_weather, now], tool_choice=tool_choice, **kwargs), model.engine


def _calls(message):
    return [(call["name"], call["args"]) for call in message.tool_calls]


def test_a_forced_call_is_constrained_and_decoded_by_its_types():
    bound, engine = _bound([OSLO])
    reply = bound.invoke("weather?")
    assert _calls(reply) == [("get_weather", {"city": "Ås 東京", "days": 3})]
    assert reply.tool_calls[0]["id"]
    assert reply.content == ""
    assert reply.response_metadata["finish_reason"] == "tool_calls"
    assert reply.response_metadata["raif"]["text"].strip() == OSLO.strip()
    assert [block["type"] for block in reply.content_blocks] == ["tool_call"]
    assert isinstance(engine.last_request.constraint, GrammarConstraint)
    assert "<schema>\ncity:s\ndays:n\n</schema>" in engine.last_request.messages[-1]["content"]


def test_a_tool_without_parameters_needs_no_generation_of_its_own():
    bound, engine = _bound([], tool_choice="now")
    assert _calls(bound.invoke("time?")) == [("now", {})]
    (total,) = [_sum(bound.stream("time?"))]
    assert _calls(total) == [("now", {})]
    assert engine.requests == []


def test_the_model_decides():
    bound, engine = _bound(["reply", "It is noon."], tool_choice="auto")
    reply = bound.invoke("hi")
    assert (reply.content, reply.tool_calls) == ("It is noon.", [])
    assert len(engine.requests) == 2


def test_none_forbids_calls():
    bound, engine = _bound(["It is noon."], tool_choice="none")
    assert bound.invoke("hi").content == "It is noon."
    assert len(engine.requests) == 1


def test_no_tools_means_no_choice_either():
    model = chat(["hi"])
    assert model.bind_tools([], tool_choice="any").invoke("hi").content == "hi"


def test_a_choice_of_an_unknown_tool_is_refused_when_it_is_bound():
    with pytest.raises(ConfigurationError, match=r"'weather'.*get_weather, now"):
        _bound([], tool_choice="weather")


def _sum(chunks):
    chunks = list(chunks)
    return chunks[0] + chunks[1:] if len(chunks) > 1 else chunks[0]


def _same(message):
    """What must be the same however a reply was asked for; ids are new each time."""
    usage = dict(message.usage_metadata)
    metadata = {key: value for key, value in message.response_metadata.items() if key != "request_id"}
    metadata["raif"] = dict(metadata["raif"], errors=None)
    metadata.pop("output_version", None)
    return {
        "text": message.text,
        "calls": _calls(message),
        "invalid": [(call["name"], call["args"]) for call in message.invalid_tool_calls],
        "usage": usage,
        "metadata": metadata,
    }


REPLIES = {
    "valid": Reply(OSLO),
    "cut off": Reply("city=Oslo\nday", finish_reason="length"),
    "cut off in a string": Reply('city=Os"l', finish_reason="length"),
    "cut off at once": Reply("", finish_reason="length"),
    "wrong type": Reply("city=Oslo\ndays=soon\n"),
    "missing": Reply("days=3\n"),
    "prose": Reply("I will look it up."),
    "broken json": Reply('{"city": "Oslo", "da', finish_reason="length"),
}


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(sorted(REPLIES)), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_one_reply_is_the_same_through_every_path(name, sizes):
    bound, _ = _bound(lambda request: REPLIES[name], chunk_sizes=tuple(sizes))
    invoked = bound.invoke("weather?")
    expected = _same(invoked)
    assert _same(_sum(bound.stream("weather?"))) == expected
    assert _same(bound.bind(output_version="v1") and asyncio.run(bound.ainvoke("weather?"))) == expected
    assert _same(asyncio.run(_asum(bound))) == expected
    assert bool(expected["calls"]) == (name == "valid")
    assert len(expected["calls"]) + len(expected["invalid"]) == 1
    v1 = chat(lambda request: REPLIES[name], chunk_sizes=tuple(sizes), repair_attempts=0, output_version="v1")
    v1_bound = v1.bind_tools([get_weather, now], tool_choice="get_weather")
    for message in (v1_bound.invoke("weather?"), _sum(v1_bound.stream("weather?"))):
        assert _calls(message) == expected["calls"]
        assert [(call["name"], call["args"]) for call in message.invalid_tool_calls] == expected["invalid"]


async def _asum(bound):
    return _sum([chunk async for chunk in bound.astream("weather?")])


@pytest.mark.parametrize("name", [name for name in REPLIES if name != "valid"])
def test_version_3_events_agree(name):
    bound, _ = _bound(lambda request: REPLIES[name])
    stream = bound.stream_events("weather?", version="v3")
    message = stream.output
    assert message.tool_calls == []
    assert len(message.invalid_tool_calls) == 1


def test_a_call_that_does_not_fit_says_why():
    bound, _ = _bound([REPLIES["wrong type"]])
    reply = bound.invoke("weather?")
    (call,) = reply.invalid_tool_calls
    assert "days" in call["error"]
    (error,) = reply.response_metadata["raif"]["errors"]
    assert (error["name"], error["id"]) == ("get_weather", call["id"])
    assert error["text"] == "city=Oslo\ndays=soon\n"


def test_a_streamed_call_gives_name_and_id_once_and_then_append_only_json():
    bound, _ = _bound([OSLO], chunk_sizes=(1,))
    deltas = [delta for chunk in bound.stream("weather?") for delta in chunk.tool_call_chunks]
    assert [delta["name"] for delta in deltas] == ["get_weather"] + [None] * (len(deltas) - 1)
    assert [bool(delta["id"]) for delta in deltas] == [True] + [False] * (len(deltas) - 1)
    assert {delta["index"] for delta in deltas} == {0}
    text = "".join(delta["args"] for delta in deltas)
    assert json.loads(text) == {"city": "Ås 東京", "days": 3}
    assert "東京" in text
    assert len(deltas) > 2


def test_several_calls_and_reasoning_before_them_keep_their_blocks_apart():
    replies = [Reply("get_weather\nnow", reasoning="two things"), OSLO] * 2
    model = chat(replies, output_version="v1")
    bound = model.bind_tools([get_weather, now], tool_choice="any")
    for message in (bound.invoke("weather and time?"), _sum(bound.stream("weather and time?"))):
        assert _calls(message) == [("get_weather", {"city": "Ås 東京", "days": 3}), ("now", {})]
        types = [block["type"] for block in message.content_blocks]
        assert types == ["reasoning", "tool_call", "tool_call"]


def test_past_calls_are_shown_as_raif():
    bound, engine = _bound(["reply", "Cold."], tool_choice="auto")
    bound.invoke(
        [
            HumanMessage("weather?"),
            AIMessage(
                "", tool_calls=[{"id": "c", "name": "get_weather", "args": {"city": "Oslo", "days": 1}}]
            ),
            ToolMessage("3 degrees", tool_call_id="c"),
        ]
    )
    shown = engine.requests[0].messages
    assert shown[1]["content"] == "<tool_call>\nget_weather\ncity=Oslo\ndays=1\n</tool_call>"
    assert shown[2]["content"].startswith("<tool_response>\n3 degrees\n</tool_response>")


def test_a_batch_is_as_wide_as_it_is_long():
    barrier = threading.Barrier(40, timeout=20)

    def reply(request):
        barrier.wait()
        return request.messages[-1]["content"].upper()

    replies = chat(reply).batch([f"a{number}" for number in range(40)])
    assert [one.content for one in replies] == [f"A{number}" for number in range(40)]


def test_a_batch_respects_the_callers_width():
    running, most, lock = 0, 0, threading.Lock()

    def reply(request):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.01)
        with lock:
            running -= 1
        return "a"

    chat(reply).batch(["hi"] * 12, config={"max_concurrency": 3})
    assert 1 <= most <= 3


def test_a_failed_prompt_of_a_batch_leaves_the_others_alone():
    def reply(request):
        return ValueError("no") if request.messages[-1]["content"] == "bad" else "ok"

    found = chat(reply).batch(["good", "bad", "good"], return_exceptions=True)
    assert [getattr(one, "content", type(one).__name__) for one in found] == ["ok", "ValueError", "ok"]


def test_results_of_a_batch_as_they_come():
    found = dict(chat(lambda request: request.messages[-1]["content"]).batch_as_completed(["a", "b"]))
    assert {index: message.content for index, message in found.items()} == {0: "a", 1: "b"}
