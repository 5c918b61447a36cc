"""Whether the server that ``raif-integrations serve`` starts drafts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raif_integrations.cli.serving import speculation
from raif_integrations.engines.speculation import configuration, speculative_config
from raif_integrations.errors import ConfigurationError
from tests.cli.fake_vllm import Compose, fake_vllm, flags_of


@pytest.fixture(params=[True, False], ids=["seam", "no seam"])
def seam(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the installed vLLM takes drafts."""
    for module in (configuration, speculation):
        monkeypatch.setattr(module, "has_seam", lambda: request.param)
    return bool(request.param)


def config_of(command: Any) -> dict[str, Any] | None:
    value = flags_of(command).value("speculative-config")
    return None if value is None else dict(json.loads(value))


@pytest.mark.usefixtures("seam")
@pytest.mark.parametrize("cpu", [True, False], ids=["cpu", "gpu"])
def test_auto_is_what_the_engine_would_do(cpu: bool, compose: Compose, tmp_path: Path) -> None:
    number = "0.33.0+cpu" if cpu else "0.33.0"
    command = compose(vllm=fake_vllm(tmp_path / "other", distributions={"vllm": number}))
    wanted = speculative_config("auto", cpu=cpu)
    assert config_of(command) == wanted
    assert command.decisions["speculation"].startswith("on;" if wanted else "off,")


def test_auto_says_how_to_draft_on_a_gpu(compose: Compose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speculation, "has_seam", lambda: True)
    assert "--speculation on" in compose(speculation="auto").decisions["speculation"]


def test_on_drafts_or_says_why_not(seam: bool, compose: Compose) -> None:
    if seam:
        command = compose(speculation="on")
        assert config_of(command) == speculative_config("on")
        assert command.decisions["speculation"].startswith("on;")
    else:
        with pytest.raises(ConfigurationError, match="speculation='on'"):
            compose(speculation="on")


@pytest.mark.usefixtures("seam")
def test_off_is_off(compose: Compose) -> None:
    command = compose(speculation="off")
    assert config_of(command) is None
    assert "--speculation off" in command.decisions["speculation"]


@pytest.mark.usefixtures("seam")
@pytest.mark.parametrize(
    "given",
    [
        ["--speculative-config", '{"method":"ngram"}'],
        ["-sc", '{"method":"ngram"}'],
        ["--speculative_config.method", "ngram"],
    ],
)
def test_a_method_of_the_user_stays(given: list[str], compose: Compose) -> None:
    command = compose(*given)
    assert command.arguments[-2:] == given
    assert sum("spec" in argument or argument == "-sc" for argument in command.arguments) == 1
    assert "--speculative-config" in command.decisions["speculation"]


def test_what_does_not_go_with_drafts_turns_them_off(compose: Compose) -> None:
    command = compose("--override-generation-config", '{"min_p": 0.1}')
    assert config_of(command) is None
    assert command.decisions["speculation"].startswith("off,")
