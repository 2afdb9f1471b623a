"""How often a training speaks: every curve whole where the run is short, thinner where it is long.

A Run may tell 20,000 Events. Of the longest there is, 10,000 are losses, 3,000 the other curves,
500 the loss scale, 500 the progress, 3,000 readings of the machine, 1,000 samples and 1,000 files.
Needs no torch.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

MOST_LOSSES = 10_000
SHORT = 2500  # steps of a run whose curves are all told step by step
MOST_POINTS = 1000  # of any other curve of a longer run
MOST_SCALES = 500
MOST_PROGRESS = 500
MOST_CHECKPOINTS = 200  # handed out by themselves; those asked for come on top
ALL_SKIPPED = 100  # skipped updates told one by one; later ones with the curves
MOST_SAMPLES = 1000
READINGS = 60  # of the machine, before their distance in time doubles


@dataclass(frozen=True)
class Pace:
    """Each number is a distance in steps."""

    loss: int
    curves: int
    scale: int
    progress: int
    sample: int
    checkpoint: int  # between those handed out; more may be written


def pace(steps: int, sample_every: int, checkpoint_every: int) -> Pace:
    short = steps <= SHORT
    return Pace(
        loss=distance(steps, MOST_LOSSES),
        curves=1 if short else distance(steps, MOST_POINTS),
        scale=1 if short else distance(steps, MOST_SCALES),
        progress=1 if short else distance(steps, MOST_PROGRESS),
        sample=sample_every * distance(steps // sample_every, MOST_SAMPLES),
        checkpoint=checkpoint_every * distance(steps // checkpoint_every, MOST_CHECKPOINTS),
    )


def distance(steps: int, most: int) -> int:
    """So that no more than `most` of the steps are told."""
    return max(1, -(-steps // most))


class Readings:
    """Due every second at first; after each 60, half as often."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.next = 0.0
        self.count = 0

    def due(self) -> bool:
        now = self.now()
        if now < self.next:
            return False
        self.next = now + 2 ** (self.count // READINGS)
        self.count += 1
        return True
