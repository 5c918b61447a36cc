"""The server's process: started, watched until it answers, and ended with everything it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_SECONDS = 0.2


class ServerRun:
    """One run of a server.

    The server and the processes it starts form a process group of their own. So a Ctrl-C reaches the server
    once, from here, and it can end its processes in good order; those that are left then are killed.

    Args:
        command: Its command line.
        environment: Its environment variables.
        stop_seconds: How long it may take to end after a signal, before it is killed.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], *, stop_seconds: float
    ) -> None:
        self._command = command
        self._environment = environment
        self._stop_seconds = stop_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._signal: int | None = None
        self._kill_at: float | None = None

    def until_end(self, *, is_ready: Callable[[], bool], when_ready: Callable[[], None]) -> int:
        """Runs the server to its end.

        Args:
            is_ready: Asked again and again whether the server answers.
            when_ready: Called once, when it does.

        Returns:
            The server's exit code; for one ended by a signal, 128 and the signal's number.
        """
        with self._signals_passed_on():
            self._process = subprocess.Popen(
                list(self._command), env=dict(self._environment), start_new_session=True
            )
            if self._signal is not None:  # It came before there was a process to pass it on to.
                self._process.send_signal(self._signal)
            try:
                self._watch(is_ready, when_ready)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                code = self._process.wait()
        return code if code >= 0 else 128 - code

    def _watch(self, is_ready: Callable[[], bool], when_ready: Callable[[], None]) -> None:
        assert self._process is not None
        told = False
        while self._process.poll() is None:
            if not told and self._signal is None and is_ready():
                told = True
                when_ready()
            if self._kill_at is not None and time.monotonic() > self._kill_at:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL_SECONDS)

    @contextlib.contextmanager
    def _signals_passed_on(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._receive) for number in _PASSED_ON}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        """The first signal is passed on; a second one means now."""
        again = self._signal is not None
        self._signal = number
        self._kill_at = time.monotonic() + (0 if again else self._stop_seconds)
        if not again and self._process is not None:
            self._process.send_signal(number)
