"""What ``import raif_integrations`` costs and offers, and what it says when something is not installed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import raif_integrations
from raif_integrations._extras import ExplainMissingExtra

HEAVY = ("langchain_core", "llama_index", "openai", "pydantic", "raif", "torch", "transformers", "vllm")

BLOCK = """
import sys
sys.modules[{package!r}] = None  # As if it were not installed.
try:
    {statement}
except ImportError as error:
    print(error)
"""


def run_python(code: str) -> str:
    """What ``code`` prints in a fresh interpreter."""
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, raif_integrations; print([name for name in {HEAVY} if name in sys.modules])"
    assert run_python(code).strip() == "[]"


@pytest.mark.parametrize("name", raif_integrations.__all__)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(raif_integrations, name) is not None
    assert name in dir(raif_integrations)


def test_type_checkers_and_the_interpreter_see_the_same_names() -> None:
    tree = ast.parse(Path(raif_integrations.__file__).read_text(encoding="utf-8"))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    declared = {
        alias.name: node.module
        for node in typed.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }
    homes = {name: f"raif_integrations.{home}" for name, home in raif_integrations._HOMES.items()}
    assert homes == declared
    assert {*homes, "__version__"} == set(raif_integrations.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'ChatRaif'"):
        raif_integrations.ChatRaif  # noqa: B018 - the access is the test


@pytest.mark.parametrize(
    ("package", "extra", "statement"),
    [
        ("langchain_core", "langchain", "from raif_integrations import ChatRaifVLLM"),
        ("langchain_core", "langchain", "from raif_integrations.langchain import ChatRaifVLLM"),
        ("llama_index", "llama-index", "from raif_integrations import RaifVLLM"),
        ("llama_index", "llama-index", "from raif_integrations.llama_index import RaifVLLM"),
        (
            "vllm",
            "embedded",
            "from raif_integrations import EmbeddedEngine; EmbeddedEngine('some/model').start()",
        ),
    ],
)
def test_a_missing_package_names_its_extra(package: str, extra: str, statement: str) -> None:
    said = run_python(BLOCK.format(package=package, statement=statement))
    assert f"{package} is not installed" in said
    assert f'pip install "raif-integrations[{extra}]"' in said


def test_a_broken_installation_is_not_called_missing() -> None:
    broken = ModuleNotFoundError("No module named 'numpy'", name="numpy")
    with pytest.raises(ModuleNotFoundError) as caught, ExplainMissingExtra():
        raise broken
    assert caught.value is broken
