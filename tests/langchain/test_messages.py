"""LangChain messages as message dicts."""

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.utils.function_calling import tool_example_to_messages
from pydantic import BaseModel

from raif_integrations.errors import RequestError
from raif_integrations.langchain.messages import message_dicts

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 1}}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (HumanMessage("hi"), {"role": "user", "content": "hi"}),
        (HumanMessage("hi", name="ann"), {"role": "user", "content": "hi", "name": "ann"}),
        (SystemMessage("be brief"), {"role": "system", "content": "be brief"}),
        (ChatMessage("be brief", role="developer"), {"role": "developer", "content": "be brief"}),
        (AIMessage("yes"), {"role": "assistant", "content": "yes"}),
        (AIMessageChunk("yes"), {"role": "assistant", "content": "yes"}),
        (FunctionMessage("3", name="add"), {"role": "tool", "content": "3", "name": "add"}),
    ],
)
def test_plain_messages(message, expected):
    assert message_dicts([message]) == [expected]


def test_tool_calls_keep_their_arguments_even_if_they_do_not_fit():
    message = AIMessage("", tool_calls=[{"id": "c1", "name": "add", "args": {"a": 1}}])
    assert message_dicts([message]) == [{"role": "assistant", "content": "", "tool_calls": [CALL]}]


def test_invalid_tool_calls_are_shown_with_the_text_the_model_wrote():
    message = AIMessage(
        "", invalid_tool_calls=[{"id": "c1", "name": "add", "args": "a=", "error": "cut off"}]
    )
    (found,) = message_dicts([message])
    assert found["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "a="}}
    ]


def test_a_message_without_calls_has_no_key_for_them():
    assert "tool_calls" not in message_dicts([AIMessage("hi", tool_calls=[])])[0]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}},
        {"type": "tool_call", "id": "c1", "name": "add", "args": {"a": 1}},
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "non_standard", "value": {}},
    ],
)
def test_blocks_that_are_not_said_are_left_out(block):
    message = AIMessage(
        [{"type": "text", "text": "some "}, block, {"type": "text", "text": "text"}],
        tool_calls=[{"id": "c1", "name": "add", "args": {"a": 1}}],
    )
    assert message_dicts([message]) == [{"role": "assistant", "content": "some text", "tool_calls": [CALL]}]


def test_tool_results_carry_id_status_and_content():
    ok = ToolMessage("3", tool_call_id="c1", name="add")
    failed = ToolMessage([{"type": "text", "text": "no b"}], tool_call_id="c2", status="error")
    assert message_dicts([ok, failed]) == [
        {"role": "tool", "content": "3", "tool_call_id": "c1", "status": "success", "name": "add"},
        {
            "role": "tool",
            "content": [{"type": "text", "text": "no b"}],
            "tool_call_id": "c2",
            "status": "error",
        },
    ]


def test_text_blocks_lose_everything_but_their_text():
    block = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    assert message_dicts([SystemMessage([block])])[0]["content"] == [{"type": "text", "text": "hi"}]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "url": "http://x/a.png"},
        {"type": "image_url", "image_url": {"url": "http://x/a.png"}},
        {"type": "image", "source": {"type": "url", "url": "http://x/a.png"}},
    ],
)
def test_images_become_openai_parts(block):
    content = message_dicts([HumanMessage([block])])[0]["content"]
    assert content == [{"type": "image_url", "image_url": {"url": "http://x/a.png"}}]


def test_image_data_becomes_a_data_url():
    block = {"type": "image", "base64": "QUJD", "mime_type": "image/jpeg"}
    content = message_dicts([HumanMessage([block])])[0]["content"]
    assert content == [{"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}}]


def test_few_shot_examples_keep_their_calls():
    class Add(BaseModel):
        a: int

    messages = tool_example_to_messages("one", [Add(a=1)], ["1"], ai_response="done")
    found = message_dicts(messages)
    assert [message["role"] for message in found] == ["user", "assistant", "tool", "assistant"]
    (call,) = found[1]["tool_calls"]
    assert call["function"] == {"name": "Add", "arguments": {"a": 1}}
    assert found[2]["tool_call_id"] == call["id"]


def test_a_function_call_of_the_oldest_form_is_a_call():
    message = AIMessage("", additional_kwargs={"function_call": {"name": "add", "arguments": '{"a": 1}'}})
    (found,) = message_dicts([message])
    assert found["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1}'}


def test_other_kinds_of_messages_are_refused_by_name():
    with pytest.raises(RequestError, match="Message 1 is a RemoveMessage"):
        message_dicts([HumanMessage("hi"), RemoveMessage(id="x")])


def test_messages_are_not_changed():
    message = HumanMessage([{"type": "text", "text": "hi", "id": "b1"}])
    before = message.model_copy(deep=True)
    message_dicts([message])
    assert message == before
