"""The model object itself: settings, metadata, what is written down of it."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.function_calling import FunctionCallingLLM
from pydantic import ValidationError

from raif_integrations import errors
from raif_integrations.engines.base import ModelInfo
from raif_integrations.llama_index import RaifVLLM
from tests.support.scripted_engine import ScriptedEngine

SERVER = "http://127.0.0.1:9/v1"


class UntouchedEngine(ScriptedEngine):
    """Fails the test if it is asked anything."""

    def __init__(self) -> None:
        super().__init__([])

    @property
    def info(self) -> ModelInfo:
        raise AssertionError("the engine was asked")


def test_it_is_a_function_calling_llm() -> None:
    assert issubclass(RaifVLLM, FunctionCallingLLM)
    assert BaseLLM in RaifVLLM.__mro__
    assert RaifVLLM.class_name() == "RaifVLLM"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Neither model nor base_url"),
        ({"base_url": "localhost:8000"}, "base_url is 'localhost:8000'"),
        ({"base_url": SERVER, "engine_args": {"max_model_len": 1}}, "engine_args is given beside base_url"),
        ({"model": "m", "default_headers": {"a": "b"}}, "default_headers is given without base_url"),
        ({"model": "m", "timeout": 0}, "timeout is 0"),
        ({"model": "m", "max_retries": -1}, "max_retries is -1"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(errors.ConfigurationError, match=said):
        RaifVLLM(**settings)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"model": "m", "adaptor": "x"}, "adaptor"),
        ({"model": "m", "prompting": "magic"}, "prompting"),
        ({"model": "m", "wire": "xml"}, "wire"),
        ({"model": "m", "repair_attempts": -1}, "repair_attempts"),
        ({"model": "m", "context_window": 0}, "context_window"),
    ],
)
def test_unknown_and_impossible_settings_are_refused_by_name(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        RaifVLLM(**settings)


def test_metadata_asks_the_engine_for_the_context_window_only() -> None:
    metadata = RaifVLLM(engine=UntouchedEngine(), model="m", max_tokens=64).metadata
    assert metadata.is_chat_model
    assert metadata.is_function_calling_model
    assert metadata.num_output == 64
    assert metadata.model_name == "m"
    assert "context_window=Ellipsis" in repr(metadata)
    with pytest.raises(AssertionError, match="was asked"):
        _ = metadata.context_window


def test_the_context_window_is_the_engines() -> None:
    metadata = RaifVLLM(engine=ScriptedEngine([])).metadata
    assert metadata.context_window == 4096
    assert metadata.model_dump()["context_window"] == 4096
    assert RaifVLLM(engine=ScriptedEngine([])).metadata.model_dump()["context_window"] == 4096
    assert json.loads(metadata.model_dump_json())["context_window"] == 4096


def test_a_given_context_window_stands() -> None:
    llm = RaifVLLM(engine=UntouchedEngine(), context_window=1000)
    assert llm.metadata.context_window == 1000


def test_looking_at_the_object_asks_no_engine() -> None:
    llm = RaifVLLM(engine=UntouchedEngine(), model="m", adapter="raif")
    assert "UntouchedEngine" not in repr(llm)
    assert llm.to_dict()["adapter"] == "raif"
    assert llm.to_payload()["model_name"] == "raif"


SECRET = "sk-very-secret"
SECRETS = {
    "base_url": SERVER,
    "api_key": SECRET,
    "default_headers": {"Authorization": f"Bearer {SECRET}"},
}


@pytest.mark.parametrize("show", [repr, str, RaifVLLM.to_dict, RaifVLLM.to_json, RaifVLLM.to_payload])
def test_secrets_are_never_shown(show: Any) -> None:
    assert SECRET not in str(show(RaifVLLM(**SECRETS)))
    assert SECRET not in str(show(RaifVLLM(model="m", engine_args={"hf_token": SECRET, "max_model_len": 8})))


def test_a_payload_is_plain_json() -> None:
    payload = RaifVLLM(**SECRETS, temperature=0.5, stop=["x"]).to_payload()
    assert json.loads(json.dumps(payload))["temperature"] == 0.5
    assert payload["class_name"] == "RaifVLLM"


def test_a_dict_gives_the_same_settings_again() -> None:
    llm = RaifVLLM(
        model="m", adapter="a", temperature=0.0, stop=["x"], system_prompt="Be brief.", wire="json"
    )
    again = RaifVLLM.from_dict(json.loads(llm.to_json()))
    assert again.to_dict() == llm.to_dict()
    assert again.system_prompt == "Be brief."


def test_a_pickled_object_keeps_settings_and_key_but_not_the_engine(caplog: pytest.LogCaptureFixture) -> None:
    llm = RaifVLLM(**SECRETS, max_tokens=7, engine=ScriptedEngine([]))
    again = pickle.loads(pickle.dumps(llm))
    assert again.max_tokens == 7
    assert again.api_key.get_secret_value() == SECRET
    assert again.engine is None
    assert llm.engine is not None
    assert not caplog.records


def test_a_pickled_object_without_model_says_what_is_missing() -> None:
    again = pickle.loads(pickle.dumps(RaifVLLM(engine=ScriptedEngine([]))))
    with pytest.raises(errors.ConfigurationError, match="Neither model nor base_url"):
        again.chat([ChatMessage(content="hello")])


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, RaifVLLM.model_copy])
def test_copies_share_the_engine(duplicate: Any) -> None:
    engine = ScriptedEngine(["hello"])
    again = duplicate(RaifVLLM(engine=engine))
    assert again.chat([ChatMessage(content="hi")]).message.content == "hello"
    assert len(engine.requests) == 1
