"""rmsnorm.figures: what the course's Runs look like as pictures, PNG and SVG.

The loss of a training made for this Run; the factor by which a mean over BLOCK inflates the
output, from the two kernels; and on a GPU the latency of each version. No latency is drawn
on the interpreter.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import torch
from matplotlib.figure import Figure as Picture

from kernels.artifacts import store
from kernels.events import Artifact, Event, Figure, Log, Metric, Note, Progress
from kernels.procedure import Context, Device
from kernels.procedures.rmsnorm import VERSIONS as NUMBERS
from kernels.procedures.rmsnorm.benchmark import call_both
from kernels.procedures.rmsnorm.exercise import RIGHT, SIDES, passes, version
from kernels.procedures.rmsnorm.training import Norm, pair, train
from kernels.rmsnorm import rmsnorm_reference
from kernels.rmsnorm_versions import VERSIONS
from kernels.timing import Call, interleaved

SIZES = (31, 32, 33, 63, 65, 127, 129, 200, 255, 256, 257, 300, 400, 511, 512, 513)
SHAPES = ((128, 257), (1024, 1024), (4096, 4096))
LOOK: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "rmsnorm", "font.size": 11}
INK, ACCENT = "#555555", "#b3541e"


def run(context: Context) -> Iterator[Event]:
    losses: dict[str, list[float]] = {"reference": [], "kernel": []}
    for event in train(context, pair(context)):
        if isinstance(event, Metric) and event.name == "loss" and event.series:
            losses[event.series].append(event.value)
        if isinstance(event, Metric | Progress):
            yield event
    if context.stop.is_set():
        return
    alt = Note("figure.loss", {"steps": context["steps"], "last": losses["kernel"][-1]})
    yield from draw(context, "loss", alt, lambda picture: draw_loss(picture, losses))
    factors = inflation(torch.device(context.device.value))
    alt = Note("figure.inflation", {"factor": factors[257]})
    yield from draw(context, "inflation", alt, lambda picture: draw_inflation(picture, factors))
    if context.device is not Device.CUDA:
        yield Log(Note("log.no-latency-here"), level="warning")
        return
    times = latencies()
    alt = Note("figure.latency", {"versions": len(NUMBERS)})
    yield from draw(context, "latency", alt, lambda picture: draw_latency(picture, times))


def draw(
    context: Context, name: str, alt: Note, paint: Callable[[Picture], None]
) -> Iterator[Artifact | Figure]:
    """The picture as PNG and as SVG; the Figure shows the SVG."""
    with mpl.rc_context(LOOK):
        picture = Picture(figsize=(7, 4), layout="constrained")
        paint(picture)
        for suffix in ("png", "svg"):
            yield store(context, f"{name}.{suffix}", lambda path: save(picture, path))
    yield Figure(name, f"{name}.svg", alt)


def save(picture: Picture, path: Path) -> None:
    extra = {"dpi": 150} if path.suffix == ".png" else {"metadata": {"Date": None}}
    picture.savefig(path, **extra)


def draw_loss(picture: Picture, losses: dict[str, list[float]]) -> None:
    axes = picture.add_subplot()
    steps = range(1, len(losses["kernel"]) + 1)
    axes.plot(steps, losses["reference"], color=INK, linewidth=4, alpha=0.4, label="reference")
    axes.plot(steps, losses["kernel"], color=ACCENT, linewidth=1.2, label="kernel")
    axes.set(xlabel="step", ylabel="MSE", yscale="log")
    axes.legend(frameon=False)


def inflation(device: torch.device) -> dict[int, float]:
    """Output of the wrong kernel over output of the right one, on a row of ones."""
    factors = {}
    for size in SIZES:
        ones = torch.ones(1, size, device=device)
        kernels = (version(side, RIGHT) for side in SIDES)
        y, wrong = (passes(kernel, ones, ones[0], ones)[0] for kernel in kernels)
        factors[size] = float(wrong[0, 0] / y[0, 0])
    return factors


def draw_inflation(picture: Picture, factors: dict[int, float]) -> None:
    axes = picture.add_subplot()
    sizes = range(31, 514)
    due = [(1 << (n - 1).bit_length()) ** 0.5 / n**0.5 for n in sizes]
    axes.plot(sizes, due, color=INK, alpha=0.5, label="√(BLOCK/N)")
    axes.plot(list(factors), list(factors.values()), "o", color=ACCENT, label="kernels")
    axes.set(xlabel="N", ylabel="y / y")
    axes.legend(frameon=False)


def latencies() -> dict[str, list[float]]:
    """Median microseconds of forward and backward, a row of bars for each way and shape."""
    found: dict[str, list[float]] = {}
    for rows, columns in SHAPES:
        x = torch.randn(rows, columns, device="cuda", requires_grad=True)
        gamma = torch.randn(columns, device="cuda", requires_grad=True)
        dy = torch.randn_like(x)
        ways: dict[str, Norm] = {"reference": rmsnorm_reference}
        ways |= {f"version {v}": VERSIONS[v].apply for v in NUMBERS}
        series: dict[str, Call] = {
            name: partial(call_both, way, x, gamma, dy) for name, way in ways.items()
        }
        for name, time in interleaved(series, warmup=20, samples=30, calls=10).items():
            found.setdefault(name, []).append(time.median)
    return found


def draw_latency(picture: Picture, times: dict[str, list[float]]) -> None:
    axes = picture.add_subplot()
    width = 0.8 / len(times)
    for i, (name, values) in enumerate(times.items()):
        places = [shape + i * width for shape in range(len(values))]
        color = INK if name == "reference" else ACCENT
        axes.bar(places, values, width, label=name, color=color, alpha=0.35 + 0.2 * i)
    middles = [shape + 0.3 for shape in range(len(SHAPES))]
    axes.set_xticks(middles, [f"{rows} × {columns}" for rows, columns in SHAPES])
    axes.set(ylabel="µs")
    axes.legend(frameon=False)
