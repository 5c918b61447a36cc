r"""Reads server-sent events from the bytes of an HTTP response.

Only what a chat completion stream uses: the ``data`` of each event, as bytes. Line ends and events
follow the WHATWG specification of server-sent events: ``\n``, ``\r\n`` and ``\r`` end a line, an
empty line ends an event, several ``data`` lines are joined by ``\n``, and an event that the end of
the response cuts off is dropped.
"""

from __future__ import annotations

_PREFIX = b"data: "


class EventDecoder:
    """Cuts a response's bytes into events, wherever the network cut them into pieces."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, block: bytes) -> list[bytes]:
        """Takes the next bytes of the response.

        Args:
            block: Bytes as they came; may start and end anywhere.

        Returns:
            The ``data`` of each event that is complete now.
        """
        if not self._rest and not self._data and _is_one_event(block):
            return [block[len(_PREFIX) : -2]]
        events: list[bytes] = []
        lines = (self._rest + block if self._rest else block).splitlines(keepends=True)
        # A line without its end waits for it, and so does "\r": it may be the first half of "\r\n".
        self._rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        for line in lines:
            line = line.rstrip(b"\r\n")
            if not line:
                if self._data:
                    events.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                    self._data = []
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
        return events


def _is_one_event(block: bytes) -> bool:
    """Whether a block is one event of one line, the way servers send nearly all of them."""
    return (
        block.startswith(_PREFIX)
        and block.endswith(b"\n\n")
        and block.find(b"\n") == len(block) - 2
        and b"\r" not in block
    )
