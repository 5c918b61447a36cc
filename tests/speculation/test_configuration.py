"""What vLLM is started with, and when it is left alone."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from raif_integrations.engines.speculation import configuration, speculative_config
from raif_integrations.errors import ConfigurationError

DRAFTS = {
    "method": "custom_class",
    "model": "raif_integrations.engines.speculation.proposer.RaifProposer",
    "num_speculative_tokens": 10,
}


@pytest.fixture(params=[True, False], ids=["seam", "no seam"])
def seam(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(configuration, "has_seam", lambda: request.param)
    return bool(request.param)


@pytest.fixture
def with_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "has_seam", lambda: True)


def test_auto_drafts_where_vllm_can(seam: bool) -> None:
    assert speculative_config() == (DRAFTS if seam else None)


@pytest.mark.usefixtures("with_seam")
def test_auto_does_not_draft_on_gpus_where_nothing_is_measured() -> None:
    assert speculative_config(cpu=False) is None
    assert speculative_config("on", cpu=False) == DRAFTS


def test_off_is_off(seam: bool) -> None:
    assert speculative_config("off") is None


def test_on_says_where_it_cannot(seam: bool) -> None:
    if seam:
        assert speculative_config("on") == DRAFTS
    else:
        with pytest.raises(ConfigurationError, match="speculation='on': the installed vLLM"):
            speculative_config("on")


@pytest.mark.usefixtures("with_seam")
def test_length_of_drafts() -> None:
    assert speculative_config(tokens=4) == DRAFTS | {"num_speculative_tokens": 4}


@pytest.mark.usefixtures("with_seam")
@pytest.mark.parametrize(
    "engine_args",
    [
        {"speculative_config": {"method": "ngram", "num_speculative_tokens": 2}},
        {"logits_processors": ["module:Class"]},
        {"async_scheduling": True},
        {"override_generation_config": {"min_p": 0.1}},
        {"override_generation_config": {"logit_bias": {"1": 2.0}}},
    ],
)
def test_auto_leaves_room_for_what_drafts_would_prevent(engine_args: dict[str, Any]) -> None:
    assert speculative_config(engine_args=engine_args) is None


@pytest.mark.usefixtures("with_seam")
@pytest.mark.parametrize(
    "engine_args", [{"async_scheduling": False}, {"override_generation_config": {"temperature": 0.1}}]
)
def test_other_arguments_do_not_matter(engine_args: dict[str, Any]) -> None:
    assert speculative_config(engine_args=engine_args) == DRAFTS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"speculation": "yes"}, "speculation is 'yes'"),
        ({"speculation": True}, "speculation is True"),
        ({"tokens": 0}, "tokens is 0"),
        ({"tokens": True}, "tokens is True"),
        ({"tokens": 2.5}, "tokens is 2.5"),
        ({"speculation": "on", "engine_args": {"speculative_config": {"method": "ngram"}}}, "beside a spec"),
    ],
)
def test_what_cannot_be_meant(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        speculative_config(**arguments)


def test_vllm_is_looked_up_without_importing_it() -> None:
    code = (
        "import sys; from raif_integrations.engines.speculation import has_seam, speculative_config\n"
        "has_seam(); speculative_config()\n"
        "assert not {'vllm', 'torch', 'transformers', 'tokenizers', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
