"""Timing on a GPU as the course does it: CUDA events around complete calls, interleaved."""

import gc
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import torch

Call = Callable[[], object]
Marks = dict[str, list[tuple[torch.cuda.Event, torch.cuda.Event]]]


@dataclass(frozen=True)
class Spread:
    """Microseconds a call: the median, and the quarter of the samples below and above."""

    median: float
    low: float
    high: float

    def rate(self, moved: int) -> float:
        """TB/s for `moved` bytes a call."""
        return moved / self.median / 1e6


def interleaved(
    series: dict[str, Call],
    *,
    warmup: int,
    samples: int,
    calls: int,
    lead: Call | None = None,
) -> dict[str, Spread]:
    """Time every series in turn, sample by sample, so that drift touches all alike.

    `lead` is work put in front of each sample: where kernels are long it keeps the card busy
    while the first of them is being launched.
    """
    for call in series.values():
        for _ in range(warmup):
            call()
    torch.cuda.synchronize()
    gc.collect()
    gc.disable()  # as timeit does: a collection in one series would not be that series' cost
    try:
        marks = measure(series, samples, calls, lead)
    finally:
        gc.enable()
    return {
        name: spread([start.elapsed_time(end) * 1e3 / calls for start, end in pairs])
        for name, pairs in marks.items()
    }


def measure(series: dict[str, Call], samples: int, calls: int, lead: Call | None) -> Marks:
    marks: Marks = {name: [] for name in series}
    for _ in range(samples):
        for name, call in series.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            if lead is not None:
                lead()
            start.record()
            for _ in range(calls):
                call()
            end.record()
            marks[name].append((start, end))
        torch.cuda.synchronize()
    return marks


def spread(values: list[float]) -> Spread:
    low, _, high = statistics.quantiles(values, n=4)
    return Spread(statistics.median(values), low, high)
