"""Small files of a model or an adapter: in its folder, or in its repository on the model hub."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any


class ModelFiles:
    """Finds and reads files by name.

    From the hub a file is fetched when it is asked for, as vLLM would fetch it a moment later.

    Args:
        place: A folder, or the name of a repository.
        revision: Branch, tag or commit of the repository; ``None`` is its main branch.
    """

    def __init__(self, place: str, revision: str | None = None) -> None:
        self._place = place
        self._revision = revision
        folder = Path(place).expanduser()
        self._folder = folder if folder.exists() else None

    def find(self, name: str) -> Path | None:
        """The file's path on this machine; ``None`` if there is none, or the hub cannot be asked."""
        if self._folder is not None:
            path = self._folder / name
            return path if path.is_file() else None
        try:
            hub: Any = import_module("huggingface_hub")  # Brought by vLLM.
            return Path(hub.hf_hub_download(self._place, name, revision=self._revision))
        # No such file, no network, no access, not a repository's name: whatever it is, vLLM is the one to
        # say it, as soon as it needs more than this file.
        except (ImportError, OSError, ValueError, RuntimeError):
            return None

    def read_json(self, name: str) -> dict[str, Any]:
        """The JSON object in a file; empty if there is none."""
        path = self.find(name)
        try:
            content = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}
