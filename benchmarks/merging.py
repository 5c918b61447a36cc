"""A model folder with a LoRA adapter merged into its weights.

On a machine without a GPU an adapter that is asked as a LoRA request takes more than twice the time of the
same adapter merged, so that benchmarks of anything else merge it first.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

_WEIGHTS = "model.safetensors"


def merge(model: Path, adapter: Path, folder: Path) -> Path:
    """Writes the merged model, unless the folder holds it already.

    Args:
        model: Folder of a model with its weights in one ``model.safetensors``.
        adapter: Folder of a PEFT LoRA adapter without biases or saved modules.
        folder: Where the merged model goes.

    Returns:
        ``folder``.

    Raises:
        ValueError: The adapter does not fit the model.
    """
    from safetensors.torch import load_file, save_file

    if (folder / _WEIGHTS).exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for path in model.iterdir():
        if path.is_file() and path.name != _WEIGHTS:
            shutil.copy(path, folder)
    weights = load_file(model / _WEIGHTS)
    _add(weights, load_file(adapter / "adapter_model.safetensors"), _scale(adapter))
    save_file(weights, folder / _WEIGHTS, metadata={"format": "pt"})
    return folder


def _scale(adapter: Path) -> float:
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    return float(config["lora_alpha"] / config["r"])


def _add(weights: dict[str, Any], adapter: dict[str, Any], scale: float) -> None:
    for name, down in adapter.items():
        if ".lora_A." not in name:
            continue
        target = name.removeprefix("base_model.model.").replace(".lora_A.weight", ".weight")
        if target not in weights:
            raise ValueError(f"The adapter changes {target}, which the model does not have.")
        up = adapter[name.replace(".lora_A.", ".lora_B.")]
        old = weights[target]
        weights[target] = (old.float() + scale * (up.float() @ down.float())).to(old.dtype)
