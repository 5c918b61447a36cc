"""The parts of the server engine that need no server: address, request body, models, retries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from raif_integrations.engines.base import GrammarConstraint, JsonConstraint, Request, Sampling
from raif_integrations.engines.server.address import ServerAddress
from raif_integrations.engines.server.models import ServedModels
from raif_integrations.engines.server.request import chat_body
from raif_integrations.engines.server.retries import RetryPolicy
from raif_integrations.errors import (
    ConfigurationError,
    EngineConnectionError,
    EngineError,
    EngineRateLimitError,
    EngineTimeoutError,
    RequestError,
    ServerError,
)

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("given", "api", "root"),
    [
        ("http://host:8000", "http://host:8000/v1", "http://host:8000"),
        ("http://host:8000/", "http://host:8000/v1", "http://host:8000"),
        ("http://host:8000/v1", "http://host:8000/v1", "http://host:8000"),
        (" http://host:8000/v1/ ", "http://host:8000/v1", "http://host:8000"),
        ("https://gate.example/vllm/v1", "https://gate.example/vllm/v1", "https://gate.example/vllm"),
        ("https://gate.example/llm", "https://gate.example/llm", "https://gate.example/llm"),
        ("http://[::1]:8000", "http://[::1]:8000/v1", "http://[::1]:8000"),
    ],
)
def test_address_is_completed(given: str, api: str, root: str) -> None:
    assert ServerAddress.parse(given) == ServerAddress(api=api, root=root)


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ("", "http://localhost:8000/v1"),
        ("localhost:8000", "http://localhost:8000/v1"),
        ("ftp://host/v1", "http://localhost:8000/v1"),
        ("http://", "http://localhost:8000/v1"),
        ("http://host:eighty/v1", "http://localhost:8000/v1"),
        ("http://host/v1?key=1", "default_query"),
        ("http://user:pa55word@host/v1", "default_headers"),
        ("http://host/v1/chat/completions", "/chat/completions"),
    ],
)
def test_wrong_address_names_the_argument_and_the_remedy(given: str, remedy: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url") as caught:
        ServerAddress.parse(given)
    assert remedy in str(caught.value)
    assert "pa55word" not in str(caught.value)


def test_only_what_is_set_is_sent() -> None:
    assert chat_body(Request(MESSAGES), "m", stream=False) == {"model": "m", "messages": MESSAGES}


def test_every_setting_is_sent_under_its_own_name() -> None:
    request = Request(
        MESSAGES,
        Sampling(
            temperature=0.0,
            top_p=0.9,
            top_k=-1,
            max_tokens=7,
            stop=("END",),
            seed=0,
            frequency_penalty=0.5,
            presence_penalty=-0.5,
            extra={"min_p": 0.1},
        ),
        chat_template_kwargs={"enable_thinking": False},
    )
    assert chat_body(request, "m", stream=True) == {
        "model": "m",
        "messages": MESSAGES,
        "temperature": 0.0,
        "top_p": 0.9,
        "top_k": -1,
        "max_tokens": 7,
        "stop": ["END"],
        "seed": 0,
        "frequency_penalty": 0.5,
        "presence_penalty": -0.5,
        "min_p": 0.1,
        "chat_template_kwargs": {"enable_thinking": False},
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize(
    ("constraint", "sent"),
    [
        (GrammarConstraint('root ::= "a"'), {"grammar": 'root ::= "a"'}),
        (JsonConstraint({"type": "object"}), {"json": {"type": "object"}}),
    ],
)
def test_constraints_travel_as_structured_outputs(constraint: Any, sent: dict[str, Any]) -> None:
    body = chat_body(Request(MESSAGES, constraint=constraint), "m", stream=False)
    assert body == {"model": "m", "messages": MESSAGES, "structured_outputs": sent}


@pytest.mark.parametrize("name", ["model", "stream", "n", "tools", "response_format", "guided_json"])
def test_extra_takes_sampling_parameters_only(name: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"sampling\.extra\['{name}'\]"):
        chat_body(Request(MESSAGES, Sampling(extra={name: 1})), "m", stream=False)


def test_empty_messages_are_refused() -> None:
    with pytest.raises(RequestError, match="messages is empty"):
        chat_body(Request([]), "m", stream=False)


@pytest.mark.parametrize("text", ["", 'start: "a"'])
def test_a_grammar_that_is_not_ebnf_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match=r"constraint\.ebnf"):
        chat_body(Request(MESSAGES, constraint=GrammarConstraint(text)), "m", stream=False)


def test_models_adapters_and_aliases_are_told_apart() -> None:
    served = ServedModels.parse(
        {
            "data": [
                {"id": "big", "root": "/models/big", "parent": None, "max_model_len": 4096},
                {"id": "alias", "root": "/models/big", "parent": None, "max_model_len": 4096},
                {"id": "raif", "root": "/adapters/raif", "parent": "big", "max_model_len": None},
                {"object": "no id"},
                "no entry",
            ]
        }
    )
    assert served.bases == ("big",)
    assert served.adapters == ("raif",)
    assert served.names == ("big", "alias", "raif")
    assert [served.context_window(name) for name in ("big", "raif", "other")] == [4096, 4096, None]


@pytest.mark.parametrize("payload", [None, [], {}, {"data": None}, {"data": [1]}])
def test_a_model_list_of_another_shape_is_empty(payload: Any) -> None:
    assert ServedModels.parse(payload).names == ()


RETRY = RetryPolicy(max_retries=2)


@pytest.mark.parametrize("error", [EngineConnectionError("x"), EngineRateLimitError("x"), ServerError("x")])
def test_failures_that_pass_are_retried_with_growing_waits(error: EngineError) -> None:
    first, second = RETRY.wait(error, {}, 0), RETRY.wait(error, {}, 1)
    assert first is not None
    assert second is not None
    assert 0.375 <= first <= 0.5
    assert 0.75 <= second <= 1.0
    assert RETRY.wait(error, {}, 2) is None


@pytest.mark.parametrize("error", [EngineTimeoutError("x"), RequestError("x")])
def test_timeouts_and_refused_requests_are_not_retried(error: EngineError) -> None:
    assert RETRY.wait(error, {}, 0) is None


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("3", 3.0, 3.0),
        ("0", 0.0, 0.0),
        (timedelta(seconds=60), 1.0, 60.0),
        (timedelta(seconds=-60), 0.0, 0.0),
        ("soon", 0.375, 0.5),
        ("nan", 0.375, 0.5),
    ],
)
def test_the_servers_wait_counts(value: str | timedelta, low: float, high: float) -> None:
    if isinstance(value, timedelta):  # A date, counted from when the test runs.
        value = format_datetime(datetime.now(UTC) + value, usegmt=True)
    wait = RETRY.wait(EngineRateLimitError("x"), {"retry-after": value}, 0)
    assert wait is not None
    assert low <= wait <= high


def test_a_very_long_wait_is_left_to_the_caller() -> None:
    assert RETRY.wait(EngineRateLimitError("x"), {"retry-after": "3600"}, 0) is None
