"""The engines of a run: the base model, and each adapter merged into it or beside it.

A merged adapter costs what the base model costs. As a LoRA request it costs more, on a CPU several times as
much, which says something about vLLM's LoRA kernels and nothing about what the model writes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from answers_methods import Method
from raif_integrations import EmbeddedEngine
from raif_integrations.engines.base import Engine


@dataclass(frozen=True, slots=True)
class Engines:
    """What is asked, and how it is loaded.

    Attributes:
        model: Folder of the base model.
        adapters: Folders of the adapters, by the name that methods ask for.
        as_requests: One engine serves the adapters as LoRA requests; otherwise each is merged into the base
            model and has an engine of its own.
        side_by_side: Most sequences in work at a time.
    """

    model: Path
    adapters: dict[str, Path] = field(default_factory=dict)
    as_requests: bool = False
    side_by_side: int = 32

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
            with EmbeddedEngine(self.model, adapters=adapters, engine_args=arguments) as engine:
                yield engine
            return
        with TemporaryDirectory(prefix="merged-") as folder:
            merge(self.model, self.adapters[model], Path(folder))
            arguments["served_model_name"] = model
            with EmbeddedEngine(folder, engine_args=arguments) as engine:
                yield engine


def merge(model: Path, adapter: Path, folder: Path) -> None:
    """Writes a model folder whose weights hold a LoRA adapter.

    Args:
        model: Folder of the base model, with its weights in one ``model.safetensors``.
        adapter: Folder of the PEFT adapter.
        folder: Where to write; exists.

    Raises:
        ValueError: The adapter holds more than plain LoRA matrices of one rank, or does not fit the model.
    """
    from safetensors.torch import load_file, save_file

    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    unknown = [
        name for name in ("rank_pattern", "alpha_pattern", "use_dora", "modules_to_save") if config.get(name)
    ]
    if unknown:
        raise ValueError(f"{adapter} cannot be merged: it sets {', '.join(unknown)}.")
    scale = config["lora_alpha"] / (config["r"] ** (0.5 if config.get("use_rslora") else 1))
    weights = load_file(model / "model.safetensors")
    matrices = load_file(adapter / "adapter_model.safetensors")
    for name, down in matrices.items():
        if not name.endswith(".lora_A.weight"):
            continue
        target = name.removeprefix("base_model.model.").replace(".lora_A.weight", ".weight")
        if target not in weights:
            raise ValueError(f"{adapter} does not fit {model}: there is no {target}.")
        up = matrices[name.replace(".lora_A.", ".lora_B.")]
        weight = weights[target]
        weights[target] = (weight.float() + scale * (up.float() @ down.float())).to(weight.dtype)
    for path in model.iterdir():
        if path.is_file() and path.suffix != ".safetensors":
            shutil.copy(path, folder / path.name)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
