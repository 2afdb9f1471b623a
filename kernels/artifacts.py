"""Files that a Run hands out: written beside their final name, then renamed into place."""

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kernels.events import Artifact
from kernels.procedure import BadParameter, Context

MEDIA = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".pt": "application/octet-stream",
    ".bin": "application/octet-stream",
}

FULL = (errno.ENOSPC, errno.EDQUOT)
CHECKPOINT = re.compile(r"step_(\d{6,10})\.bin")


def checkpoint_name(step: int) -> str:
    return f"step_{step:06d}.bin"


def checkpoint_step(name: str) -> int | None:
    """The step whose checkpoint that file is; None for any other file."""
    found = CHECKPOINT.fullmatch(name)
    return int(found[1]) if found else None


def require_writable(named: str) -> None:
    """Whether files can be put into that folder, which need not be there yet. Leaves nothing.

    Raises BadParameter in one sentence.
    """
    if not named:
        raise unusable("''", "it names no folder")
    folder = Path(named)
    try:
        there = nearest(folder.absolute())
    except OSError as error:
        raise unusable(named, error.strerror) from None
    if not there.is_dir():
        raise unusable(named, os.strerror(errno.ENOTDIR))
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        raise unusable(named, os.strerror(errno.EROFS))
    if not os.access(there, os.W_OK | os.X_OK):
        raise unusable(named, os.strerror(errno.EACCES))
    try:
        os.rmdir(tempfile.mkdtemp(prefix=".", dir=there))
    except OSError as error:
        # A Run that has its folder says itself what found no room, and goes on where it can.
        if error.errno not in FULL or there != folder.absolute():
            raise unusable(named, error.strerror) from None


def nearest(path: Path) -> Path:
    """The path itself, or the nearest above it that is there. Raises OSError."""
    try:
        path.stat()
    except FileNotFoundError:
        if path.is_symlink():  # to nowhere
            raise
        return nearest(path.parent)
    return path


def unusable(named: str, why: str | None) -> BadParameter:
    return BadParameter(
        f"output: {named} cannot be used ({why}); accepted: a folder that files can be put into."
    )


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError met while `path` is written says so: that of a full disk names no file, and a
    file beside it, which only its writer knows, is not the one that a person misses."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def store(context: Context, name: str, write: Callable[[Path], None]) -> Artifact:
    """Have `write` fill a temporary file, put it in place as `name`, and describe it.

    Raises OSError, and leaves no part of a file then.
    """
    target = context.outputs / name
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.stem}.partial{target.suffix}")
    with naming(target):
        try:
            write(temporary)
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    return describe(context, name)


def describe(context: Context, name: str) -> Artifact:
    """A file that is in place already."""
    target = context.outputs / name
    with target.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Artifact(name, MEDIA[target.suffix], target.stat().st_size, digest)
