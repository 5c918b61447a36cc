"""The server's process: watched until it answers, and ended with everything it started.

The server here is a script that writes down what happens to it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from raif_integrations.cli.serving.process import ServerRun

# Starts a child of its own, as vLLM does, and says how it is ended.
SERVER = """
import pathlib, signal, subprocess, sys, time
folder = pathlib.Path(sys.argv[1])
code = int(sys.argv[2])
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGINT, "
    "signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"])
(folder / "child").write_text(str(child.pid))
def end(number, frame):
    (folder / "ended").write_text(signal.Signals(number).name)
    if code != 99:
        sys.exit(code)
signal.signal(signal.SIGINT, end)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGHUP, end)
(folder / "ready").touch()
if code == 50:
    sys.exit(code)
time.sleep(600) if code != 99 else [time.sleep(0.1) for _ in range(6000)]
"""


def command(folder: Path, code: int) -> list[str]:
    return [sys.executable, "-c", SERVER, str(folder), str(code)]


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def child_is_gone(folder: Path) -> bool:
    pid = int((folder / "child").read_text())
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def run(
    folder: Path, code: int, *, when_ready: Callable[[], None] = lambda: None, stop_seconds: float = 20
) -> int:
    server = ServerRun(command(folder, code), os.environ, stop_seconds=stop_seconds)
    return server.until_end(is_ready=(folder / "ready").exists, when_ready=when_ready)


@pytest.fixture(autouse=True)
def _handlers_come_back() -> Iterator[None]:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    yield
    assert before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]


def test_a_server_that_ends_by_itself_hands_on_its_exit_code(tmp_path: Path) -> None:
    assert run(tmp_path, 50) == 50
    assert child_is_gone(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("code", [0, 3])
def test_a_signal_reaches_the_server_and_nothing_is_left(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    assert run(tmp_path, code, when_ready=lambda: os.kill(os.getpid(), number)) == code
    assert (tmp_path / "ended").read_text() == number.name
    assert child_is_gone(tmp_path)


def test_a_server_that_does_not_end_is_killed(tmp_path: Path) -> None:
    code = run(tmp_path, 99, when_ready=lambda: os.kill(os.getpid(), signal.SIGTERM), stop_seconds=0.5)
    assert code == 128 + signal.SIGKILL
    assert child_is_gone(tmp_path)


def test_a_second_interrupt_does_not_wait(tmp_path: Path) -> None:
    def interrupt_twice() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    assert run(tmp_path, 99, when_ready=interrupt_twice, stop_seconds=3600) == 128 + signal.SIGKILL
    assert child_is_gone(tmp_path)


def test_it_is_told_once_that_the_server_is_ready(tmp_path: Path) -> None:
    told: list[float] = []

    def when_ready() -> None:
        told.append(time.monotonic())
        subprocess.Popen(["sh", "-c", f"sleep 0.7; kill -TERM {os.getpid()}"])

    assert run(tmp_path, 0, when_ready=when_ready) == 0
    assert len(told) == 1


def test_an_error_on_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    def when_ready() -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        run(tmp_path, 0, when_ready=when_ready)
    assert child_is_gone(tmp_path)


def test_a_command_that_cannot_be_started_is_an_os_error() -> None:
    with pytest.raises(OSError, match="nowhere"):
        ServerRun(["/nowhere/python"], os.environ, stop_seconds=1).until_end(
            is_ready=lambda: False, when_ready=lambda: None
        )
