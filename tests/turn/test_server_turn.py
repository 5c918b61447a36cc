"""A turn on a server that decodes: what is sent, and what is made of what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raif_integrations.contract import OutputContract
from raif_integrations.engines.base import GrammarConstraint, Sampling, ServerDecoding, ToolCallPiece
from raif_integrations.errors import OutputError, TruncatedOutputError
from raif_integrations.turn import (
    InvalidToolCall,
    NamedTool,
    TextDelta,
    Tool,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    TurnOptions,
    TurnRequest,
    run_turn,
    stream_turn,
)
from tests.support.scripted_engine import Reply, ScriptedEngine
from tests.support.turns import run_every_way

WEATHER = OutputContract.from_json_schema(
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "zip": {"type": "string"},
        },
        "required": ["city", "days"],
    },
    name="get_weather",
)
NOTHING = OutputContract.from_json_schema({"type": "object", "properties": {}}, name="now")
PERSON = OutputContract.from_json_schema(
    {
        "type": "object",
        "properties": {"age": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["age", "name"],
    },
    name="person",
)
NAMES = OutputContract.from_json_schema({"type": "array", "items": {"type": "string"}}, name="names")
NUMBER = OutputContract.from_json_schema({"type": "integer"}, name="number")
WEATHER_TOOL = Tool("get_weather", "Get the weather", WEATHER)
NOW_TOOL = Tool("now", "Tell the time", NOTHING)
OSLO = {"city": "Oslo", "days": 3}
NAMED_WEATHER = {"type": "function", "function": {"name": "get_weather"}}


def ask(*, repair_attempts: int = 1, **given: Any) -> TurnRequest:
    options = TurnOptions(server_decoding=True, repair_attempts=repair_attempts)
    return TurnRequest(
        messages=[{"role": "user", "content": "Weather in Oslo?"}], model="raif", options=options, **given
    )


def call(arguments: Any, name: str = "get_weather", *, index: int = 0, call_id: str = "call-1") -> Reply:
    return Reply(tool_calls=(piece(arguments, name, index=index, call_id=call_id),))


def piece(
    arguments: Any, name: str = "get_weather", *, index: int = 0, call_id: str | None = "call-1"
) -> ToolCallPiece:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCallPiece(index, call_id, name, text)


def sent(replies: Any, request: TurnRequest) -> list[ServerDecoding | None]:
    engine = ScriptedEngine(replies)
    run_turn(engine, request)
    return [one.server_decoding for one in engine.requests]


# What is sent


def test_tools_are_sent_as_openai_dicts_and_the_conversation_carries_no_cue() -> None:
    engine = ScriptedEngine([call(OSLO)])
    run_turn(engine, ask(tools=(WEATHER_TOOL, NOW_TOOL), parallel_tool_calls=False))
    (request,) = engine.requests
    assert request.constraint is None
    assert request.messages == [{"role": "user", "content": "Weather in Oslo?"}]
    assert request.server_decoding == ServerDecoding(
        tools=[
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "Get the weather",
                    "parameters": WEATHER.schema,
                },
            },
            {
                "type": "function",
                "function": {"name": "now", "description": "Tell the time", "parameters": NOTHING.schema},
            },
        ],
        tool_choice="auto",
        parallel_tool_calls=False,
    )


@pytest.mark.parametrize(
    ("choice", "tools"),
    [(NamedTool("get_weather"), (NOW_TOOL, WEATHER_TOOL)), ("required", (WEATHER_TOOL,))],
    ids=["named", "the only one"],
)
def test_a_tool_that_must_be_called_is_named_and_the_only_one(choice: Any, tools: tuple[Tool, ...]) -> None:
    (decoding,) = sent([call(OSLO)], ask(tools=tools, tool_choice=choice))
    assert decoding is not None
    assert decoding.tool_choice == NAMED_WEATHER
    assert [tool["function"]["name"] for tool in decoding.tools] == ["get_weather"]


def test_required_of_several_is_left_to_the_server() -> None:
    (decoding,) = sent([call(OSLO)], ask(tools=(WEATHER_TOOL, NOW_TOOL), tool_choice="required"))
    assert decoding is not None
    assert decoding.tool_choice == "required"


def test_a_response_format_is_sent_with_name_and_schema() -> None:
    (decoding,) = sent(['{"age": 51, "name": "Omar"}'], ask(output=PERSON))
    assert decoding == ServerDecoding(
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "person", "schema": PERSON.schema},
        }
    )


def test_a_bare_object_is_asked_for_as_json_object() -> None:
    anything = OutputContract.from_json_schema({"type": "object"}, name="object", wire="json")
    (decoding,) = sent(['{"a": 1}'], ask(output=anything))
    assert decoding == ServerDecoding(response_format={"type": "json_object"})


@pytest.mark.parametrize(
    "given", [{}, {"tools": (WEATHER_TOOL,), "tool_choice": "none"}], ids=["no tools", "none"]
)
def test_plain_chat_asks_for_nothing(given: dict[str, Any]) -> None:
    assert sent(["Hello"], ask(**given)) == [None]


def test_a_forced_tool_without_parameters_needs_no_request() -> None:
    engine = ScriptedEngine([])
    result = run_turn(engine, ask(tools=(NOW_TOOL,), tool_choice="required"))
    assert [(one.name, one.arguments) for one in result.tool_calls] == [("now", {})]


@pytest.mark.parametrize(
    ("given", "stop"),
    [
        ({"tools": (WEATHER_TOOL,)}, ("END",)),
        ({"tools": (WEATHER_TOOL,), "tool_choice": "required"}, ()),
        ({"output": PERSON}, ()),
    ],
    ids=["may reply in words", "forced", "value"],
)
def test_stop_strings_apply_where_words_may_come(given: dict[str, Any], stop: tuple[str, ...]) -> None:
    engine = ScriptedEngine(lambda request: call(OSLO) if "tools" in given else '{"age": 1, "name": "a"}')
    run_turn(engine, ask(sampling=Sampling(stop=("END",)), **given))
    assert engine.requests[0].sampling.stop == stop


# Calls


@pytest.mark.parametrize(
    "arguments",
    ['{"city":"Oslo","days":3}', '{"city": "Oslo", "days": 3}', "city=Oslo\ndays=3\n", "days=3\ncity=Oslo"],
    ids=["json", "spaced json", "raif", "raif in another order"],
)
def test_arguments_are_decoded_whatever_the_server_made_of_them(arguments: str) -> None:
    result = run_every_way([call(arguments)], ask(tools=(WEATHER_TOOL,)))
    assert [(one.name, one.arguments) for one in result.tool_calls] == [("get_weather", OSLO)]
    assert (result.finish_reason, result.report.wire) == ("tool_calls", "server")
    assert result.report.repair_requests == 0


def test_raif_of_a_named_tool_is_typed_by_the_schema() -> None:
    request = ask(tools=(WEATHER_TOOL,), tool_choice=NamedTool("get_weather"))
    result = run_every_way([call("city=1e5\ndays=3\nzip=02134")], request)
    assert result.tool_calls[0].arguments == {"city": "1e5", "days": 3, "zip": "02134"}


def test_several_calls_stream_side_by_side() -> None:
    reply = Reply(tool_calls=(piece(OSLO), piece({"city": "Rome", "days": 1}, index=1, call_id="call-2")))
    result = run_every_way([reply], ask(tools=(WEATHER_TOOL, NOW_TOOL)))
    assert [one.arguments["city"] for one in result.tool_calls] == ["Oslo", "Rome"]
    assert [one.id for one in result.tool_calls] == ["call-1", "call-2"]


@pytest.mark.parametrize("second", ["call-1", None], ids=["the same id twice", "no id"])
def test_each_call_has_an_id_of_its_own(second: str | None) -> None:
    reply = Reply(tool_calls=(piece(OSLO), piece("{}", "now", index=1, call_id=second)))
    ids = [
        one.id for one in run_turn(ScriptedEngine([reply]), ask(tools=(WEATHER_TOOL, NOW_TOOL))).tool_calls
    ]
    assert len(set(ids)) == 2
    assert all(ids)


def test_a_second_call_is_passed_over_where_only_one_is_allowed() -> None:
    reply = Reply(tool_calls=(piece(OSLO), piece("{}", "now", index=1, call_id="call-2")))
    request = ask(tools=(WEATHER_TOOL, NOW_TOOL), parallel_tool_calls=False)
    assert [one.name for one in run_every_way([reply], request).tool_calls] == ["get_weather"]


def test_a_call_without_arguments_among_others() -> None:
    reply = Reply(tool_calls=(piece("", "now"), piece(OSLO, index=1, call_id="call-2")))
    result = run_every_way([reply], ask(tools=(WEATHER_TOOL, NOW_TOOL)))
    assert [(one.name, one.arguments) for one in result.tool_calls] == [("now", {}), ("get_weather", OSLO)]


def test_a_stream_hands_arguments_out_as_they_come() -> None:
    engine = ScriptedEngine([call('{"city":"Oslo","days":3}')], chunk_sizes=(5,))
    events = list(stream_turn(engine, ask(tools=(WEATHER_TOOL,))))
    assert isinstance(events[0], ToolCallStart)
    assert isinstance(events[-2], ToolCallEnd)
    pieces = [event.json for event in events if isinstance(event, ToolCallDelta)]
    assert len(pieces) > 2
    assert json.loads("".join(pieces)) == OSLO


def test_a_tool_that_does_not_exist_is_an_invalid_call() -> None:
    result = run_every_way([call("{}", "get_wether")], ask(tools=(WEATHER_TOOL,)))
    (invalid,) = result.invalid_tool_calls
    assert "'get_wether'" in invalid.error
    assert "get_weather" in invalid.error


def test_text_in_place_of_the_forced_call_is_its_arguments() -> None:
    request = ask(tools=(WEATHER_TOOL,), tool_choice="required")
    result = run_every_way(["city=Oslo\ndays=3\n"], request)
    assert result.tool_calls[0].arguments == OSLO
    assert result.text == ""


def test_a_reply_in_words_is_a_reply() -> None:
    result = run_every_way(["It is sunny."], ask(tools=(WEATHER_TOOL, NOW_TOOL)))
    assert (result.text, result.finish_reason, result.tool_calls) == ("It is sunny.", "stop", ())


@pytest.mark.parametrize(("reason", "kind"), [("stop", OutputError), ("length", TruncatedOutputError)])
def test_no_call_where_one_is_required(reason: Any, kind: type[OutputError]) -> None:
    request = ask(tools=(WEATHER_TOOL, NOW_TOOL), tool_choice="required")
    with pytest.raises(OutputError) as caught:
        run_turn(ScriptedEngine([Reply("", reason)]), request)
    assert type(caught.value) is kind


# Lost fields


@pytest.mark.parametrize(
    ("received", "cue"),
    [
        ('{"city":"Oslo"}', "days:n"),
        ('{"city":"Oslo","days":"soon"}', "days:n"),
        ("", "city:s\ndays:n\nzip:s?"),
    ],
    ids=["missing", "wrong type", "all lost"],
)
def test_lost_arguments_are_asked_for_in_raif(received: str, cue: str) -> None:
    engine = ScriptedEngine([call(received), "days=3\n" if received else "city=Oslo\ndays=3\n"])
    result = run_turn(engine, ask(tools=(WEATHER_TOOL,)))
    assert result.tool_calls[0].arguments == OSLO
    assert result.report.repair_requests == 1
    repair = engine.requests[1]
    assert repair.server_decoding is None
    assert isinstance(repair.constraint, GrammarConstraint)
    assert repair.messages[-1]["content"].endswith(f"<schema>\n{cue}\n</schema>")


@pytest.mark.parametrize(
    ("received", "answer"), [('{"city":"Oslo"}', "days=3\n"), ("", "city=Oslo\ndays=3\n")]
)
def test_lost_arguments_are_asked_for_in_streams_too(received: str, answer: str) -> None:
    result = run_every_way([call(received), answer], ask(tools=(WEATHER_TOOL,)))
    assert result.tool_calls[0].arguments == OSLO


def test_a_wrong_argument_that_was_streamed_cannot_be_mended() -> None:
    engine = ScriptedEngine([call('{"city":"Oslo","days":"soon"}'), "days=3\n"])
    *_, result = stream_turn(engine, ask(tools=(WEATHER_TOOL,)))
    (invalid,) = result.invalid_tool_calls
    assert "already streamed" in invalid.error


def test_without_repairs_a_broken_call_says_what_is_wrong() -> None:
    request = ask(tools=(WEATHER_TOOL,), repair_attempts=0)
    (invalid,) = run_every_way([call('{"city":"Oslo"}')], request).invalid_tool_calls
    assert "days" in invalid.error


@pytest.mark.parametrize("arguments", ['{"city":"Os","days":3}', '{"city":"Os', "days=3\ncity=Os"])
def test_a_call_that_was_cut_off_is_never_whole(arguments: str) -> None:
    reply = Reply("", "length", tool_calls=(piece(arguments),))
    result = run_every_way([reply], ask(tools=(WEATHER_TOOL,)))
    (invalid,) = result.invalid_tool_calls
    assert invalid.truncated
    assert "max_tokens" in invalid.error
    assert (result.tool_calls, result.finish_reason) == ((), "length")


def test_only_the_last_call_of_a_reply_can_be_cut_off() -> None:
    reply = Reply("", "length", tool_calls=(piece(OSLO), piece('{"city":"R', index=1, call_id="call-2")))
    result = run_every_way([reply], ask(tools=(WEATHER_TOOL,)))
    assert [one.arguments for one in result.tool_calls] == [OSLO]
    assert [type(one) for one in result.invalid_tool_calls] == [InvalidToolCall]


# Values


@pytest.mark.parametrize(
    "text",
    ['{"age":51,"name":"Omar"}', ' \n{"name": "Omar", "age": 51}', "age=51\nname=Omar\n"],
    ids=["json", "json in another order", "raif"],
)
def test_a_value_comes_as_json_or_as_raif(text: str) -> None:
    result = run_every_way([text], ask(output=PERSON))
    assert result.output is not None
    assert (result.output.ok, result.output.value) == (True, {"age": 51, "name": "Omar"})
    assert json.loads(result.text) == result.output.value
    assert result.report.wire == "server"


@pytest.mark.parametrize("text", ['{"age":51,"name":"Omar"}', "age=51\nname=Omar\n"], ids=["json", "raif"])
def test_a_value_grows_while_it_is_streamed(text: str) -> None:
    events = list(stream_turn(ScriptedEngine([text], chunk_sizes=(3,)), ask(output=PERSON)))
    texts = [event for event in events if isinstance(event, TextDelta)]
    assert len(texts) > 2
    assert json.loads("".join(event.text for event in texts)) == {"age": 51, "name": "Omar"}


@pytest.mark.parametrize(
    ("contract", "text", "value"),
    [
        (NAMES, '["a", "b"]', ["a", "b"]),
        (NAMES, NAMES.encode(["a", "b"]), ["a", "b"]),
        (NUMBER, "5", 5),
        (NUMBER, NUMBER.encode(5), 5),
    ],
    ids=["list as json", "list as raif", "number as json", "number as raif"],
)
def test_values_that_are_no_objects(contract: OutputContract, text: str, value: Any) -> None:
    result = run_every_way([text], ask(output=contract))
    assert result.output is not None
    assert (result.output.ok, result.output.value) == (True, value)


def test_a_broken_value_is_asked_for_again() -> None:
    result = run_turn(ScriptedEngine(['{"age":"old","name":"Omar"}', "age=51\n"]), ask(output=PERSON))
    assert result.output is not None
    assert result.output.value == {"age": 51, "name": "Omar"}


@pytest.mark.parametrize("text", ['{"age":51,"name":"Om"}', "age=51\nname=Om"], ids=["json", "raif"])
def test_a_value_that_was_cut_off_is_never_whole(text: str) -> None:
    result = run_every_way([Reply(text, "length")], ask(output=PERSON))
    assert result.output is not None
    assert (result.output.ok, result.output.truncated) == (False, True)


def test_a_value_that_a_reasoning_parser_took_is_found() -> None:
    result = run_every_way([Reply("", reasoning='{"age":51,"name":"Omar"}')], ask(output=PERSON))
    assert result.output is not None
    assert result.output.ok


# Tools and a form of the last reply


def test_with_tools_and_a_form_the_tools_are_asked_first() -> None:
    request = ask(tools=(WEATHER_TOOL,), output=PERSON)
    assert run_every_way([call(OSLO)], request).tool_calls[0].arguments == OSLO
    first, second = sent(["I am done.", '{"age":51,"name":"Omar"}'], request)
    assert first is not None
    assert (first.response_format, bool(first.tools)) == (None, True)
    assert second is not None
    assert (second.response_format is None, second.tools) == (False, ())
    result = run_every_way(["I am done.", '{"age":51,"name":"Omar"}'], request)
    assert json.loads(result.text) == {"age": 51, "name": "Omar"}


def test_a_reply_that_is_the_value_already_is_taken() -> None:
    request = ask(tools=(WEATHER_TOOL,), output=PERSON)
    result = run_every_way(['{"age":51,"name":"Omar"}'], request)
    assert result.output is not None
    assert result.output.value == {"age": 51, "name": "Omar"}
    assert json.loads(result.text) == result.output.value
