"""The eight endpoints, and what they tell callbacks and instrumentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.prompts import PromptTemplate

from raif_integrations.engines.base import Usage
from raif_integrations.errors import ConfigurationError, EngineTimeoutError, RequestError
from raif_integrations.llama_index import RaifVLLM
from tests.support.scripted_engine import Reply, ScriptedEngine

HELLO = [ChatMessage(role="system", content="Be brief."), ChatMessage(content="Say hello.")]
ANSWER = Reply("Hello, world!", usage=Usage(prompt_tokens=12, completion_tokens=4))


async def call(llm: RaifVLLM, endpoint: str, given: Any, **kwargs: Any) -> list[Any]:
    """All responses of an endpoint, whichever of the eight it is."""
    result = getattr(llm, endpoint)(given, **kwargs)
    if endpoint.startswith("a"):
        result = await result
        return [item async for item in result] if "stream" in endpoint else [result]
    return list(result) if "stream" in endpoint else [result]


CHATS = ("chat", "achat", "stream_chat", "astream_chat")
COMPLETIONS = ("complete", "acomplete", "stream_complete", "astream_complete")


@pytest.mark.parametrize("endpoint", CHATS)
async def test_chats_say_the_same(endpoint: str) -> None:
    engine = ScriptedEngine([ANSWER])
    responses = await call(RaifVLLM(engine=engine), endpoint, HELLO)
    assert responses[-1].message.content == "Hello, world!"
    assert responses[-1].raw["usage"]["total_tokens"] == 16
    assert responses[-1].raw["finish_reason"] == "stop"
    if "stream" in endpoint:
        assert len(responses) > 2
        assert "".join(response.delta for response in responses) == "Hello, world!"
        assert all("Hello, world!".startswith(response.message.content) for response in responses)
    assert engine.last_request.messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Say hello."},
    ]
    assert engine.last_request.constraint is None


@pytest.mark.parametrize("endpoint", COMPLETIONS)
async def test_completions_are_one_user_message(endpoint: str) -> None:
    engine = ScriptedEngine([ANSWER])
    responses = await call(RaifVLLM(engine=engine), endpoint, "Say hello.")
    assert responses[-1].text == "Hello, world!"
    assert responses[-1].raw["usage"]["completion_tokens"] == 4
    assert engine.last_request.messages == [{"role": "user", "content": "Say hello."}]
    if "stream" in endpoint:
        assert "".join(response.delta for response in responses) == "Hello, world!"


@pytest.mark.parametrize("endpoint", CHATS)
async def test_reasoning_is_kept_apart(endpoint: str) -> None:
    engine = ScriptedEngine([Reply("<think>hm, well</think>Yes.")])
    responses = await call(RaifVLLM(engine=engine), endpoint, HELLO)
    thinking, text = responses[-1].message.blocks
    assert (thinking.content, text.text) == ("hm, well", "Yes.")
    if "stream" in endpoint:
        deltas = [response.additional_kwargs.get("thinking_delta", "") for response in responses]
        assert "".join(deltas) == "hm, well"


@pytest.mark.parametrize("endpoint", [*CHATS, *COMPLETIONS])
async def test_an_engine_error_comes_through(endpoint: str) -> None:
    engine = ScriptedEngine([Reply("Hel", error=EngineTimeoutError("too slow"))])
    given: Any = "hi" if "complete" in endpoint else HELLO
    with pytest.raises(EngineTimeoutError, match="too slow"):
        await call(RaifVLLM(engine=engine), endpoint, given)


@pytest.mark.parametrize("endpoint", CHATS)
async def test_no_messages_are_refused(endpoint: str) -> None:
    with pytest.raises(RequestError, match="no messages"):
        await call(RaifVLLM(engine=ScriptedEngine([])), endpoint, [])


@pytest.mark.parametrize("endpoint", CHATS)
async def test_an_unknown_argument_is_refused(endpoint: str) -> None:
    with pytest.raises(ConfigurationError, match=r"temprature.*temperature"):
        await call(RaifVLLM(engine=ScriptedEngine([])), endpoint, HELLO, temprature=0)


async def test_settings_of_the_call_go_before_those_of_the_object() -> None:
    engine = ScriptedEngine(["a", "b"], adapters=["raif"])
    llm = RaifVLLM(
        engine=engine,
        adapter="raif",
        temperature=0.5,
        max_tokens=9,
        stop=["x"],
        additional_kwargs={"min_p": 0.1},
        timeout=5,
        chat_template_kwargs={"enable_thinking": False},
    )
    llm.chat(HELLO)
    first = engine.last_request
    assert (first.model, first.timeout, first.sampling.stop) == ("raif", 5, ("x",))
    assert (first.sampling.temperature, first.sampling.max_tokens) == (0.5, 9)
    assert first.sampling.extra == {"min_p": 0.1}
    assert first.chat_template_kwargs == {"enable_thinking": False}
    llm.chat(HELLO, temperature=0.0, stop=["y"], timeout=1, repetition_penalty=1.1, seed=3)
    second = engine.last_request
    assert (second.sampling.temperature, second.sampling.seed, second.timeout) == (0.0, 3, 1)
    assert second.sampling.stop == ("x", "y")
    assert second.sampling.extra == {"min_p": 0.1, "repetition_penalty": 1.1}


def test_leaving_a_stream_aborts_it() -> None:
    engine = ScriptedEngine(["one two three"])
    stream = RaifVLLM(engine=engine).stream_chat(HELLO)
    next(stream)
    stream.close()
    del stream
    assert len(engine.abandoned) == 1


def test_the_system_prompt_of_the_object_is_for_prompts_not_for_chats() -> None:
    engine = ScriptedEngine(["a", "b"])
    llm = RaifVLLM(engine=engine, system_prompt="Be kind.")
    llm.chat([ChatMessage(content="hi")])
    assert len(engine.last_request.messages) == 1
    llm.predict(PromptTemplate("hi"))
    assert engine.last_request.messages[0] == {"role": "system", "content": "Be kind."}


class Recorder(BaseEventHandler):
    """Keeps every instrumentation event."""

    events: list[Any] = []  # noqa: RUF012 - a Pydantic field

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        self.events.append(event)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    handler = Recorder()
    dispatcher = get_dispatcher()
    dispatcher.add_event_handler(handler)
    yield handler
    dispatcher.event_handlers.remove(handler)


@pytest.mark.parametrize("endpoint", [*CHATS, *COMPLETIONS])
async def test_each_call_is_announced_once(endpoint: str, recorder: Recorder) -> None:
    counter = TokenCountingHandler(tokenizer=str.split)
    llm = RaifVLLM(engine=ScriptedEngine([ANSWER]), callback_manager=CallbackManager([counter]))
    await call(llm, endpoint, "hi" if "complete" in endpoint else HELLO)
    names = [event.class_name() for event in recorder.events]
    kind = "Completion" if "complete" in endpoint else "Chat"
    assert names.count(f"LLM{kind}StartEvent") == 1
    assert names.count(f"LLM{kind}EndEvent") == 1
    assert {name for name in names if "InProgress" not in name} == {
        f"LLM{kind}StartEvent",
        f"LLM{kind}EndEvent",
    }
    assert (counter.prompt_llm_token_count, counter.completion_llm_token_count) == (12, 4)
    assert [event.event_id != "" for event in counter.llm_token_counts] == [True]


async def test_events_hold_no_secret(recorder: Recorder) -> None:
    llm = RaifVLLM(engine=ScriptedEngine([ANSWER]), base_url="http://localhost/v1", api_key="sk-secret")
    await call(llm, "achat", HELLO)
    assert recorder.events
    assert "sk-secret" not in "".join(event.model_dump_json() for event in recorder.events)
