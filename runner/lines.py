"""Reading a child's Events from a pipe: a line each, none too long, none malformed."""

import json
from collections.abc import Iterator
from typing import Any

from kernels.events import Kind
from runner import limits

_KINDS = set(Kind)


class BadLine(ValueError):
    """A line that is no Event, or too long to be one."""


class Lines:
    """Cuts what comes out of a pipe into Events."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.size = 0  # of the line that was given last
        self._skipping = False  # inside a line that was refused already

    def take(self, data: bytes) -> Iterator[dict[str, Any] | BadLine]:
        self._buffer += data
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if self._skipping:
                self._skipping = False
            else:
                self.size = len(line)
                yield parse(line)
        if len(self._buffer) > limits.MAX_EVENT_BYTES:
            if not self._skipping:
                yield BadLine("too-long")
            self._skipping = True
            self._buffer.clear()


def parse(line: bytes) -> dict[str, Any] | BadLine:
    """{kind, at, data} with text that every database can store."""
    if len(line) > limits.MAX_EVENT_BYTES:
        return BadLine("too-long")
    try:
        event = json.loads(line, parse_constant=str)
        kind, at, data = event["kind"], event["at"], event["data"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return BadLine("malformed")
    if kind not in _KINDS or not isinstance(at, str) or not isinstance(data, dict):
        return BadLine("malformed")
    if b"\\u0000" in line or b"\\ud" in line or b"\\uD" in line:
        data = storable(data)
    return {"kind": kind, "at": at[:30], "data": data}


def storable(value: Any) -> Any:
    """Without NUL and without half a surrogate pair."""
    if isinstance(value, str):
        return value.replace("\0", "�").encode("utf-8", "replace").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value
