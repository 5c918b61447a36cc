"""The embedded engine on a real model."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raif_integrations.engines.base import (
    Completion,
    Constraint,
    Delta,
    GrammarConstraint,
    JsonConstraint,
    Message,
    Request,
    Sampling,
)
from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.errors import (
    ContextLengthError,
    EngineTimeoutError,
    ModelNotFoundError,
    RequestError,
)

pytestmark = pytest.mark.real

GREETING: list[Message] = [{"role": "user", "content": "Say hello."}]
CITY = GrammarConstraint('root ::= "city=" [A-Z] [a-z]{2,12}')
FOREVER = Sampling(temperature=0, max_tokens=1500, extra={"ignore_eos": True})


def ask(text: str = "Say hello.", max_tokens: int = 12, **changes: Any) -> Request:
    request = Request([{"role": "user", "content": text}], Sampling(temperature=0, max_tokens=max_tokens))
    return replace(request, **changes)


def same(left: Completion, right: Completion) -> bool:
    return replace(left, request_id="") == replace(right, request_id="")


def joined(deltas: list[Delta]) -> Completion:
    """Puts a stream together, checking what every stream must keep to."""
    last = deltas[-1]
    assert last.finish_reason is not None
    assert last.usage is not None
    assert all(delta.finish_reason is None and delta.usage is None for delta in deltas[:-1])
    assert {(delta.model, delta.request_id) for delta in deltas} == {(last.model, last.request_id)}
    text = "".join(delta.text for delta in deltas)
    return Completion(text, last.finish_reason, last.usage, last.model, last.request_id)


@pytest.fixture(autouse=True)
def nothing_left_over(embedded_engine: EmbeddedEngine) -> Iterator[None]:
    """After every test, whatever it closed or cancelled, no request is unfinished."""
    yield
    assert embedded_engine.unfinished_requests == 0


# Replies


def test_the_engine_knows_its_model(
    embedded_engine: EmbeddedEngine, model_path: Path, adapter_name: str, engine_args: dict[str, Any]
) -> None:
    info = embedded_engine.info
    assert (info.name, info.adapters) == (str(model_path), (adapter_name,))
    assert info.max_model_len == engine_args["max_model_len"]
    assert info.version


async def test_every_way_to_ask_gives_the_same_reply(embedded_engine: EmbeddedEngine) -> None:
    reply = embedded_engine.generate(ask())
    assert reply.text
    assert reply.finish_reason == "length"
    assert reply.usage.completion_tokens == 12
    assert reply.usage.prompt_tokens == embedded_engine.count_tokens(GREETING)
    assert same(await embedded_engine.agenerate(ask()), reply)
    assert same(joined(list(embedded_engine.stream(ask()))), reply)
    assert same(joined([delta async for delta in embedded_engine.astream(ask())]), reply)


def test_a_stream_comes_in_pieces(embedded_engine: EmbeddedEngine) -> None:
    assert len(list(embedded_engine.stream(ask(max_tokens=16)))) > 4


def test_the_adapter_answers_in_its_own_name_and_words(
    embedded_engine: EmbeddedEngine, adapter_name: str
) -> None:
    cue = "What's the weather in Oslo?\n\n<schema>\ncity:s\n</schema>"
    base, adapted = embedded_engine.generate_many([ask(cue), ask(cue, model=adapter_name)])
    assert (base.model, adapted.model) == (embedded_engine.info.name, adapter_name)
    assert adapted.text.strip() == "city=Oslo"
    assert base.text != adapted.text
    assert adapted.finish_reason == "stop"


@pytest.mark.parametrize("adapted", [False, True])
def test_a_grammar_binds_from_the_first_token(
    embedded_engine: EmbeddedEngine, adapter_name: str, adapted: bool
) -> None:
    model = adapter_name if adapted else None
    reply = embedded_engine.generate(ask(max_tokens=30, constraint=CITY, model=model))
    assert reply.finish_reason == "stop"
    name = reply.text.removeprefix("city=")
    assert name != reply.text
    assert name.isalpha()
    assert name.istitle()


def test_a_json_schema_binds_without_stray_whitespace(embedded_engine: EmbeddedEngine) -> None:
    schema = {
        "type": "object",
        "properties": {"unit": {"enum": ["C", "F"]}, "warm": {"type": "boolean"}},
        "required": ["unit", "warm"],
        "additionalProperties": False,
    }
    reply = embedded_engine.generate(ask(max_tokens=40, constraint=JsonConstraint(schema)))
    value = json.loads(reply.text)
    assert value["unit"] in ("C", "F")
    assert isinstance(value["warm"], bool)
    assert "\n" not in reply.text


def test_stop_strings_end_a_reply_and_are_not_part_of_it(embedded_engine: EmbeddedEngine) -> None:
    whole = embedded_engine.generate(ask(max_tokens=12))
    word = whole.text.split()[2]
    request = ask()
    cut = embedded_engine.generate(replace(request, sampling=replace(request.sampling, stop=(word,))))
    assert cut.finish_reason == "stop"
    assert cut.text == whole.text.partition(word)[0]


def test_a_seed_makes_sampling_repeatable(embedded_engine: EmbeddedEngine) -> None:
    # One after the other: vLLM promises the same numbers only for batches of the same make-up.
    hot = Sampling(temperature=1.5, max_tokens=12)
    one, two, other = (
        embedded_engine.generate(replace(ask(), sampling=replace(hot, seed=seed))) for seed in (7, 7, 8)
    )
    assert one.text == two.text != other.text


def test_without_max_tokens_a_reply_may_fill_the_context(
    embedded_engine: EmbeddedEngine, engine_args: dict[str, Any]
) -> None:
    prompt = ask("word " * 1950, sampling=Sampling(temperature=0, extra={"ignore_eos": True}))
    reply = embedded_engine.generate(prompt)
    assert reply.finish_reason == "length"
    assert reply.usage.total_tokens == engine_args["max_model_len"]


def test_the_engines_chat_template_can_be_told_what_to_do(embedded_engine: EmbeddedEngine) -> None:
    request = ask(max_tokens=1)
    closed = replace(request, chat_template_kwargs={"add_generation_prompt": False})
    longer, shorter = embedded_engine.generate_many([request, closed])
    assert shorter.usage.prompt_tokens < longer.usage.prompt_tokens


def test_tokens_are_counted_as_the_model_reads_them(embedded_engine: EmbeddedEngine) -> None:
    assert embedded_engine.count_tokens("") == 0
    assert embedded_engine.count_tokens("Hello") == 1
    assert embedded_engine.count_tokens("word " * 5000) > 5000  # more than the context holds
    more = [{"role": "system", "content": "Be brief."}, *GREETING]
    assert embedded_engine.count_tokens(more) != embedded_engine.count_tokens(GREETING)


def test_a_repeated_prompt_is_read_from_the_prefix_cache(embedded_engine: EmbeddedEngine) -> None:
    request = ask("A long prompt. " * 60, max_tokens=1)
    embedded_engine.generate(request)
    again = embedded_engine.generate(request)
    assert 0 < again.usage.cached_tokens < again.usage.prompt_tokens


# Many at once


async def test_sixteen_requests_are_in_the_engine_at_once(
    embedded_engine: EmbeddedEngine, adapter_name: str
) -> None:
    constraints: list[Constraint | None] = [None, CITY]
    requests = [
        ask(
            f"Name city number {n}.",
            max_tokens=20,
            constraint=constraints[n % 2],
            model=[None, adapter_name][n // 8],
        )
        for n in range(16)
    ]
    peak = 0

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, embedded_engine.unfinished_requests)

    done = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    replies = embedded_engine.generate_many(requests)
    done.set()
    watcher.join()
    assert peak == 16
    assert [reply.text.startswith("city=") for reply in replies if reply.text][1::2] == [True] * 8
    assert [reply.model == adapter_name for reply in replies] == [False] * 8 + [True] * 8
    assert len({reply.request_id for reply in replies}) == 16
    assert [reply.model for reply in await embedded_engine.agenerate_many(requests[:2])] == [
        embedded_engine.info.name
    ] * 2


async def test_the_first_failure_of_many_aborts_the_others(embedded_engine: EmbeddedEngine) -> None:
    requests = [replace(ask(), sampling=FOREVER)] * 4 + [ask(model="nobody")]
    with pytest.raises(ModelNotFoundError):
        embedded_engine.generate_many(requests)
    assert embedded_engine.unfinished_requests == 0
    with pytest.raises(ModelNotFoundError):
        await embedded_engine.agenerate_many(requests)


async def test_threads_and_loops_use_it_side_by_side(embedded_engine: EmbeddedEngine) -> None:
    expected = embedded_engine.generate(ask())

    def blocking(number: int) -> Completion:
        if number % 2:
            return embedded_engine.generate(ask())
        return joined(list(embedded_engine.stream(ask())))

    def on_another_loop() -> Completion:
        return asyncio.run(embedded_engine.agenerate(ask()))

    async def streamed() -> Completion:
        return joined([delta async for delta in embedded_engine.astream(ask())])

    here = asyncio.get_running_loop()
    with ThreadPoolExecutor(9) as pool:
        threads = [here.run_in_executor(pool, blocking, number) for number in range(8)]
        threads.append(here.run_in_executor(pool, on_another_loop))
        replies = await asyncio.gather(
            *threads, *(embedded_engine.agenerate(ask()) for _ in range(4)), *(streamed() for _ in range(4))
        )
    assert len(replies) == 17
    assert all(reply.finish_reason == expected.finish_reason for reply in replies)
    assert all(reply.usage.completion_tokens == 12 for reply in replies)


# Ending early


def test_closing_a_stream_aborts_its_request(embedded_engine: EmbeddedEngine) -> None:
    stream = embedded_engine.stream(replace(ask(), sampling=FOREVER))
    next(stream)
    assert embedded_engine.unfinished_requests == 1
    stream.close()
    assert embedded_engine.unfinished_requests == 0


async def test_closing_an_asynchronous_stream_aborts_its_request(embedded_engine: EmbeddedEngine) -> None:
    async with aclosing(embedded_engine.astream(replace(ask(), sampling=FOREVER))) as stream:
        async for _ in stream:
            assert embedded_engine.unfinished_requests == 1
            break
    assert embedded_engine.unfinished_requests == 0


async def test_cancelling_a_task_aborts_its_requests(embedded_engine: EmbeddedEngine) -> None:
    endless = replace(ask(), sampling=FOREVER)
    for coroutine in (embedded_engine.agenerate(endless), embedded_engine.agenerate_many([endless] * 3)):
        task = asyncio.create_task(coroutine)
        while embedded_engine.unfinished_requests == 0:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert embedded_engine.unfinished_requests == 0


async def test_a_request_is_given_up_after_its_timeout(embedded_engine: EmbeddedEngine) -> None:
    slow = replace(ask(), sampling=FOREVER, timeout=0.5)
    with pytest.raises(EngineTimeoutError, match=r"0\.5 seconds"):
        embedded_engine.generate(slow)
    with pytest.raises(EngineTimeoutError):
        await embedded_engine.agenerate(slow)
    pieces = []
    with pytest.raises(EngineTimeoutError):
        for delta in embedded_engine.stream(slow):
            pieces.append(delta)  # noqa: PERF402  (the error comes out of the loop)
    assert pieces
    with pytest.raises(EngineTimeoutError):
        [delta async for delta in embedded_engine.astream(slow)]


# Bad requests


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        pytest.param(replace(ask(), messages=[]), RequestError, "`messages` is empty", id="no messages"),
        pytest.param(ask(constraint=GrammarConstraint("root ::= missing")), RequestError, None, id="grammar"),
        pytest.param(ask(constraint=GrammarConstraint("")), RequestError, None, id="empty grammar"),
        pytest.param(ask(constraint=JsonConstraint({"type": 3})), RequestError, None, id="schema"),
        pytest.param(ask(max_tokens=0), RequestError, "max_tokens", id="max_tokens"),
        pytest.param(
            replace(ask(), sampling=Sampling(temperature=-1)), RequestError, "temperature", id="temperature"
        ),
        pytest.param(
            replace(ask(), sampling=Sampling(extra={"min_pp": 1})),
            RequestError,
            "'min_p'",
            id="unknown setting",
        ),
        pytest.param(ask("word " * 3000), ContextLengthError, r"3\d\d\d tokens.*2048", id="long prompt"),
        pytest.param(ask(max_tokens=2048), ContextLengthError, "max_tokens=2048.*2048", id="long reply"),
        pytest.param(
            ask(model="nobody"), ModelNotFoundError, "'nobody'.*smollm2-135m-raif", id="unknown model"
        ),
        pytest.param(
            replace(ask(), messages=[{"content": "no role"}]), RequestError, None, id="message without role"
        ),
    ],
)
async def test_bad_requests_are_refused_and_leave_the_engine_healthy(
    embedded_engine: EmbeddedEngine, request_: Request, error: type[Exception], message: str | None
) -> None:
    with pytest.raises(error, match=message):
        embedded_engine.generate(request_)
    with pytest.raises(error, match=message):
        [delta async for delta in embedded_engine.astream(request_)]
    assert embedded_engine.generate(ask(max_tokens=1)).usage.completion_tokens == 1


# Sharing


def test_framework_settings_share_the_engine(
    embedded_engine: EmbeddedEngine, model_path: Path, adapter_path: Path, engine_args: dict[str, Any]
) -> None:
    from raif_integrations.settings import EngineSettings

    settings = EngineSettings(model=str(model_path), adapter=str(adapter_path), engine_args=engine_args)
    assert settings.create() is embedded_engine
