"""Files that a Run hands out: written beside their final name, then renamed into place."""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

from kernels.events import Artifact
from kernels.procedure import Context

MEDIA = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".pt": "application/octet-stream",
    ".bin": "application/octet-stream",
}

CHECKPOINT = re.compile(r"step_(\d{6,10})\.bin")


def checkpoint_name(step: int) -> str:
    return f"step_{step:06d}.bin"


def checkpoint_step(name: str) -> int | None:
    """The step whose checkpoint that file is; None for any other file."""
    found = CHECKPOINT.fullmatch(name)
    return int(found[1]) if found else None


def store(context: Context, name: str, write: Callable[[Path], None]) -> Artifact:
    """Have `write` fill a temporary file, put it in place as `name`, and describe it."""
    target = context.outputs / name
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.stem}.partial{target.suffix}")
    write(temporary)
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(target)
    return describe(context, name)


def describe(context: Context, name: str) -> Artifact:
    """A file that is in place already."""
    target = context.outputs / name
    with target.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Artifact(name, MEDIA[target.suffix], target.stat().st_size, digest)
