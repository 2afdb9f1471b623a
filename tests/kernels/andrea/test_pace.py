"""How often a training speaks: all of it within what a Run may tell."""

import pytest

from kernels.andrea.pace import READINGS, Readings, pace

MOST_EVENTS = 20_000  # of a Run: runner/limits.py
GAUGES = 6
HOURS = 4  # the longest that a Run may take


def told(steps: int, every: int) -> int:
    """Events of a training of that length with samples and checkpoints every so often."""
    found = pace(steps, every, every)
    curves = 3 * (steps // found.curves)
    files = 5 * (steps // found.checkpoint + 1)  # losses, samples, state, it, and one let go
    return (
        steps // found.loss
        + curves
        + 3 * (steps // found.checkpoint)
        + steps // found.scale
        + steps // found.progress
        + steps // found.sample
        + files
        + GAUGES * readings(HOURS * 3600)
    )


def readings(seconds: int) -> int:
    clock = iter(range(1, seconds))
    now = [0]
    due = Readings(lambda: float(now[0]))
    count = 0
    for now[0] in clock:
        count += due.due()
    return count


@pytest.mark.parametrize("steps", [1, 60, 2500, 2501, 9_999, 10_000, 10_001, 200_000, 10**7])
def test_a_training_of_any_length_fits(steps: int) -> None:
    short = 100 if steps >= 1000 else max(1, steps // 3)
    assert told(steps, short) < MOST_EVENTS - 500


def test_every_loss_is_told_up_to_ten_thousand_steps() -> None:
    assert pace(10_000, 100, 100).loss == 1
    assert pace(10_001, 100, 100).loss == 2


def test_every_curve_is_whole_in_a_short_run() -> None:
    found = pace(2500, 100, 100)
    assert (found.loss, found.curves, found.progress) == (1, 1, 1)
    assert (found.sample, found.checkpoint) == (100, 100)


def test_readings_come_every_second_and_then_half_as_often() -> None:
    assert readings(READINGS + 1) == READINGS
    assert readings(3 * READINGS + 1) == 2 * READINGS
    assert readings(7 * READINGS + 1) == 3 * READINGS
