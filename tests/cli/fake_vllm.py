"""A vLLM that is only a folder: what the command sees of an installed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from raif_integrations.cli.installed_vllm import InstalledVllm
from raif_integrations.cli.serving.command_line import ServerCommand
from raif_integrations.cli.serving.flags import VllmFlags

Compose = Callable[..., ServerCommand]

LAUNCHER = "vllm.entrypoints.launchers.api_server.entry"
SERVER = "vllm.entrypoints.openai.api_server"
COMMAND = "vllm.entrypoints.cli.main"
SEAMS = ("vllm.entrypoints.generate.base.protocol", "vllm.renderers.online_renderer")


def fake_vllm(
    folder: Path,
    *,
    modules: Sequence[str] = (LAUNCHER, SERVER, COMMAND, *SEAMS),
    distributions: dict[str, str] | None = None,
) -> InstalledVllm:
    """A package ``vllm`` in ``folder`` with these modules, which break when they are imported."""
    package = folder / "vllm"
    for name in modules:
        path = folder.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raise AssertionError('imported')\n")
    package.mkdir(exist_ok=True)
    for parent in {package, *(path.parent for path in package.rglob("*.py"))}:
        while parent != folder:
            (parent / "__init__.py").write_text("raise AssertionError('imported')\n")
            parent = parent.parent
    return InstalledVllm(package, {"vllm": "0.33.0"} if distributions is None else distributions)


def flags_of(command: ServerCommand) -> VllmFlags:
    """The flags of a whole command line."""
    return VllmFlags(command.arguments)
