"""``raif-integrations serve`` and ``doctor`` as a person runs them: real processes, a real vLLM, Ctrl-C."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from raif_integrations.cli.installed_vllm import find_vllm
from raif_integrations.cli.serving.plugin import has_seams
from raif_integrations.vllm_plugin import vllm_api
from tests.real.plugin_fixture import python_path

pytestmark = pytest.mark.real

COMMAND = [sys.executable, "-m", "raif_integrations.cli"]
API_KEY = "cli-test-key"
READY = "Ready at "
START_SECONDS = 300
STOP_SECONDS = 60


@dataclass(slots=True)
class Served:
    """A running ``raif-integrations serve``.

    Attributes:
        process: The command.
        base_url: Base URL of the server's API.
        output: File with what the command and the server print.
        environment: Environment variables of both.
    """

    process: subprocess.Popen[bytes]
    base_url: str
    output: Path
    environment: dict[str, str]

    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def snippet(self) -> dict[str, str]:
        """The code it printed, by what it is for."""
        lines = self.said().partition(READY)[2].splitlines()[1:]
        own = list(itertools.takewhile(lambda line: not line or line.startswith("  "), lines))
        blocks = [block.splitlines() for block in textwrap.dedent("\n".join(own)).strip().split("\n\n")]
        return {title: textwrap.dedent("\n".join(code)) for title, *code in blocks}


@pytest.fixture(scope="module")
def served(
    model_path: Path, adapter_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("serve")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment = os.environ | {
        "PYTHONPATH": python_path(folder / "metadata"),
        "VLLM_API_KEY": API_KEY,
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    output = folder / "output"
    arguments = [str(model_path), "--adapter", f"raif={adapter_path}", "--served-model-name", "smollm2"]
    arguments += ["--max-model-len", "2048", "--port", port]
    with output.open("wb") as file:
        process = subprocess.Popen(
            [*COMMAND, "serve", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    server = Served(process, f"http://localhost:{port}/v1", output, environment)
    try:
        wait_until_ready(server)
        yield server
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def wait_until_ready(server: Served) -> None:
    deadline = time.monotonic() + START_SECONDS
    while READY not in server.said():
        if server.process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"The server did not start:\n{server.said()[-4000:]}")
        time.sleep(0.5)


def test_the_plugin_and_the_command_agree_on_where_it_works() -> None:
    vllm = find_vllm()
    assert vllm is not None
    assert has_seams(vllm) == (not vllm_api.missing_seams())


def test_it_says_what_it_decided(served: Served) -> None:
    said = served.said()
    assert "raif-integrations: plugin: on;" in said
    assert "raif-integrations: chat template: the model's own." in said
    assert "raif-integrations: no GPU: " in said
    assert API_KEY not in said


def test_the_code_it_prints_works(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", API_KEY)
    code = served.snippet()
    names: dict[str, Any] = {}
    exec(code["LangChain"], names)
    reply = names["llm"].bind(temperature=0).bind_tools([get_weather]).invoke("What's the weather in Oslo?")
    assert reply.tool_calls[0]["args"] == {"city": "Oslo"}
    exec(code["LlamaIndex"], names)
    assert names["llm"].complete("Say hello.").text

    (openai,) = [block for title, block in code.items() if title.startswith("Any OpenAI client")]
    tool = {"name": "get_weather", "description": "Get the current weather for a city", "parameters": WEATHER}
    openai = openai.replace(
        "tools=[...]", f"tools=[{{'type': 'function', 'function': {tool}}}], temperature=0"
    )
    openai = openai.replace("messages=[...]", f"messages=[{{'role': 'user', 'content': {QUESTION!r}}}]")
    exec(openai.replace("client.chat", "reply = client.chat"), names)
    (call,) = names["reply"].choices[0].message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "Oslo"})


QUESTION = "What's the weather in Oslo?"
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def get_weather(city: str) -> str:
    """Get the current weather for a city"""
    return f"sunny in {city}"


def test_the_doctor_finds_it_in_order(served: Served) -> None:
    done = subprocess.run(
        [*COMMAND, "doctor", "--base-url", served.base_url],
        env=served.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {tuple(line.split(maxsplit=2)[:2]): line for line in done.stdout.splitlines() if line.strip()}
    for found in (
        "server",
        "model",
        "adapter",
        "plugin",
        "chat",
        "grammar",
        "structured",
        "streaming",
        "tool",
    ):
        assert ("ok", found) in lines, done.stdout
    assert "decodes" in done.stdout
    assert API_KEY not in done.stdout + done.stderr


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that ended and that nobody has waited for does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_ctrl_c_ends_everything(served: Served) -> None:
    processes = psutil.Process(served.process.pid).children(recursive=True)
    assert len(processes) > 1
    served.process.send_signal(signal.SIGINT)
    code = served.process.wait(STOP_SECONDS)
    assert code in (0, 130)
    assert [process for process in processes if is_alive(process)] == []
    # vLLM may log a traceback of its own, when its engine is gone before its server.
    assert "raif_integrations/cli/" not in served.said()
