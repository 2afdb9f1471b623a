"""`<model>.loss.json`: one [step, loss] a line, appended and never rewritten. Needs no torch.

A resumed run meets steps that are on file already (it was killed after its last checkpoint).
They come out bit for bit as before, so a line that is there is not written a second time. A
polish continues with other data, so its line differs and is appended: the last one counts.
"""

import json
import math
import os
from pathlib import Path


class History:
    """The losses of a model over its whole life. Close it when done."""

    def __init__(self, path: Path) -> None:
        self.known = {step: line(step, loss) for step, loss in points(path)}
        self.handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        drop_torn_line(path, self.handle)

    def add(self, step: int, loss: float) -> None:
        """Append the point, in one write so that a kill cannot interleave two."""
        text = line(step, loss)
        if self.known.get(step) != text:
            os.write(self.handle, text.encode())
            self.known[step] = text

    def flush(self) -> None:
        os.fsync(self.handle)

    def close(self) -> None:
        os.close(self.handle)


def line(step: int, loss: float | None) -> str:
    """A loss that JSON cannot hold, infinite or NaN, becomes null."""
    return json.dumps([step, loss if loss is not None and math.isfinite(loss) else None]) + "\n"


def points(path: Path) -> list[tuple[int, float | None]]:
    """Every whole line of the file, in its order; none if there is no file."""
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    return [tuple(json.loads(text)) for text in lines if text.endswith(b"\n")]


def drop_torn_line(path: Path, handle: int) -> None:
    """A power cut may leave half of the last line; it was never a point."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(handle, whole)
