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
_BEYOND_PLAIN = ("rank_pattern", "alpha_pattern", "use_dora", "modules_to_save")


def merge(model: Path, adapter: Path, folder: Path) -> Path:
    """Writes a model folder whose weights hold a LoRA adapter.

    Args:
        model: Folder of the base model, with its weights in one ``model.safetensors``.
        adapter: Folder of the PEFT adapter.
        folder: Where to write; exists.

    Returns:
        ``folder``.

    Raises:
        ValueError: The adapter holds more than plain LoRA matrices of one rank, or does not fit the model.
    """
    from safetensors.torch import load_file, save_file

    scale = _scale(adapter)
    weights = load_file(model / _WEIGHTS)
    matrices: dict[str, Any] = load_file(adapter / "adapter_model.safetensors")
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
    save_file(weights, folder / _WEIGHTS, metadata={"format": "pt"})
    return folder


def _scale(adapter: Path) -> float:
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    unknown = [name for name in _BEYOND_PLAIN if config.get(name)]
    if unknown:
        raise ValueError(f"{adapter} cannot be merged: it sets {', '.join(unknown)}.")
    return float(config["lora_alpha"] / (config["r"] ** (0.5 if config.get("use_rslora") else 1)))
