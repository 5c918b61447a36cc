"""The four structured methods: every shape, every form of text, the same in all four."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate
from llama_index.core.types import PydanticProgramMode
from pydantic import BaseModel

from raif_integrations.engines.base import GrammarConstraint, Usage
from raif_integrations.errors import ConfigurationError, EngineDiedError, OutputError, TruncatedOutputError
from raif_integrations.llama_index import RaifVLLM
from tests.llama_index.shapes import ALBUM, GOOD, SHAPES, Album, Aliased, Single, Strict, written
from tests.support.scripted_engine import Reply, ScriptedEngine, ScriptLine

METHODS = (
    "structured_predict",
    "astructured_predict",
    "stream_structured_predict",
    "astream_structured_predict",
)
PROMPT = PromptTemplate("Read this: {text}")


async def predict(
    method: str,
    output_class: type[BaseModel],
    replies: Sequence[ScriptLine],
    *,
    prompt: Any = PROMPT,
    llm_kwargs: dict[str, Any] | None = None,
    text: str = "a text",
    **settings: Any,
) -> tuple[list[Any], ScriptedEngine]:
    """All objects a structured method gives, and the engine that was asked."""
    engine = ScriptedEngine(replies)
    llm = RaifVLLM(engine=engine, **{"repair_attempts": 0, **settings})
    result = getattr(llm, method)(output_class, prompt, llm_kwargs=llm_kwargs, text=text)
    if method.startswith("a"):
        result = await result
    if "stream" not in method:
        return [result], engine
    if method.startswith("a"):
        return [item async for item in result], engine
    return list(result), engine


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SHAPES)
async def test_every_shape_comes_back_whole(shape: str, method: str) -> None:
    expected = SHAPES[shape]
    objects, engine = await predict(method, type(expected), [written(expected)])
    assert objects[-1] == expected
    assert type(objects[-1]) is type(expected)
    assert len(engine.requests) == 1


FORMS = {
    "bare": "{}",
    "after thinking": "<think>\nnames=[\nWrong\n]\n</think>\n\n{}",
    "fenced": "```\n{}\n```",
    "in prose": "Here is the object:\n\n{}\n\nI hope this helps.",
    "in a tool call": "<tool_call>\nSingle\n{}\n</tool_call>",
    "in markers": "<raif>\n{}\n</raif>",
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", FORMS)
async def test_the_object_is_found_in_noisy_text(form: str, method: str) -> None:
    expected = SHAPES["single field with default"]
    text = FORMS[form].replace("{}", written(expected))
    objects, _ = await predict(method, Single, [text])
    assert objects[-1] == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (Reply("I do not know."), OutputError, "I do not know"),
        (Reply(""), OutputError, "names"),
        (Reply("<tool_call>"), OutputError, "tool_call"),
        (Reply("names=[\nAda\n]"), OutputError, "count"),
        (Reply("count=many\nnames=[\nAda\n]"), OutputError, "count.*many"),
        (
            Reply("count=2\nnames=[\nAda", finish_reason="length"),
            TruncatedOutputError,
            r"cut off.*max_tokens",
        ),
        (Reply("count=13\nnames=[\nAda\n]"), OutputError, r"count: .*thirteen is unlucky"),
    ],
    ids=["prose", "empty", "lone tag", "missing", "wrong type", "truncated", "validator"],
)
async def test_what_does_not_fit_is_an_error_never_an_object(
    reply: Reply, kind: type[OutputError], said: str, method: str
) -> None:
    with pytest.raises(kind, match=f"(?s){said}") as raised:
        await predict(method, Strict, [reply])
    assert isinstance(raised.value, ValueError)
    assert raised.value.text == reply.text or raised.value.text in reply.text


@pytest.mark.parametrize("method", METHODS)
async def test_a_class_whose_fields_all_have_defaults_is_not_filled_from_garbage(method: str) -> None:
    with pytest.raises(OutputError):
        await predict(method, Single, ["I do not know."])


@pytest.mark.parametrize("method", METHODS)
async def test_an_engine_error_comes_through(method: str) -> None:
    with pytest.raises(EngineDiedError):
        await predict(method, Strict, [Reply("count=2", error=EngineDiedError("gone"))])


@pytest.mark.parametrize("method", METHODS)
async def test_all_methods_send_the_same_request(method: str) -> None:
    kwargs = {"temperature": 0.0, "tool_choice": "auto", "tool_required": False}
    _, engine = await predict(
        method,
        Strict,
        [written(GOOD)],
        llm_kwargs=kwargs,
        text="braces {x} {{y}}",
        system_prompt="Be exact.",
        prompting="trained",
    )
    (request,) = engine.requests
    assert request.messages[0] == {"role": "system", "content": "Be exact."}
    assert request.messages[1]["content"] == (
        "Read this: braces {x} {{y}}\n\n<schema>\ncount:n\nnames[]:s\n</schema>"
    )
    assert request.sampling.temperature == 0.0
    assert request.constraint is not None
    assert kwargs == {"temperature": 0.0, "tool_choice": "auto", "tool_required": False}


@pytest.mark.parametrize("method", METHODS[2:])
async def test_a_stream_grows_and_only_its_last_item_is_an_instance(method: str) -> None:
    objects, _ = await predict(method, Album, [written(ALBUM)])
    assert objects[-1] == ALBUM
    assert not any(isinstance(item, Album) for item in objects[:-1])
    seen = [item.model_dump(exclude_unset=True) for item in objects[:-1]]
    assert len(seen) > 1
    assert seen[0].get("artist") == "Nina"
    assert all(item.year in (None, 1965) for item in objects)
    assert all(before != after for before, after in pairwise(seen))
    sizes = [len(json.dumps(item)) for item in seen]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("method", METHODS[2:])
async def test_leaving_a_stream_aborts_it(method: str) -> None:
    engine = ScriptedEngine([written(ALBUM)])
    stream = getattr(RaifVLLM(engine=engine), method)(Album, PROMPT, text="x")
    if method.startswith("a"):
        stream = await stream
        await anext(stream)
        await stream.aclose()
    else:
        next(stream)
        stream.close()
    del stream
    for _ in range(20):  # Core leaves closing its inner generators to the event loop.
        await asyncio.sleep(0)
    assert len(engine.abandoned) == 1


@pytest.mark.parametrize("method", METHODS[2:])
async def test_partial_objects_use_field_names(method: str) -> None:
    expected = SHAPES["alias"]
    objects, _ = await predict(method, Aliased, [written(expected)])
    names = [getattr(item, "full_name", None) for item in objects]
    assert names[-1] == "Ada Lovelace"
    assert len(objects) > 1
    assert set(names) <= {None, "Ada Lovelace"}


@pytest.mark.parametrize("method", METHODS)
async def test_usage_reaches_the_token_counter(method: str) -> None:
    counter = TokenCountingHandler(tokenizer=str.split)
    reply = Reply(written(GOOD), usage=Usage(prompt_tokens=20, completion_tokens=8))
    await predict(method, Strict, [reply], callback_manager=CallbackManager([counter]))
    assert (counter.prompt_llm_token_count, counter.completion_llm_token_count) == (20, 8)
    assert len(counter.llm_token_counts) == 1


@pytest.mark.parametrize("method", METHODS)
async def test_the_output_class_must_be_a_pydantic_class(method: str) -> None:
    with pytest.raises(ConfigurationError, match="BaseModel"):
        await predict(method, dict, [])  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
async def test_in_mode_llm_cores_parser_reads_text_that_is_bound_to_fit(method: str) -> None:
    objects, engine = await predict(
        method, Strict, [written(GOOD)], pydantic_program_mode=PydanticProgramMode.LLM
    )
    assert objects[-1] == GOOD
    assert "JSON schema to follow" in str(engine.last_request.messages)
    assert isinstance(engine.last_request.constraint, GrammarConstraint)
    assert PROMPT.output_parser is None


@pytest.mark.parametrize("method", METHODS)
async def test_in_mode_llm_what_does_not_fit_is_an_error(method: str) -> None:
    with pytest.raises(OutputError, match="count"):
        await predict(
            method,
            Strict,
            ["names=[\nAda\n]\ncount=two"],
            pydantic_program_mode=PydanticProgramMode.LLM,
            repair_attempts=0,
        )


def test_missing_fields_are_asked_for_again() -> None:
    engine = ScriptedEngine(["names=[\nAda\nGrace\n]", "count=2"])
    assert RaifVLLM(engine=engine).structured_predict(Strict, PROMPT, text="x") == GOOD
    assert len(engine.requests) == 2


@pytest.mark.parametrize(
    "endpoint", ["chat", "achat", "stream_chat", "astream_chat", "complete", "acomplete"]
)
async def test_a_structured_llm_gives_instances(endpoint: str) -> None:
    engine = ScriptedEngine([written(GOOD)])
    llm = RaifVLLM(engine=engine).as_structured_llm(Strict)
    given: Any = "x {y}" if "complete" in endpoint else [ChatMessage(content="x {y}")]
    result = getattr(llm, endpoint)(given)
    if endpoint.startswith("a"):
        result = await result
    if "stream" in endpoint:
        items = [item async for item in result] if endpoint.startswith("a") else list(result)
        result = items[-1]
    assert result.raw == GOOD
    text = result.text if "complete" in endpoint else result.message.content
    assert Strict.model_validate_json(text) == GOOD
    assert engine.last_request.messages[0]["content"].startswith("x {y}")


def test_chat_messages_as_a_prompt_keep_their_roles() -> None:
    engine = ScriptedEngine([written(GOOD)])
    prompt = ChatPromptTemplate(
        [ChatMessage(role="system", content="Be exact."), ChatMessage(content="Read {text}")]
    )
    RaifVLLM(engine=engine).structured_predict(Strict, prompt, text="this")
    assert [message["role"] for message in engine.last_request.messages] == ["system", "user"]


def test_a_response_format_gives_json_text() -> None:
    engine = ScriptedEngine([written(GOOD), written(GOOD)])
    llm = RaifVLLM(engine=engine)
    response = llm.chat([ChatMessage(content="x")], response_format=Strict)
    assert json.loads(response.message.content or "") == {"names": ["Ada", "Grace"], "count": 2}
    assert response.raw["raif"]["wire"] == "raif"
    stream = list(llm.stream_chat([ChatMessage(content="x")], response_format=Strict))
    assert "".join(chunk.delta or "" for chunk in stream) == stream[-1].message.content
    assert json.loads(stream[-1].message.content or "") == {"names": ["Ada", "Grace"], "count": 2}
