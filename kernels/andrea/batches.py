"""The micro-batches of a step: where they are cut from the corpus is a draw of (seed, step).

Needs no torch. The targets of a sequence are a window of `context` tokens from a random place; it
reads the beginning-of-sequence token and then those same tokens, but for the last. So a model
learns to begin anywhere in a text, as it must when it writes.

The segments of the embedding gradient are prepared here too: the positions sorted by token, so
that each token's gradient is summed in one fixed order, without atomics.
"""

from dataclasses import dataclass

import numpy as np

from kernels.andrea.config import Config
from kernels.andrea.corpus import Corpus
from kernels.andrea.draws import Purpose, below
from kernels.andrea.tokens import BOS


@dataclass(frozen=True)
class Batch:
    """Host arrays, int32, one row a micro-batch, as the device buffers of those names."""

    ids: np.ndarray  # [n, B, T]
    targets: np.ndarray  # [n, B * T]
    order: np.ndarray  # [n, B * T]
    first: np.ndarray  # [n, V + 1]
    starts: np.ndarray  # [n * B]: where the sequences begin in the corpus


def empty(config: Config) -> Batch:
    n, rows = config.micro_batches, config.rows
    return Batch(
        ids=np.zeros((n, config.batch, config.context), np.int32),
        targets=np.zeros((n, rows), np.int32),
        order=np.zeros((n, rows), np.int32),
        first=np.zeros((n, config.vocabulary + 1), np.int32),
        starts=np.zeros(n * config.batch, np.int64),
    )


def starts(config: Config, corpus: Corpus, step: int) -> np.ndarray:
    """Where the sequences of the step after `step` steps begin."""
    places = len(corpus) - config.context + 1
    count = config.micro_batches * config.batch
    return below(places, config.seed, Purpose.BATCH, step, count)


def fill(batch: Batch, config: Config, corpus: Corpus, step: int) -> None:
    """Put the micro-batches of that step into `batch`."""
    batch.starts[:] = starts(config, corpus, step)
    windows = corpus.tokens[batch.starts[:, None] + np.arange(config.context)]
    read = np.empty_like(windows)
    read[:, 0], read[:, 1:] = BOS, windows[:, :-1]
    put(batch, read, windows)


def put(batch: Batch, ids: np.ndarray, targets: np.ndarray) -> None:
    """Take tokens and targets that are given, and prepare their segments."""
    n = len(batch.ids)
    batch.ids[:] = ids.reshape(batch.ids.shape)
    batch.targets[:] = targets.reshape(batch.targets.shape)
    flat = batch.ids.reshape(n, -1)
    batch.order[:] = np.argsort(flat, axis=1, kind="stable")
    tokens = np.arange(batch.first.shape[1])
    for i in range(n):
        batch.first[i] = np.searchsorted(flat[i, batch.order[i]], tokens)
