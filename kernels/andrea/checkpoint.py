"""The checkpoint file: written whole or not at all, and refused unless it is whole.

    int32 step | int32 n | n float32 weights | n float32 m | n float32 v      little-endian

Nothing else: 8 + 12 n bytes. Whatever else a resumed run needs is in `<model>.state.json`.
Inference needs the first n floats after byte 8.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.andrea.checkpoint_size import HEADER, LARGEST_COUNT, file_size
from kernels.artifacts import naming


class CheckpointError(ValueError):
    """The file is not a whole checkpoint of this model; the message says what is wrong."""


@dataclass(frozen=True)
class Checkpoint:
    """Weights and the optimizer's moments, each a flat float32 array of the same length."""

    step: int
    weights: np.ndarray
    m: np.ndarray
    v: np.ndarray


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Write to a temporary file beside `path`, flush it to the disk, then rename.

    A full disk or a kill leaves the previous file as it was. Raises OSError.
    """
    buffers = (checkpoint.weights, checkpoint.m, checkpoint.v)
    arrays = [np.ascontiguousarray(buffer, "<f4") for buffer in buffers]
    count, step = arrays[0].size, checkpoint.step
    if count > LARGEST_COUNT or step < 0:
        raise CheckpointError(f"step {step} with {count} weights does not fit the format")
    if any(a.size != count for a in arrays):
        raise CheckpointError("weights, m and v differ in length")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with naming(path):
        try:
            with temporary.open("wb") as file:
                file.write(HEADER.pack(step, count))
                for array in arrays:
                    file.write(array.data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def load(path: Path, count: int) -> Checkpoint:
    """Read a checkpoint of a model with `count` weights.

    Raises CheckpointError that says which rule the file breaks, before it reads the arrays.
    """
    step, weights, m, v = read(path, count, arrays=3)
    return Checkpoint(step, weights, m, v)


def load_weights(path: Path, count: int) -> tuple[int, np.ndarray]:
    """The step and the weights alone, as inference needs them. Raises CheckpointError."""
    step, weights = read(path, count, arrays=1)
    return step, weights


def read(path: Path, count: int, arrays: int) -> tuple[Any, ...]:
    """The step and the first `arrays` arrays."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise CheckpointError(f"{path.name}: cannot be opened ({error.strerror})") from None
    with file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(HEADER.size)
        if len(head) < HEADER.size:
            raise CheckpointError(f"{path.name}: {size} bytes, too short for a header of 8")
        step, stored = HEADER.unpack(head)
        refuse(path.name, step, stored, count, size)
        found = [np.fromfile(file, "<f4", stored) for _ in range(arrays)]
    if any(array.size != stored for array in found):
        raise CheckpointError(f"{path.name}: it became shorter while it was read")
    return step, *found


def refuse(name: str, step: int, stored: int, count: int, size: int) -> None:
    if step < 0:
        raise CheckpointError(f"{name}: step {step} is negative")
    if stored <= 0:
        raise CheckpointError(f"{name}: it claims {stored} weights")
    if stored != count:
        raise CheckpointError(
            f"{name}: it holds {stored} weights and this model has {count}; "
            "resume with the configuration it was made with"
        )
    if size < file_size(stored):
        raise CheckpointError(f"{name}: truncated, {size} bytes instead of {file_size(stored)}")
    if size > file_size(stored):
        raise CheckpointError(f"{name}: {size} bytes, {size - file_size(stored)} too many")
