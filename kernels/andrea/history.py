"""`<model>.loss.json`: one [step, loss] a line, appended and never rewritten. Needs no torch.

A resumed run meets steps that are on file already (it was killed after its last checkpoint).
They come out bit for bit as before, so a line that is there is not written a second time. A
polish continues with other data, so its line differs and is appended: the last one counts.
"""

import json
import math
import os
from pathlib import Path
from typing import Any, NoReturn

from kernels.andrea.state import Malformed, is_count, is_number
from kernels.artifacts import naming

Point = tuple[int, float | None]


class History:
    """The losses of a model over its whole life. Close it when done.

    There is no file before there is a line. A line that the disk has no room for is owed: it is
    written, whole and in its place, with the next one that finds room.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known = {step: line(step, loss) for step, loss in points(path)}
        self.owed = b""
        self.handle: int | None = None  # until there is a line to write where no file is
        if path.exists():
            self.handle = os.open(path, os.O_WRONLY | os.O_APPEND)
            drop_torn_line(path, self.handle)

    def add(self, step: int, loss: float) -> None:
        """Append the point. Raises OSError when the disk does not take it; it is owed then."""
        text = line(step, loss)
        if self.known.get(step) != text:
            self.owed += text.encode()
            self.known[step] = text
            self.write()

    def write(self) -> None:
        """What is owed, in whole lines: of one that found room in part nothing stays."""
        if not self.owed:
            return
        with naming(self.path):
            if self.handle is None:
                self.begin()
            else:
                self.append(self.handle)

    def begin(self) -> None:
        """A file that begins with what is owed: at no moment is there an empty one."""
        part, owed = self.path.with_name(f".{self.path.name}.{os.getpid()}.part"), self.owed
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        try:
            try:
                self.append(handle)
            finally:
                if os.fstat(handle).st_size:  # every line, or those that found room
                    part.rename(self.path)
                    self.handle = handle
        finally:
            if self.handle is None:
                os.close(handle)
                part.unlink(missing_ok=True)
                self.owed = owed

    def append(self, handle: int) -> None:
        size, done = os.fstat(handle).st_size, 0
        try:
            while done < len(self.owed):
                done += os.write(handle, self.owed[done:])
        except OSError:
            whole = self.owed.rfind(b"\n", 0, done) + 1
            os.truncate(handle, size + whole)
            self.owed = self.owed[whole:]
            raise
        self.owed = b""

    def flush(self) -> None:
        """Have every line on the disk. Raises OSError."""
        self.write()
        if self.handle is not None:
            os.fsync(self.handle)

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)


def line(step: int, loss: float | None) -> str:
    return json.dumps([step, finite(loss)]) + "\n"


def finite(loss: float | None) -> float | None:
    """A loss that JSON cannot hold, infinite or NaN, becomes null."""
    return loss if loss is not None and math.isfinite(loss) else None


def points(path: Path) -> list[Point]:
    """Every whole line of the file, in its order; none if there is no file.

    Raises Malformed that names the first line which is no point.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    return [point(i, text) for i, text in enumerate(lines, start=1) if text.endswith(b"\n")]


def point(number: int, text: bytes) -> Point:
    try:
        found: Any = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError):
        found = None
    match found:
        case [step, loss] if is_count(step) and (loss is None or is_number(loss)):
            return step, loss
    raise Malformed(f"line {number} is no [step, loss]")


def no_constant(name: str) -> NoReturn:
    """NaN and Infinity are no JSON, though Python reads them."""
    raise ValueError(name)


def drop_torn_line(path: Path, handle: int) -> None:
    """A power cut may leave half of the last line; it was never a point."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(handle, whole)
