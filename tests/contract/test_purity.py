"""The contract stands alone."""

from __future__ import annotations

import subprocess
import sys

FORBIDDEN = (
    "langchain",
    "langchain_core",
    "llama_index",
    "openai",
    "vllm",
    "torch",
    "pydantic",
    "httpx",
    "requests",
    "xgrammar",
)


def test_importing_it_loads_no_framework_and_no_network() -> None:
    code = (
        "import sys; from raif_integrations.contract import OutputContract;"
        "c = OutputContract.from_json_schema({'type': 'object', 'properties': {'a': {'type': 'integer'}}});"
        "assert c.decode('a=1').value == {'a': 1}; c.cue(); c.encode({'a': 1});"
        f"print([name for name in {FORBIDDEN!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_importing_it_does_not_import_the_validator() -> None:
    code = (
        "import sys; import raif_integrations.contract;"
        "print([name for name in ('jsonschema', 'referencing', 'jsonschema_rs') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
