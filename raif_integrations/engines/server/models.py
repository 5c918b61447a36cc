"""What a vLLM server tells of its models in ``GET /v1/models``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ServedModels:
    """The models and adapters a server offers.

    Attributes:
        bases: Names of the base models, without the further names the same weights are served under.
        parents: Name of the base model by adapter name; adapters are the entries with a ``parent``.
        names: Every name that can be asked for, in the server's order.
        max_model_len: Context window in tokens of each name that tells it.
    """

    bases: tuple[str, ...]
    parents: dict[str, str]
    names: tuple[str, ...]
    max_model_len: dict[str, int]

    @classmethod
    def parse(cls, payload: Any) -> ServedModels:
        """Reads the body of ``GET /v1/models``; entries of another shape are passed over."""
        data = payload.get("data") if isinstance(payload, dict) else None
        entries = [
            entry for entry in data or () if isinstance(entry, dict) and isinstance(entry.get("id"), str)
        ]
        bases: dict[str, str] = {}
        for entry in entries:
            if not entry.get("parent"):
                bases.setdefault(entry.get("root") or entry["id"], entry["id"])
        return cls(
            bases=tuple(bases.values()),
            parents={entry["id"]: str(entry["parent"]) for entry in entries if entry.get("parent")},
            names=tuple(entry["id"] for entry in entries),
            max_model_len={
                entry["id"]: entry["max_model_len"]
                for entry in entries
                if isinstance(entry.get("max_model_len"), int)
            },
        )

    @property
    def adapters(self) -> tuple[str, ...]:
        """Names of the adapters."""
        return tuple(self.parents)

    def context_window(self, name: str) -> int | None:
        """Context window in tokens of ``name``; an adapter has that of its base model.

        A parent that is not listed itself, as behind a gateway, stands for the only base model there is.
        """
        own = self.max_model_len.get(name)
        if own is not None or name not in self.parents:
            return own
        parents = self.max_model_len.get(self.parents[name])
        return self.max_model_len.get(self.bases[0]) if parents is None and len(self.bases) == 1 else parents
