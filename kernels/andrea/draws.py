"""Every random number of a run: a pure function of (seed, purpose, step), so that a resumed run
draws what an uninterrupted one would have drawn. Needs no torch.

The bits are Philox's raw output, whose stream NumPy keeps the same between its versions; the
distributions on top of it are made here, because NumPy's own may change.
"""

from enum import IntEnum

import numpy as np

CHUNK = 1 << 22  # values at a time, so that a large model's start needs little memory


class Purpose(IntEnum):
    """What the numbers are for: no two purposes share a stream."""

    WEIGHTS = 1
    BATCH = 2
    SAMPLE = 3


def raw(seed: int, purpose: Purpose, step: int, count: int) -> np.ndarray:
    """`count` unsigned 64-bit numbers."""
    source = np.random.Philox(key=[seed, purpose], counter=[0, 0, step, 0])
    return source.random_raw(count)


def below(limit: int, seed: int, purpose: Purpose, step: int, count: int) -> np.ndarray:
    """`count` whole numbers from 0 up to, not including, `limit` (far below 2^64)."""
    return (raw(seed, purpose, step, count) % np.uint64(limit)).astype(np.int64)


def uniform(seed: int, purpose: Purpose, step: int, count: int) -> np.ndarray:
    """`count` float64 numbers from 0 up to, not including, 1."""
    return (raw(seed, purpose, step, count) >> np.uint64(11)) * 2.0**-53


def fill_normal(out: np.ndarray, deviation: float, seed: int, stream: int) -> None:
    """Fill the flat float32 `out` from N(0, deviation^2), by Box and Muller's transform."""
    for chunk, first in enumerate(range(0, out.size, CHUNK)):
        part = out[first : first + CHUNK]
        pairs = (part.size + 1) // 2
        bits = raw(seed, Purpose.WEIGHTS, (stream << 32) + chunk, pairs).view(np.uint32)
        unit = (bits.astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-32)
        radius = np.sqrt(np.float32(-2) * np.log(unit[0::2])) * np.float32(deviation)
        angle = unit[1::2] * np.float32(2 * np.pi)
        part[0::2] = (radius * np.cos(angle))[: part[0::2].size]
        part[1::2] = (radius * np.sin(angle))[: part[1::2].size]
