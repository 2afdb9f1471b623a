"""What a child prints: shown up to a limit, head and tail, with the whole kept up to another."""

from collections import deque
from pathlib import Path

from runner import limits


class Output:
    """Takes bytes as they come; gives back text for the log.

    The first bytes are shown as they come. After them only the last lines are kept, and what
    lies between is counted: a tight print loop must neither hang a page nor fill a disk.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.total = 0
        self.shown = 0
        self._spool = file.open("wb")
        self._line = b""
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0

    @property
    def full(self) -> bool:
        """Whether nothing more is shown until the end."""
        return self.shown >= limits.LOG_HEAD_BYTES

    @property
    def skipped(self) -> int:
        return self.total - self.shown - self._tail_bytes

    def take(self, data: bytes) -> str | None:
        """Text to show now, in whole lines; None when there is none."""
        room = limits.LOG_FILE_BYTES - self.total
        self._spool.write(data[: max(0, room)])
        self.total += len(data)
        if self.full:
            self._keep(data)
            return None
        return self._show(*self._whole_lines(data))

    def rest(self) -> str | None:
        """The line that has no end yet, or the tail. To be called once, at the end."""
        self._spool.close()
        if self._tail_bytes:
            return text(b"".join(self._tail))
        return self._show(self._line, b"") if self._line else None

    def _whole_lines(self, data: bytes) -> tuple[bytes, bytes]:
        whole = self._line + data
        end = whole.rfind(b"\n") + 1
        if not end and len(whole) > limits.LOG_HEAD_BYTES:
            end = len(whole)  # one endless line
        return whole[:end], whole[end:]

    def _show(self, whole: bytes, rest: bytes) -> str | None:
        head = whole[: limits.LOG_HEAD_BYTES - self.shown]
        self.shown += len(head)
        self._line = rest
        if self.full:
            self._keep(whole[len(head) :] + rest)
            self._line = b""
        return text(head) if head else None

    def _keep(self, data: bytes) -> None:
        self._tail.append(data)
        self._tail_bytes += len(data)
        while self._tail_bytes > limits.LOG_TAIL_BYTES:
            oldest = self._tail.popleft()
            excess = self._tail_bytes - limits.LOG_TAIL_BYTES
            self._tail_bytes -= len(oldest)
            if len(oldest) > excess:
                self._tail.appendleft(oldest[excess:])
                self._tail_bytes += len(oldest) - excess


def text(data: bytes) -> str:
    """Readable whatever was written; NUL is in no database's text."""
    return data.decode("utf-8", "replace").replace("\0", "�")
