"""What surrounds a call: tracing, caches, limits, retries and timeouts, as the settings say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.exceptions import ModelTimeoutError
from langchain_core.rate_limiters import BaseRateLimiter
from langchain_core.runnables import ConfigurableField
from langchain_core.tracers import BaseTracer
from langchain_core.tracers.schemas import Run

from raif_integrations.engines.base import Usage
from raif_integrations.errors import ServerError
from raif_integrations.langchain import ChatRaifVLLM
from tests.langchain.chats import Invoice, chat, get_weather, now
from tests.support.scripted_engine import Reply
from tests.support.stub_server import Answer, Silence, StubServer, completion

OSLO = "city=Oslo\ndays=3"


class Tracer(BaseTracer):
    """Keeps what a tracing service would be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Run] = []

    def _persist_run(self, run: Run) -> None:
        self.sent.append(run)


def model_run(runnable: Any) -> Run:
    """The trace of the model in a call."""
    tracer = Tracer()
    runnable.invoke("go", config={"callbacks": [tracer]})
    (root,) = tracer.sent
    return root if root.run_type == "llm" else next(run for run in root.child_runs if run.run_type == "llm")


def test_a_trace_of_a_call_is_plain_data_without_contracts() -> None:
    bound = chat([OSLO], adapter="raif").bind_tools([get_weather, now], tool_choice="get_weather")
    run = model_run(bound)
    told = [tool["function"]["name"] for tool in run.extra["invocation_params"]["tools"]]
    assert told == ["get_weather", "now"]
    written = json.dumps(run.extra)
    assert "Contract" not in written
    assert " object at 0x" not in written
    metadata = run.extra["metadata"]
    assert (metadata["ls_provider"], metadata["ls_model_name"]) == ("vllm", "raif")
    assert {"tools", "response_format"}.isdisjoint(metadata)


def test_a_trace_of_structured_output_names_its_schema() -> None:
    run = model_run(chat(["number=1\ntotal=2"]).with_structured_output(Invoice))
    json.dumps(run.extra)
    told = run.extra["options"]["ls_structured_output_format"]
    assert told["schema"]["title"] == "Invoice"
    assert told["kwargs"] == {"method": "raif"}


def test_a_cached_reply_holds_its_calls_and_other_tools_ask_again() -> None:
    model = chat([OSLO, OSLO], cache=InMemoryCache())
    bound = model.bind_tools([get_weather], tool_choice="any")
    first = bound.invoke("go")
    again = model.bind_tools([get_weather], tool_choice="any").invoke("go")
    assert again.tool_calls == first.tool_calls != []
    assert len(model.engine.requests) == 1
    model.bind_tools([get_weather, now], tool_choice="get_weather").invoke("go")
    assert len(model.engine.requests) == 2


class CountingLimiter(BaseRateLimiter):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def acquire(self, *, blocking: bool = True) -> bool:
        self.asked.append("sync")
        return True

    async def aacquire(self, *, blocking: bool = True) -> bool:
        self.asked.append("async")
        return True


async def test_every_way_of_asking_waits_for_the_rate_limiter() -> None:
    limiter = CountingLimiter()
    model = chat(lambda request: "a", rate_limiter=limiter)
    model.invoke("go")
    list(model.stream("go"))
    await model.ainvoke("go")
    [chunk async for chunk in model.astream("go")]
    assert limiter.asked == ["sync", "sync", "async", "async"]


def test_usage_is_counted_by_langchains_own_callback() -> None:
    counting = UsageMetadataCallbackHandler()
    usage = Usage(prompt_tokens=7, completion_tokens=2)
    model = chat([Reply("a", usage=usage)] * 2)
    model.invoke("go", config={"callbacks": [counting]})
    list(model.stream("go", config={"callbacks": [counting]}))
    counted = counting.usage_metadata["raif-scripted"]
    assert (counted["input_tokens"], counted["output_tokens"]) == (14, 4)


def test_streaming_can_be_turned_off_for_calls() -> None:
    model = chat([OSLO, "Hello there"], disable_streaming="tool_calling")
    assert len(list(model.bind_tools([get_weather], tool_choice="any").stream("go"))) <= 2
    assert len(list(model.stream("go"))) > 2


def test_settings_can_be_left_to_the_configuration() -> None:
    model = chat(["a", "a"], temperature=0.0)
    configurable = model.configurable_fields(temperature=ConfigurableField(id="heat"))
    configurable.invoke("go")
    configurable.invoke("go", config={"configurable": {"heat": 0.7}})
    assert [request.sampling.temperature for request in model.engine.requests] == [0.0, 0.7]


def test_a_subclass_is_a_chat_model_with_further_settings() -> None:
    class Mine(ChatRaifVLLM):
        tone: str = "kind"

    mine = Mine(base_url="http://127.0.0.1:9/v1", tone="plain", temperature=0)
    assert (mine.tone, mine.temperature) == ("plain", 0)


BUSY = Answer(
    {"error": {"message": "busy", "type": "x", "code": 503}}, status=503, headers={"retry-after": "0"}
)


@pytest.mark.parametrize(("retries", "works"), [(0, False), (1, True)])
async def test_a_busy_server_is_asked_again_as_often_as_allowed(retries: int, works: bool) -> None:
    for asynchronous in (False, True):
        with StubServer(chat=[BUSY, Answer(completion("Hi."))]) as stub:
            model = ChatRaifVLLM(base_url=f"{stub.root}/v1", model="raif", max_retries=retries)
            if works:
                reply = await model.ainvoke("go") if asynchronous else model.invoke("go")
                assert reply.content == "Hi."
            else:
                with pytest.raises(ServerError):
                    await model.ainvoke("go") if asynchronous else model.invoke("go")
            assert len(stub.chats) == retries + 1


def test_a_silent_server_is_given_up_after_the_timeout() -> None:
    with StubServer(chat=[Silence()]) as stub:
        model = ChatRaifVLLM(base_url=f"{stub.root}/v1", model="raif", timeout=0.2, max_retries=0)
        with pytest.raises(ModelTimeoutError, match=r"0\.2 s"):
            model.invoke("go")
        with pytest.raises(ModelTimeoutError):
            list(model.stream("go"))


def test_a_key_and_headers_reach_the_server_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "hush")
    with StubServer(chat=[Answer(completion("Hi."))]) as stub:
        model = ChatRaifVLLM(base_url=f"{stub.root}/v1", model="raif", default_headers={"x-team": "blue"})
        reply = model.invoke("go")
    headers = stub.chats[0].headers
    assert (headers["authorization"], headers["x-team"]) == ("Bearer hush", "blue")
    assert "hush" not in repr(model) + repr(reply) + json.dumps(model.asdict(), default=str)
