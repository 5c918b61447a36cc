"""The engines of a run: the base model, and each adapter merged into it or beside it.

A merged adapter costs what the base model costs. As a LoRA request it costs more, on a CPU several times as
much, which says something about vLLM's LoRA kernels and nothing about what the model writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from answers_methods import Method
from merging import merge
from raif_integrations import EmbeddedEngine
from raif_integrations.engines.base import Engine
from raif_integrations.engines.speculation import Speculation


@dataclass(frozen=True, slots=True)
class Engines:
    """What is asked, and how it is loaded.

    Attributes:
        model: Folder of the base model.
        adapters: Folders of the adapters, by the name that methods ask for.
        as_requests: One engine serves the adapters as LoRA requests; otherwise each is merged into the base
            model and has an engine of its own.
        side_by_side: Most sequences in work at a time.
        speculation: Whether RAIF speculation drafts, which shortens the times of RAIF and of nothing else.
    """

    model: Path
    adapters: dict[str, Path] = field(default_factory=dict)
    as_requests: bool = False
    side_by_side: int = 32
    speculation: Speculation = "off"

    def groups(self, methods: Sequence[Method]) -> list[list[Method]]:
        """The methods that share an engine, in their order."""
        if self.as_requests:
            return [list(methods)] if methods else []
        models = list(dict.fromkeys(method.model for method in methods))
        return [[method for method in methods if method.model == model] for model in models]

    @contextmanager
    def open(self, methods: Sequence[Method]) -> Iterator[Engine]:
        """An engine that can serve a group of methods; it is closed at the end of the block.

        Raises:
            KeyError: A method asks for an adapter that there is no folder for.
        """
        model = methods[0].model
        arguments: dict[str, Any] = {
            "max_model_len": 2048,
            "max_num_seqs": self.side_by_side,
            # Otherwise one way of asking reads what another one left there.
            "enable_prefix_caching": False,
            "seed": 0,
        }
        if self.as_requests or model is None:
            adapters = self.adapters if self.as_requests else {}
            with self._engine(self.model, arguments, adapters) as engine:
                yield engine
            return
        with TemporaryDirectory(prefix="merged-") as folder:
            merge(self.model, self.adapters[model], Path(folder))
            arguments["served_model_name"] = model
            with self._engine(folder, arguments, {}) as engine:
                yield engine

    def _engine(
        self, model: str | Path, arguments: dict[str, Any], adapters: dict[str, Path]
    ) -> EmbeddedEngine:
        return EmbeddedEngine(model, adapters=adapters, engine_args=arguments, speculation=self.speculation)
