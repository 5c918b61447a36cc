"""What the tests of ``serve`` share: a model, an adapter and a vLLM that are only folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from raif_integrations.cli.installed_vllm import InstalledVllm
from raif_integrations.cli.serving import plugin
from raif_integrations.cli.serving.command_line import ServerCommand, ServeRequest, server_command
from tests.cli.fake_vllm import Compose, fake_vllm


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model's folder, with a chat template of its own."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "qwen3"}')
    (folder / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}')
    return folder


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "my-raif-lora"
    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"r": 12}')
    return folder


@pytest.fixture
def vllm(tmp_path: Path) -> InstalledVllm:
    return fake_vllm(tmp_path / "site")


@pytest.fixture
def compose(model: Path, vllm: InstalledVllm, monkeypatch: pytest.MonkeyPatch) -> Compose:
    """Puts a command line together where the plugin is installed."""
    monkeypatch.setattr(plugin, "plugin_is_visible", lambda: True)
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)

    def run(
        *arguments: str,
        vllm: InstalledVllm = vllm,
        environment: dict[str, str] | None = None,
        **asked: object,
    ) -> ServerCommand:
        request = ServeRequest(str(model), arguments=arguments, **asked)  # type: ignore[arg-type]
        return server_command(request, vllm, environment or {})

    return run
