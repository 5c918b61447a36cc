"""A real vLLM server in a process of its own, for tests."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_STOP_SECONDS = 15.0
_PROGRESS_SECONDS = 15.0


class ServerProcess:
    """Starts ``python -m vllm.entrypoints.openai.api_server`` on a free loopback port.

    The ``vllm`` command is not used: it does not start under the CPU build. The server and the engine
    processes it starts form a process group of their own, so that stopping it leaves none of them.

    Args:
        model: Directory of the model.
        log: File that gets everything the server prints.
        served_name: Name the model is served under.
        adapters: Directories of LoRA adapters by the name they are served under.
        api_key: Key the server demands, or ``None``.
        max_model_len: Context window in tokens.
        arguments: Further arguments of the server.
        python: Interpreter of the environment vLLM is installed in; the running one if it is left out.
        environment: Further environment variables of the server.

    Attributes:
        root: Base URL of the server, without ``/v1``.
        base_url: Base URL of its OpenAI-compatible API.
    """

    def __init__(
        self,
        model: str | Path,
        log: Path,
        *,
        served_name: str = "smollm2",
        adapters: Mapping[str, str | Path] | None = None,
        api_key: str | None = None,
        max_model_len: int = 2048,
        arguments: Sequence[str] = (),
        python: str | Path = sys.executable,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.port = _free_port()
        self.root = f"http://127.0.0.1:{self.port}"
        self.base_url = f"{self.root}/v1"
        self.served_name = served_name
        self.adapters = tuple(adapters or ())
        self.api_key = api_key
        self._log = log
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._command = [
            *(str(python), "-m", "vllm.entrypoints.openai.api_server"),
            *("--host", "127.0.0.1", "--port", str(self.port)),
            *("--model", str(model), "--served-model-name", served_name),
            *("--max-model-len", str(max_model_len), "--enforce-eager"),
            *("--structured-outputs-config", '{"backend":"xgrammar"}'),
        ]
        if adapters:
            modules = [f"{name}={directory}" for name, directory in adapters.items()]
            # One slot more than adapters: vLLM's CPU build takes "no adapter" for the last slot when a batch
            # mixes both (vLLM pull request 48421).
            slots = str(len(modules) + 1)
            self._command += ["--enable-lora", "--max-lora-rank", "16", "--max-loras", slots]
            self._command += ["--lora-modules", *modules]
        if api_key is not None:
            self._command += ["--api-key", api_key]
        self._command += arguments

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self, *, ready_seconds: float = 300.0) -> None:
        """Starts the server and waits until it answers ``/health``.

        Raises:
            RuntimeError: It ended or was not ready in time; the message holds the end of its log.
        """
        environment = os.environ | {
            "VLLM_CPU_KVCACHE_SPACE": os.environ.get("VLLM_CPU_KVCACHE_SPACE", "2"),
            "VLLM_NO_USAGE_STATS": "1",
            "HF_HUB_OFFLINE": "1",
            **self._environment,
        }
        # The server would demand this key although the test asked for a server without one.
        environment.pop("VLLM_API_KEY", None)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        atexit.register(self.stop)
        try:
            self._wait_until_ready(ready_seconds)
        except BaseException:
            self.stop()
            raise

    @property
    def running(self) -> bool:
        """Whether the server's process is alive."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Ends the server and every process it started. Safe to call twice."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the server at once, in the middle of what it does."""
        self._end(signal.SIGKILL)

    def log_tail(self, lines: int = 40) -> str:
        """The last lines the server printed."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:])

    def running_requests(self) -> int:
        """Requests the engine is working on, from ``/metrics``."""
        with _DIRECT.open(f"{self.root}/metrics", timeout=10) as response:
            text = response.read().decode()
        values = [
            float(line.rpartition(" ")[2])
            for line in text.splitlines()
            if line.startswith(("vllm:num_requests_running{", "vllm:num_requests_waiting{"))
        ]
        if not values:
            raise RuntimeError("the server's /metrics has no vllm:num_requests_running")
        return int(sum(values))

    def _wait_until_ready(self, seconds: float) -> None:
        start = time.monotonic()
        told = start
        while not self._healthy():
            now = time.monotonic()
            if not self.running or now - start > seconds:
                state = "is not ready" if self.running else "ended"
                raise RuntimeError(f"The vLLM server {state} after {now - start:.0f} s:\n{self.log_tail()}")
            if now - told > _PROGRESS_SECONDS:
                told = now
                last = self.log_tail(1)[-100:]
                sys.stderr.write(f"\nvLLM server: {now - start:.0f} s, {last}\n")
            time.sleep(0.5)

    def _healthy(self) -> bool:
        try:
            with _DIRECT.open(f"{self.root}/health", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _end(self, first: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        atexit.unregister(self.stop)
        _signal_group(process.pid, first)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_STOP_SECONDS)
        # The engine's processes outlive a server that was killed; the group outlives its leader.
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()


def _signal_group(leader: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
