"""What a run remembers of the text it draws from, and the smoothed loss. Needs no torch."""

import math
from dataclasses import replace

import numpy as np

from kernels.andrea.config import Config
from kernels.andrea.state import Source

SMOOTHING = 0.1  # the share of the newest loss in the smoothed one


def drawn(source: Source, config: Config, tokens: int, starts: np.ndarray, loss: float) -> Source:
    """The source after the draws of one step, which began at `starts` in a text of that length."""
    covered = int(source.coverage, 16)
    for part in (starts * 256 // tokens).tolist():
        covered |= 1 << part
    pulls = source.pulls + len(starts)
    if math.isfinite(loss):
        old = loss if source.ema is None else source.ema
        source = replace(source, ema=(1 - SMOOTHING) * old + SMOOTHING * loss)
    return replace(
        source,
        pulls=pulls,
        epochs=pulls * config.context / tokens,
        coverage=f"{covered:064x}",
    )
