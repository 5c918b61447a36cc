"""The setting on its way from a model object to the engine."""

from __future__ import annotations

from typing import Any

import pytest

from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.engines.embedded.settings import EmbeddedSettings
from raif_integrations.errors import ConfigurationError
from raif_integrations.langchain import ChatRaifVLLM
from raif_integrations.settings import EngineSettings


def settings_of(**fields: Any) -> EngineSettings:
    return ChatRaifVLLM(model="org/model", **fields)._engine_settings()


@pytest.mark.parametrize("speculation", ["auto", "on", "off"])
def test_it_reaches_the_engine(speculation: Any) -> None:
    assert settings_of(speculation=speculation).speculation == speculation
    engine = EngineSettings(model="org/model", speculation=speculation).create()
    assert isinstance(engine, EmbeddedEngine)
    assert engine._settings.speculation == speculation


@pytest.mark.parametrize("parameter", [{"min_p": 0.1}, {"logit_bias": {"7": 1.0}}])
def test_auto_makes_room_for_sampling_that_vllm_refuses_beside_drafts(parameter: dict[str, Any]) -> None:
    assert settings_of(speculation="auto").speculation == "auto"
    assert settings_of(model_kwargs=parameter, speculation="auto").speculation == "off"
    assert settings_of(model_kwargs=parameter, speculation="on").speculation == "on"


def test_auto_is_the_default_everywhere() -> None:
    assert settings_of().speculation == "auto"
    assert EngineSettings(model="org/model").speculation == "auto"
    engine = EmbeddedEngine("org/model")
    assert engine._settings.speculation == "auto"


def test_engines_that_differ_in_it_are_not_shared() -> None:
    first, same, other = (
        EngineSettings(model="org/model", speculation=one).create() for one in ("off", "off", "auto")
    )
    assert first is same
    assert first is not other


def test_a_server_cannot_be_told() -> None:
    with pytest.raises(ConfigurationError, match="speculation is given beside base_url"):
        ChatRaifVLLM(base_url="http://localhost:8000/v1", speculation="on")
    chat = ChatRaifVLLM(base_url="http://localhost:8000/v1", speculation="auto", model_kwargs={"min_p": 0.1})
    assert chat._engine_settings().speculation == "auto"


def test_unknown_values_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="speculation is 'maybe'"):
        EmbeddedEngine("org/model", speculation="maybe")  # type: ignore[arg-type]


def test_two_ways_of_drafting_contradict_each_other() -> None:
    own = {"speculative_config": {"method": "ngram", "num_speculative_tokens": 3}}
    with pytest.raises(ConfigurationError, match="beside a speculative_config"):
        EmbeddedEngine("org/model", speculation="on", engine_args=own)
    assert isinstance(EmbeddedEngine("org/model", engine_args=own)._settings, EmbeddedSettings)
