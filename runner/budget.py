"""How much of what a child tells is recorded: so many Events and bytes of any kind, and room kept
for what must never be missing: its files, and what went wrong. How it ended is always recorded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernels.events import Kind, Verdict
from runner import limits


@dataclass
class Room:
    events: int
    bytes: int

    def take(self, size: int) -> bool:
        if self.events < 1 or self.bytes < size:
            return False
        self.events -= 1
        self.bytes -= size
        return True


class Budget:
    """Of one attempt of a Run."""

    def __init__(self) -> None:
        self.room = Room(limits.MAX_EVENTS, limits.MAX_EVENTS_BYTES)
        self.files = Room(*limits.ROOM_FOR_FILES)
        self.failures = Room(*limits.ROOM_FOR_FAILURES)
        self.dropped = 0

    def takes(self, kind: str, data: Mapping[str, Any], size: int) -> bool:
        """Whether an Event of that many bytes is recorded; it is counted where it is not."""
        kept = self.room.take(size)
        if not kept and kind in (Kind.ARTIFACT, Kind.FIGURE):
            kept = self.files.take(size)
        elif not kept and tells_of_failure(kind, data):
            kept = self.failures.take(size)
        self.dropped += not kept
        return kept


def tells_of_failure(kind: str, data: Mapping[str, Any]) -> bool:
    if kind == Kind.CASE:
        return data.get("verdict") == Verdict.FAILED
    return kind == Kind.LOG and data.get("level") == "error"
