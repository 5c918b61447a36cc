"""``raif-integrations doctor --base-url``: against a server that answers as vLLM does, well or badly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from raif_integrations.cli import main
from tests.support.stub_server import (
    Answer,
    EventStream,
    Received,
    Reply,
    StubServer,
    completion,
    models,
    reply_events,
)

SERVED = models(
    {"id": "smollm2", "root": "/models/smollm2", "parent": None, "max_model_len": 2048},
    {"id": "poet", "root": "/adapters/poet", "parent": "smollm2"},
    {"id": "my-raif", "root": "/adapters/raif", "parent": "smollm2"},
)
GOOD = {
    "grammar": "zq345-lim",
    "person": "age=34\ncity=Lagos\nname=Ada Okoye",
    "weather": "city=Oslo",
}

METRICS = b"vllm:num_requests_running 0\n"

Doctor = Callable[..., dict[str, dict[str, Any]]]


def kind_of(body: dict[str, Any]) -> str:
    """Which of the doctor's questions a chat request is."""
    if "response_format" in body:
        return "probe"
    if "tools" in body:
        return "client"
    grammar = (body.get("structured_outputs") or {}).get("grammar", "")
    asked = body["messages"][-1]["content"]
    if "zq" in grammar:
        return "grammar"
    if "Lagos" in asked:
        return "person"
    return "weather" if "city" in asked else "chat"


def answering(**texts: str) -> Callable[[Received], Reply]:
    """A chat endpoint that gives these texts, by question, and else the right ones."""
    right = GOOD | {"chat": "Hello there.", "probe": "probe=kxqvzw", "client": '{"city": "Oslo"}'} | texts

    def reply(request: Received) -> Reply:
        text = right[kind_of(request.body)]
        if "tools" in request.body:
            called = {"name": "get_weather", "arguments": text}
            call = {"id": "call_1", "type": "function", "function": called}
            return Answer(completion(None, tool_calls=[call], finish_reason="tool_calls"))
        if request.body.get("stream"):
            return EventStream(reply_events(*text.splitlines(keepends=True)))
        return Answer(completion(text))

    return reply


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer(
        models=[Answer(SERVED)], version=[Answer({"version": "0.32.0"})], chat=answering()
    ) as stub:
        stub.on("/metrics", Answer(METRICS))
        yield stub


@pytest.fixture
def doctor(server: StubServer, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Runs the doctor on the server; its findings by subject, without those on the installation."""

    def run(*arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
        assert main(["doctor", "--base-url", server.root, "--json", *arguments]) == code
        report = json.loads(capsys.readouterr().out)
        assert report["ok"] == (code == 0)
        return {
            finding["subject"]: finding
            for finding in report["findings"]
            if finding["section"] != "This installation"
        }

    return run


def test_a_good_server_is_in_order(doctor: Doctor) -> None:
    found = doctor()
    assert {subject: finding["level"] for subject, finding in found.items()} == {
        "server": "ok",
        "model": "ok",
        "adapter": "ok",
        "plugin": "info",
        "asked": "info",
        "chat": "ok",
        "grammar": "ok",
        "structured output": "ok",
        "streaming": "ok",
        "tool call": "ok",
    }
    assert "vLLM 0.32.0" in found["server"]["text"]
    assert "2048 tokens" in found["model"]["text"]
    assert '"name": "Ada Okoye"' in found["structured output"]["text"]
    assert '{"city": "Oslo"}' in found["tool call"]["text"]


def test_the_adapter_named_after_raif_is_tried(doctor: Doctor, server: StubServer) -> None:
    assert doctor()["asked"]["text"] == "my-raif"
    assert {chat.body["model"] for chat in server.chats if kind_of(chat.body) != "probe"} == {"my-raif"}


def test_a_model_can_be_named(doctor: Doctor, server: StubServer) -> None:
    assert doctor("--model", "smollm2")["asked"]["text"] == "smollm2"
    assert {chat.body["model"] for chat in server.chats} == {"smollm2"}


def test_a_model_that_is_not_served_is_a_problem(doctor: Doctor) -> None:
    found = doctor("--model", "llama", code=1)
    assert found["asked"]["level"] == "fail"
    assert "smollm2, poet, my-raif" in found["asked"]["remedy"]
    assert "chat" not in found


def test_a_server_that_drops_the_grammar_is_found_out(doctor: Doctor, server: StubServer) -> None:
    server.on("/v1/chat/completions", answering(grammar="Hello! How can I help?"))
    found = doctor(code=1)
    assert found["grammar"]["level"] == "fail"
    assert "Hello! How can I help?" in found["grammar"]["text"]
    assert "vLLM 0.12 or newer" in found["grammar"]["remedy"]


def test_an_object_that_does_not_fit_is_a_problem(doctor: Doctor, server: StubServer) -> None:
    server.on("/v1/chat/completions", answering(person="age=34", weather="town=Oslo"))
    found = doctor(code=1)
    assert found["structured output"]["level"] == found["tool call"]["level"] == "fail"
    assert "name" in found["structured output"]["text"]
    assert "city" in found["tool call"]["text"]
    assert found["streaming"]["level"] == "fail"


def test_other_values_than_the_texts_are_a_warning(doctor: Doctor, server: StubServer) -> None:
    server.on("/v1/chat/completions", answering(person="age=30\ncity=Lagos\nname=Ada"))
    found = doctor()
    assert found["structured output"]["level"] == "warn"
    assert "adapter trained on RAIF" in found["structured output"]["remedy"]


def test_a_plugin_that_decodes_is_told(doctor: Doctor, server: StubServer) -> None:
    server.on("/metrics", Answer(METRICS + b'raif_plugin_info{version="0.1.0"} 1\n'))
    server.on("/v1/chat/completions", answering(probe='{"probe":"kxqvzw"}'))
    found = doctor()
    assert found["plugin"]["level"] == found["any client"]["level"] == "ok"
    assert "raif-integrations 0.1.0 decodes" in found["plugin"]["text"]
    assert '{"city": "Oslo"}' in found["any client"]["text"]


@pytest.mark.parametrize("arguments", ["city=Oslo", '{"town": "Oslo"}', ""])
def test_a_plugin_that_decodes_wrongly_is_a_problem(
    arguments: str, doctor: Doctor, server: StubServer
) -> None:
    server.on("/v1/chat/completions", answering(probe='{"probe":"kxqvzw"}', client=arguments))
    found = doctor(code=1)
    assert found["any client"]["level"] == "fail"
    assert repr(arguments) in found["any client"]["text"]


def test_a_plain_server_is_told_how_to_get_one(doctor: Doctor) -> None:
    plugin = doctor()["plugin"]
    assert plugin["text"].startswith("none;")
    assert "raif-integrations serve" in plugin["remedy"]


def test_a_gateway_that_keeps_silent_is_no_failure(doctor: Doctor, server: StubServer) -> None:
    for path in ("/version", "/metrics"):
        server.on(path, Answer({"detail": "forbidden"}, status=403))
    found = doctor()
    assert found["server"]["level"] == "warn"
    assert "403" in found["/version"]["text"]
    assert found["tool call"]["level"] == "ok"


def test_without_a_list_of_models_one_must_be_named(doctor: Doctor, server: StubServer) -> None:
    server.on("/v1/models", Answer({"detail": "forbidden"}, status=403))
    assert "Give --model" in doctor()["asked"]["remedy"]
    assert doctor("--model", "anything")["tool call"]["level"] == "ok"


def test_a_refused_key_is_a_problem_and_never_shown(
    doctor: Doctor, server: StubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in ("/v1/models", "/v1/chat/completions"):
        server.on(path, Answer({"error": {"message": "Unauthorized"}}, status=401))
    found = doctor("--api-key", "sk-very-secret", code=1)
    assert found["server"]["level"] == "fail"
    assert "api_key" in found["server"]["remedy"]
    assert "sk-very-secret" not in json.dumps(found)
    assert main(["doctor", "--base-url", server.root, "--api-key", "sk-very-secret"]) == 1
    said = capsys.readouterr()
    assert "sk-very-secret" not in said.out + said.err


def test_the_key_of_the_environment_is_sent(
    doctor: Doctor, server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "sk-from-environment")
    doctor()
    assert {chat.headers["authorization"] for chat in server.chats} == {"Bearer sk-from-environment"}


def test_a_server_that_fails_ends_the_trial(doctor: Doctor, server: StubServer) -> None:
    server.on("/v1/chat/completions", Answer({"error": {"message": "out of memory"}}, status=500))
    found = doctor(code=1)
    assert found["chat"]["level"] == "fail"
    assert "out of memory" in found["chat"]["text"]
    assert "grammar" not in found


def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--base-url", "http://127.0.0.1:9/v1"]) == 1
    said = capsys.readouterr().out
    assert "FAIL" in said
    assert "http://127.0.0.1:9/v1" in said
    assert "1 problem" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base-url", "http://x/v1", "--embedded", "--model", "m"], "--embedded and --base-url"),
        (["--embedded"], "--embedded needs a model"),
        (["--base-url", "http://x/v1", "--adapter", "a"], "--adapter is for --embedded"),
        (["--model", "m"], "Give --base-url"),
        (["--api-key", "k"], "Give --base-url"),
        (["--base-url", "http://x/v1", "--timeout", "0"], "--timeout is 0"),
        (["--base-url", "localhost:8000"], "base_url 'localhost:8000' is not"),
    ],
)
def test_options_that_contradict_each_other(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", *arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert "Traceback" not in said.err
