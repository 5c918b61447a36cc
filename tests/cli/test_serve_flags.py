"""vLLM's flags, read and written."""

from __future__ import annotations

import pytest

from raif_integrations.cli.serving.flags import VllmFlags, as_arguments, shown


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--max_model_len", "9"], "max-model-len", "9"),
        (["--max-model-len=9"], "max-model-len", "9"),
        (["--max-model-len", "-1"], "max-model-len", "-1"),
        (["--port", "1", "--port", "2"], "port", "2"),
        (["--no-enable-lora"], "enable-lora", ""),
        (["--served-model-name", "a", "b", "--port", "1"], "served-model-name", "a"),
        (["--speculative-config.method", "ngram"], "speculative-config", "ngram"),
        (["-sc", "{}"], "speculative-config", "{}"),
        (["-O3"], "optimization-level", ""),
        ([], "port", None),
    ],
)
def test_flags_are_known_however_they_are_written(arguments: list[str], name: str, value: str | None) -> None:
    flags = VllmFlags(arguments)
    assert flags.value(name) == value
    assert (name in flags) == (value is not None)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--async-scheduling"], {"async_scheduling": True}),
        (["--no-async-scheduling"], {"async_scheduling": False}),
        (["--no-async-scheduling", "--async-scheduling"], {"async_scheduling": True}),
        (["--max-model-len", "9"], {"max_model_len": 9}),
        (["--dtype", "float16"], {"dtype": "float16"}),
        (["--override-generation-config", '{"min_p":0.1}'], {"override_generation_config": {"min_p": 0.1}}),
    ],
)
def test_flags_are_engine_arguments(arguments: list[str], expected: dict[str, object]) -> None:
    assert VllmFlags(arguments).as_engine_args() == expected


def test_flags_survive_writing() -> None:
    flags = {"a": "1", "b": None, "c": ["x=1", "y=2"], "d": "-1"}
    assert as_arguments(flags) == ["--a", "1", "--b", "--c", "x=1", "y=2", "--d=-1"]
    assert VllmFlags(as_arguments(flags)).as_flags() == flags


def test_secrets_are_not_shown() -> None:
    arguments = ["x", "--api-key", "one", "two", "--port", "1", "--hf_token=three", "--api_key", "four"]
    assert shown(arguments) == [
        "x",
        "--api-key",
        "***",
        "***",
        "--port",
        "1",
        "--hf_token=***",
        "--api_key",
        "***",
    ]
