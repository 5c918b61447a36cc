"""What is asked of the model where there are several tools, and what a choice between them does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raif_integrations.errors import ConfigurationError, RequestError
from tests.langchain.chats import chat, get_weather, now
from tests.support.scripted_engine import Reply

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def tool(name: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    function = {"name": name, "description": f"Does {name}", "parameters": parameters or CITY}
    return {"type": "function", "function": function}


FIFTY = [tool(f"service_{number}") for number in range(50)]


def calls(message: Any) -> list[tuple[str, Any]]:
    return [(call["name"], call["args"]) for call in message.tool_calls]


def test_the_plan_shows_names_and_the_arguments_only_their_own_cue() -> None:
    model = chat(["service_4\nservice_49", "city=Oslo", "city=Rome"])
    reply = model.bind_tools(FIFTY).invoke("go")
    assert calls(reply) == [("service_4", {"city": "Oslo"}), ("service_49", {"city": "Rome"})]
    plan, first, second = (request.messages[-1]["content"] for request in model.engine.requests)
    listed = [line for line in plan.splitlines() if line.startswith("service_")]
    assert listed == [f"service_{number} — Does service_{number}" for number in range(50)]
    assert "<schema>" not in plan
    for filled in (first, second):
        assert filled.count("service_") <= 1
        assert "<tools>" not in filled
        assert filled.endswith("<schema>\ncity:s\n</schema>")


@pytest.mark.parametrize("name", ["get", "get_w", "get_weather", "get_weather_history"])
def test_names_that_begin_alike_are_told_apart(name: str) -> None:
    tools = [tool(one) for one in ("get", "get_w", "get_weather", "get_weather_history")]
    planned = chat([name, "city=Oslo"]).bind_tools(tools).invoke("go")
    forced = chat(["city=Oslo"]).bind_tools(tools, tool_choice=name).invoke("go")
    assert calls(planned) == calls(forced) == [(name, {"city": "Oslo"})]


@pytest.mark.parametrize(("parallel", "expected"), [(None, 2), (True, 2), (False, 1)])
def test_parallel_tool_calls(parallel: bool | None, expected: int) -> None:
    model = chat(["now\nservice_1", "city=Oslo"])
    bound = model.bind_tools([now, *FIFTY], parallel_tool_calls=parallel)
    assert len(calls(bound.invoke("go"))) == expected
    assert ("{0," in model.engine.requests[0].constraint.ebnf) == (parallel is not False)


@pytest.mark.parametrize("choice", ["service_50", "Service_1", {"function": {"name": "service_50"}}])
def test_a_choice_of_no_tool_names_those_there_are(choice: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"which is no tool.*service_0, service_1, service_2"):
        chat([]).bind_tools(FIFTY, tool_choice=choice)
    with pytest.raises(ConfigurationError, match=r"which is no tool.*service_0"):
        chat([]).bind_tools(FIFTY).bind(tool_choice=choice).invoke("go")


def test_calls_without_arguments_stream_as_empty_objects() -> None:
    model = chat(["now\nget_time"])
    nothing = {"type": "object", "properties": {}}
    first, *rest = model.bind_tools([now, tool("get_time", nothing)]).stream("go")
    total = first + rest  # type: ignore[operator]
    assert calls(total) == [("now", {}), ("get_time", {})]
    assert len(model.engine.requests) == 1


def test_a_stream_names_the_call_before_its_arguments_are_written() -> None:
    model = chat([Reply("get_weather"), Reply("city=Oslo\ndays=3")], chunk_sizes=(2,))
    stream = model.bind_tools([get_weather, now]).stream("go")
    start = next(stream)
    (delta,) = start.tool_call_chunks
    assert (delta["name"], delta["args"]) == ("get_weather", "")
    (delta,) = next(stream).tool_call_chunks
    assert json.loads(delta["args"] + '"}')["city"].startswith("O")
    stream.close()
    assert len(model.engine.abandoned) == 1


IMAGE = {"type": "image", "base64": "QUJD", "mime_type": "image/png"}
AUDIO = {"type": "audio", "base64": "QUJD", "mime_type": "audio/wav"}
FILE = {"type": "file", "base64": "QUJD", "mime_type": "application/pdf"}


@pytest.mark.parametrize(
    ("block", "kind"),
    [(IMAGE, "image_url"), (AUDIO, "input_audio"), (FILE, "file")],
    ids=["image", "audio", "file"],
)
@pytest.mark.parametrize("role", ["user", "system"])
def test_what_is_no_text_is_refused_by_its_name(block: dict[str, Any], kind: str, role: str) -> None:
    said = [{"type": "text", "text": "Look:"}, block]
    for model in (chat([]), chat([]).bind_tools([get_weather, now]), chat([]).with_structured_output(CITY)):
        with pytest.raises(RequestError, match=rf"{role} message holds a content part of type '{kind}'"):
            model.invoke([(role, said), ("user", "go")])
