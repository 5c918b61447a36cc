"""Free text: no schema, no cue, ordinary text."""

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage

from raif_integrations.engines.base import Usage
from tests.langchain.chats import chat
from tests.support.scripted_engine import Reply


def test_a_reply_is_the_models_text_and_the_prompt_is_untouched():
    model = chat(["Hello there"])
    reply = model.invoke([SystemMessage("be brief"), HumanMessage("hi")])
    assert reply.content == "Hello there"
    assert reply.tool_calls == reply.invalid_tool_calls == []
    assert model.engine.last_request.messages == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
    ]
    assert model.engine.last_request.constraint is None


def test_metadata_of_a_reply():
    usage = Usage(prompt_tokens=7, completion_tokens=2, cached_tokens=3)
    reply = chat([Reply("Hello", usage=usage, finish_reason="length")]).invoke("hi")
    assert reply.usage_metadata == {
        "input_tokens": 7,
        "output_tokens": 2,
        "total_tokens": 9,
        "input_token_details": {"cache_read": 3},
    }
    assert reply.response_metadata == {
        "model_name": "raif-scripted",
        "model_provider": "vllm",
        "finish_reason": "length",
        "request_id": "scripted-0",
        "raif": {
            "text": "",
            "wire": None,
            "repairs": [],
            "repair_requests": 0,
            "plan": None,
            "completion_tokens": 2,
        },
    }


async def test_all_four_ways_give_the_same_reply():
    replies = [Reply("Hello there", reasoning="hm")] * 4
    model = chat(replies)
    invoked, awaited = model.invoke("hi"), await model.ainvoke("hi")
    streamed = list(model.stream("hi"))
    astreamed = [chunk async for chunk in model.astream("hi")]
    assert [chunk.content for chunk in streamed] == ["", "Hell", "o th", "ere", ""]
    assert streamed[-1].chunk_position == "last"
    for chunks in (streamed, astreamed):
        total = chunks[0] + chunks[1:]
        assert isinstance(total, AIMessageChunk)
        for name in ("content", "tool_calls", "additional_kwargs", "usage_metadata"):
            assert getattr(total, name) == getattr(invoked, name) == getattr(awaited, name)
        metadata = dict(total.response_metadata, request_id="")
        assert metadata == dict(invoked.response_metadata, request_id="")


def test_usage_and_names_come_on_one_chunk_only():
    chunks = list(chat([Reply("Hello there")]).stream("hi"))
    assert [bool(chunk.usage_metadata) for chunk in chunks[:-1]] == [False] * (len(chunks) - 1)
    assert chunks[-1].usage_metadata["output_tokens"] == 2
    assert [chunk.response_metadata for chunk in chunks[:-1]] == [{}] * (len(chunks) - 1)


def test_reasoning_is_a_block_of_its_own():
    reply = chat([Reply("yes", reasoning="hm")]).invoke("hi")
    assert reply.additional_kwargs == {"reasoning_content": "hm"}
    assert [block["type"] for block in reply.content_blocks] == ["reasoning", "text"]


def test_a_closed_stream_ends_the_generation():
    model = chat(["one two three four"])
    stream = model.stream("hi")
    next(stream)
    stream.close()
    assert len(model.engine.abandoned) == 1


async def test_a_closed_async_stream_ends_the_generation():
    model = chat(["one two three four"])
    stream = model.astream("hi")
    await anext(stream)
    await stream.aclose()
    assert len(model.engine.abandoned) == 1


def test_settings_of_the_model_and_of_the_call_reach_the_engine():
    model = chat(
        ["a"],
        model="base",
        temperature=0.5,
        max_tokens=5,
        stop="END",
        seed=3,
        timeout=9,
        model_kwargs={"min_p": 0.1},
        chat_template_kwargs={"enable_thinking": False},
    )
    model.invoke("hi", stop=["STOP"], temperature=0, repetition_penalty=1.1)
    request = model.engine.last_request
    assert request.sampling.temperature == 0
    assert (request.sampling.max_tokens, request.sampling.seed) == (5, 3)
    assert request.sampling.stop == ("END", "STOP")
    assert request.sampling.extra == {"min_p": 0.1, "repetition_penalty": 1.1}
    assert (request.model, request.timeout) == ("base", 9)
    assert request.chat_template_kwargs == {"enable_thinking": False}


def test_a_call_may_ask_another_model():
    model = chat(["a"] * 2, model="base")
    assert model.invoke("hi", model="other").response_metadata["model_name"] == "other"
    chunks = list(model.stream("hi", model="other"))
    assert (chunks[0] + chunks[1:]).response_metadata["model_name"] == "other"


def test_no_messages_is_an_error():
    with pytest.raises(ValueError, match="no messages"):
        chat([]).invoke([])


def test_images_are_refused_clearly():
    message = HumanMessage([{"type": "image", "url": "http://x/a.png"}])
    with pytest.raises(ValueError, match="image_url"):
        chat([]).invoke([message])


def test_an_argument_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="'temprature'"):
        chat([]).invoke("hi", temprature=0)
