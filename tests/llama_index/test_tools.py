"""Tool calls: preparing, reading and running them, and core's programs on top."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ToolCallBlock
from llama_index.core.program.function_program import FunctionCallingProgram, get_function_tool
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.types import BaseTool, ToolMetadata, ToolOutput
from pydantic import BaseModel, Field, RootModel

from raif_integrations.contract import OutputContract
from raif_integrations.errors import ConfigurationError, OutputError, TruncatedOutputError
from raif_integrations.llama_index import RaifVLLM
from raif_integrations.llama_index.tools import is_output_tool, tool_dict
from tests.llama_index.shapes import SHAPES, Strict, Tags, written
from tests.support.scripted_engine import Reply, ScriptedEngine, ScriptLine


def get_weather(city: str, unit: str = "celsius") -> str:
    """Weather of a city, now."""
    return f"sunny in {city}, {unit}"


def get_time() -> str:
    """The time, now."""
    return "noon"


WEATHER = FunctionTool.from_defaults(get_weather)
TIME = FunctionTool.from_defaults(get_time)
BOTH: list[BaseTool] = [WEATHER, TIME]
OSLO = "city=Oslo"


def model(replies: Sequence[ScriptLine], **settings: Any) -> RaifVLLM:
    return RaifVLLM(engine=ScriptedEngine(replies), **{"repair_attempts": 0, **settings})


def asked(llm: RaifVLLM) -> list[Any]:
    engine = llm.engine
    assert isinstance(engine, ScriptedEngine)
    return engine.requests


CHATS = (
    "chat_with_tools",
    "achat_with_tools",
    "stream_chat_with_tools",
    "astream_chat_with_tools",
)


async def chat_with_tools(llm: RaifVLLM, method: str, tools: Any = BOTH, **kwargs: Any) -> list[ChatResponse]:
    result = getattr(llm, method)(tools, user_msg=kwargs.pop("user_msg", "Weather in Oslo?"), **kwargs)
    if method.startswith("a"):
        result = await result
        return [item async for item in result] if "stream" in method else [result]
    return list(result) if "stream" in method else [result]


# Preparing


def test_a_tool_keeps_its_name_its_description_and_its_whole_schema() -> None:
    class Box(BaseModel):
        """A box."""

        model_config = {"extra": "forbid"}
        content: int

    function = tool_dict(get_function_tool(Box))["function"]
    assert function["name"] == "Box"
    assert function["description"] == "A box."
    assert function["parameters"]["additionalProperties"] is False


def nameless(city: str) -> str:
    return city


@pytest.mark.parametrize(
    ("tool", "description"),
    [
        (WEATHER, "Weather of a city, now."),
        (FunctionTool.from_defaults(get_weather, description="Ask me."), "Ask me."),
        (FunctionTool.from_defaults(nameless), "nameless(city: 'str') -> 'str'"),
        (get_function_tool(type(SHAPES["alias"])), ""),
    ],
    ids=["docstring", "own words", "signature only", "output class"],
)
def test_a_description_says_when_to_use_the_tool(tool: BaseTool, description: str) -> None:
    assert tool_dict(tool)["function"]["description"].strip() == description


def test_generic_names_keep_their_brackets() -> None:
    assert tool_dict(get_function_tool(type(SHAPES["generic"])))["function"]["name"] == "Box[int]"


def test_output_tools_are_told_from_actions() -> None:
    assert is_output_tool(get_function_tool(Strict))
    assert not is_output_tool(WEATHER)


def test_a_tool_without_a_schema_takes_one_input() -> None:
    class Plain(BaseTool):
        @property
        def metadata(self) -> ToolMetadata:
            return ToolMetadata(description="Searches.", name="search", fn_schema=None)

        def __call__(self, input: Any) -> ToolOutput:
            raise NotImplementedError

    assert tool_dict(Plain())["function"]["parameters"]["required"] == ["input"]


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([get_weather], "A tool is a function"),
        ([WEATHER, WEATHER], "Two tools are named 'get_weather'"),
        ([{"type": "function", "function": {}}], "no name"),
    ],
)
def test_what_is_not_a_tool_is_refused(tools: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        model([]).chat([ChatMessage(content="hi")], tools=tools)


# The choice


@pytest.mark.parametrize("method", CHATS)
async def test_a_demanded_call_of_the_only_tool_is_one_request(method: str) -> None:
    llm = model([OSLO])
    responses = await chat_with_tools(llm, method, [WEATHER], tool_required=True)
    (call,) = llm.get_tool_calls_from_response(responses[-1])
    assert (call.tool_name, call.tool_kwargs) == ("get_weather", {"city": "Oslo"})
    assert len(asked(llm)) == 1
    assert responses[-1].raw["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("method", CHATS)
@pytest.mark.parametrize(
    "choice", ["get_weather", {"type": "function", "function": {"name": "get_weather"}}], ids=["name", "dict"]
)
async def test_a_named_tool_is_called(method: str, choice: Any) -> None:
    llm = model([OSLO])
    responses = await chat_with_tools(llm, method, tool_choice=choice)
    assert [call.tool_name for call in llm.get_tool_calls_from_response(responses[-1])] == ["get_weather"]
    assert len(asked(llm)) == 1


@pytest.mark.parametrize("method", CHATS)
@pytest.mark.parametrize("choice", [None, "auto"])
async def test_the_model_may_answer_in_text(method: str, choice: Any) -> None:
    llm = model(["reply", "It is sunny."])
    responses = await chat_with_tools(llm, method, tool_choice=choice)
    assert responses[-1].message.content == "It is sunny."
    assert llm.get_tool_calls_from_response(responses[-1], error_on_no_tool_call=False) == []


@pytest.mark.parametrize("method", CHATS)
async def test_the_model_may_choose_a_tool(method: str) -> None:
    llm = model(["get_weather", OSLO])
    responses = await chat_with_tools(llm, method)
    (call,) = llm.get_tool_calls_from_response(responses[-1])
    assert (call.tool_name, call.tool_kwargs) == ("get_weather", {"city": "Oslo"})
    assert responses[-1].raw["raif"]["plan"] == ["get_weather"]


@pytest.mark.parametrize("method", CHATS)
async def test_no_tool_may_be_called(method: str) -> None:
    llm = model(["It is sunny."])
    responses = await chat_with_tools(llm, method, tool_choice="none")
    assert responses[-1].message.content == "It is sunny."


@pytest.mark.parametrize("method", CHATS)
async def test_several_calls_have_their_own_ids(method: str) -> None:
    llm = model(["get_weather\nget_time", OSLO])
    responses = await chat_with_tools(llm, method, allow_parallel_tool_calls=True)
    calls = llm.get_tool_calls_from_response(responses[-1])
    assert [(call.tool_name, call.tool_kwargs) for call in calls] == [
        ("get_weather", {"city": "Oslo"}),
        ("get_time", {}),
    ]
    assert len({call.tool_id for call in calls}) == 2
    assert all(call.tool_id for call in calls)


@pytest.mark.parametrize("method", CHATS)
async def test_not_parallel_is_one_call(method: str) -> None:
    llm = model(["get_weather\nget_time", OSLO])
    responses = await chat_with_tools(llm, method, allow_parallel_tool_calls=False)
    assert len(llm.get_tool_calls_from_response(responses[-1])) == 1
    assert len(responses[-1].message.additional_kwargs["tool_calls"]) == 1


@pytest.mark.parametrize("method", CHATS)
async def test_a_tool_that_does_not_exist_cannot_be_demanded(method: str) -> None:
    with pytest.raises(ConfigurationError, match=r"'nope'.*get_weather"):
        await chat_with_tools(model([]), method, tool_choice="nope")


@pytest.mark.parametrize("method", CHATS)
async def test_the_callers_history_is_not_changed(method: str) -> None:
    history = [ChatMessage(role="system", content="Be brief."), ChatMessage(content="Hello.")]
    before = [message.model_copy(deep=True) for message in history]
    llm = model([OSLO])
    await chat_with_tools(llm, method, tool_choice="get_weather", chat_history=history)
    assert history == before
    assert "Weather in Oslo?" in asked(llm)[0].messages[-1]["content"]


@pytest.mark.parametrize("message", ["Weather?", ChatMessage(content="Weather?"), None])
async def test_the_new_message_comes_last(message: Any) -> None:
    llm = model(["Sunny."])
    history = [ChatMessage(content="Hello."), ChatMessage(role="assistant", content="Hi.")]
    llm.chat_with_tools(BOTH, user_msg=message, chat_history=history, tool_choice="none")
    contents = [message["content"] for message in asked(llm)[0].messages]
    assert contents == ["Hello.", "Hi.", *(["Weather?"] if message else [])]


# Reading


@pytest.mark.parametrize("method", CHATS)
@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (Reply("I cannot."), OutputError, "get_weather.*I cannot"),
        (Reply("unit=kelvin"), OutputError, "city"),
        (Reply("city=Osl", finish_reason="length"), TruncatedOutputError, "max_tokens"),
    ],
    ids=["prose", "missing", "truncated"],
)
async def test_a_broken_call_is_an_error(
    method: str, reply: Reply, kind: type[OutputError], said: str
) -> None:
    with pytest.raises(kind, match=f"(?s){said}"):
        await chat_with_tools(model([reply]), method, tool_choice="get_weather")


def test_no_call_is_an_error_with_the_models_text() -> None:
    llm = model(["reply", "I would rather not."])
    response = llm.chat_with_tools(BOTH, user_msg="Weather?")
    with pytest.raises(OutputError, match="I would rather not") as raised:
        llm.get_tool_calls_from_response(response)
    assert raised.value.text == "I would rather not."


def test_calls_are_read_from_a_response_that_went_through_json() -> None:
    llm = model([OSLO])
    response = llm.chat_with_tools(BOTH, user_msg="Weather?", tool_choice="get_weather")
    again = ChatResponse.model_validate_json(response.model_dump_json())
    assert llm.get_tool_calls_from_response(again) == llm.get_tool_calls_from_response(response)
    again.message.blocks = []
    assert llm.get_tool_calls_from_response(again) == llm.get_tool_calls_from_response(response)


@pytest.mark.parametrize("arguments", ["[1]", '"text"', "{", "null"])
def test_arguments_that_are_no_object_are_not_an_empty_call(arguments: str) -> None:
    message = ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_name="f", tool_kwargs=arguments)])
    with pytest.raises(OutputError, match="not a JSON object"):
        model([]).get_tool_calls_from_response(ChatResponse(message=message))


@pytest.mark.parametrize("arguments", ["", "{}", " "])
def test_no_arguments_are_an_empty_call(arguments: str) -> None:
    message = ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_name="f", tool_kwargs=arguments)])
    (call,) = model([]).get_tool_calls_from_response(ChatResponse(message=message))
    assert call.tool_kwargs == {}


def test_a_surplus_call_is_dropped_from_both_places() -> None:
    llm = model([])
    blocks = [ToolCallBlock(tool_call_id=i, tool_name="f") for i in ("a", "b")]
    message = ChatMessage(role="assistant", blocks=blocks, additional_kwargs={"tool_calls": [{}, {}]})
    response = llm._validate_chat_with_tools_response(ChatResponse(message=message), [])
    assert [call.tool_id for call in llm.get_tool_calls_from_response(response)] == ["a"]
    assert len(response.message.additional_kwargs["tool_calls"]) == 1


# Running


@pytest.mark.parametrize("method", ["predict_and_call", "apredict_and_call"])
async def test_the_chosen_tool_is_run(method: str) -> None:
    result = getattr(model(["get_weather", OSLO]), method)(BOTH, user_msg="Weather in Oslo?")
    result = await result if method.startswith("a") else result
    assert result.response == "sunny in Oslo, celsius"
    assert [source.tool_name for source in result.sources] == ["get_weather"]


@pytest.mark.parametrize("method", ["predict_and_call", "apredict_and_call"])
async def test_all_chosen_tools_are_run(method: str) -> None:
    llm = model(["get_weather\nget_time", OSLO])
    result = getattr(llm, method)(BOTH, user_msg="Weather and time?", allow_parallel_tool_calls=True)
    result = await result if method.startswith("a") else result
    assert result.response == "sunny in Oslo, celsius\n\nnoon"


@pytest.mark.parametrize("method", ["predict_and_call", "apredict_and_call"])
async def test_an_answer_in_text_may_be_accepted(method: str) -> None:
    result = getattr(model(["reply", "No."]), method)(BOTH, user_msg="?", error_on_no_tool_call=False)
    result = await result if method.startswith("a") else result
    assert result.response == "No."


# Core's programs


# Core validates streamed objects itself: as Python data, and by keyword.
CORE_ONLY_HALF_BUILDS = {"root list", "strict"}

PROGRAMS = ("__call__", "acall", "stream_call", "astream_call")


async def run_program(method: str, output_class: type[BaseModel], llm: RaifVLLM) -> list[Any]:
    program = FunctionCallingProgram.from_defaults(
        output_cls=output_class, prompt_template_str="Read {text}", llm=llm
    )
    result = getattr(program, method)(text="x")
    if method.startswith("a"):
        result = await result
    if "stream" not in method:
        return [result]
    return [item async for item in result] if method.startswith("a") else list(result)


def written_as_arguments(instance: BaseModel) -> str:
    """Arguments are an object, so that a root value goes under ``root``."""
    if not isinstance(instance, RootModel):
        return written(instance)
    contract = OutputContract.from_json_schema(
        tool_dict(get_function_tool(type(instance)))["function"]["parameters"], name="t"
    )
    return contract.encode({"root": instance.root})


@pytest.mark.parametrize("method", PROGRAMS[:2])
@pytest.mark.parametrize("shape", SHAPES)
async def test_programs_give_every_shape(shape: str, method: str) -> None:
    expected = SHAPES[shape]
    llm = model([written_as_arguments(expected)])
    assert await run_program(method, type(expected), llm) == [expected]
    assert len(asked(llm)) == 1


@pytest.mark.parametrize("method", PROGRAMS[2:])
@pytest.mark.parametrize("shape", sorted(SHAPES.keys() - CORE_ONLY_HALF_BUILDS))
async def test_streaming_programs_demand_the_call_and_end_with_an_instance(shape: str, method: str) -> None:
    expected = SHAPES[shape]
    llm = model([written_as_arguments(expected)])
    assert (await run_program(method, type(expected), llm))[-1] == expected
    assert len(asked(llm)) == 1


@pytest.mark.parametrize("method", PROGRAMS)
async def test_a_program_fails_loudly(method: str) -> None:
    with pytest.raises(ValueError, match="I do not know"):
        await run_program(method, Strict, model(["I do not know."]))


@pytest.mark.parametrize("method", PROGRAMS[:2])
async def test_a_validators_refusal_names_the_field(method: str) -> None:
    with pytest.raises(ValueError, match=r"count: .*thirteen is unlucky"):
        await run_program(method, Strict, model(["count=13\nnames=[\nAda\n]"]))


def test_a_program_may_give_a_list_of_objects() -> None:
    llm = model([written(SHAPES["single field with default"])])
    program = FunctionCallingProgram.from_defaults(
        output_cls=type(SHAPES["single field with default"]),
        prompt_template_str="Read {text}",
        llm=llm,
        allow_parallel_tool_calls=True,
    )
    assert program(text="x") == [SHAPES["single field with default"]]


def test_a_root_model_is_asked_for_under_a_key() -> None:
    parameters = tool_dict(get_function_tool(Tags))["function"]["parameters"]
    assert parameters["required"] == ["root"]
    assert parameters["properties"]["root"]["items"] == {"type": "string"}


class Unfilled(BaseModel):
    note: str = Field(default="none")


def test_garbage_does_not_become_a_default_object() -> None:
    with pytest.raises(OutputError):
        model(["<tool_call>"]).predict_and_call([get_function_tool(Unfilled)], user_msg="x")


class Lookup:
    """An object that can be called."""

    def __call__(self, word: str) -> str:
        return word


@pytest.mark.parametrize("function", [functools.partial(get_weather, unit="kelvin"), Lookup()])
def test_tools_may_be_anything_that_can_be_called(function: Any) -> None:
    made = FunctionTool.from_defaults(fn=function, name="search", description="Searches.")
    assert not is_output_tool(made)
    assert tool_dict(made)["function"]["name"] == "search"
