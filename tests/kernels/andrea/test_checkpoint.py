"""The checkpoint's layout to the byte, and every malformed file refused with its reason."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest

from kernels.andrea.checkpoint import Checkpoint, CheckpointError, load, save
from kernels.andrea.checkpoint_size import file_size
from kernels.artifacts import checkpoint_name


def checkpoint(step: int = 3, count: int = 5) -> Checkpoint:
    weights, m, v = (np.arange(count, dtype=np.float32) + k for k in (0.5, 100, 200))
    return Checkpoint(step, weights, m, v)


def test_bytes_are_the_stated_layout(tmp_path: Path) -> None:
    path = tmp_path / checkpoint_name(3)
    save(path, checkpoint())
    expected = struct.pack("<ii", 3, 5)
    for first in (0.5, 100, 200):
        expected += struct.pack("<5f", *(first + i for i in range(5)))
    assert path.name == "step_000003.bin"
    assert path.read_bytes() == expected
    assert path.stat().st_size == file_size(5) == 68


@pytest.mark.parametrize(
    ("count", "size"),
    [(120_000_000, 1_440_000_008), (98_737_152, 1_184_845_832), (12_790_272, 153_483_272)],
)
def test_size_is_8_and_12_bytes_a_weight(count: int, size: int) -> None:
    assert file_size(count) == size


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    save(tmp_path / "a.bin", checkpoint())
    loaded = load(tmp_path / "a.bin", 5)
    assert loaded.step == 3
    for got, put in zip(
        (loaded.weights, loaded.m, loaded.v),
        (checkpoint().weights, checkpoint().m, checkpoint().v),
        strict=True,
    ):
        assert got.tobytes() == put.tobytes()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "too short"),
        (b"\0" * 7, "too short"),
        (struct.pack("<ii", -1, 5) + b"\0" * 60, "negative"),
        (struct.pack("<ii", 3, -5) + b"\0" * 60, "claims -5"),
        (struct.pack("<ii", 3, 0), "claims 0"),
        (struct.pack("<ii", 3, 4) + b"\0" * 48, "holds 4 weights and this model has 5"),
        (struct.pack("<ii", 3, 5) + b"\0" * 59, "truncated, 67 bytes instead of 68"),
        (struct.pack("<ii", 3, 5) + b"\0" * 61, "1 too many"),
        (struct.pack(">ii", 3, 5) + b"\0" * 60, "weights"),  # the other byte order
    ],
)
def test_a_malformed_file_is_refused_with_its_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "step_000003.bin"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=reason):
        load(path, 5)


def test_a_missing_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"none\.bin: cannot be opened \(No such file"):
        load(tmp_path / "none.bin", 5)


def test_a_full_disk_leaves_the_previous_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "step_000003.bin"
    save(path, checkpoint())
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(path, checkpoint(step=4))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
