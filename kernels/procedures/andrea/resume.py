"""andrea.resume-proof: stopping and resuming changes nothing, to the bit.

2k steps straight; then, in new buffers, k steps, a stop, and k more from the checkpoint. Every
logged loss and the last checkpoint file must be equal byte for byte.
"""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kernels.andrea.history import points
from kernels.andrea.job import Job
from kernels.andrea.runfiles import RunFiles
from kernels.andrea.training import Training
from kernels.artifacts import checkpoint_name
from kernels.events import Case, Column, Event, Metric, Progress, Table, Verdict
from kernels.procedure import Context
from kernels.procedures.andrea.configuring import config_of
from kernels.procedures.andrea.jobs import device_of, job_of, require_memory


def run(context: Context) -> Iterator[Event]:
    half = context["half"]
    config = replace(config_of(context.parameters), steps=2 * half)
    require_memory(config, device_of(context), context.version)
    whole = job_of(context, config, context.outputs / "straight")
    whole = replace(whole, sample_every=2 * half, checkpoint_every=2 * half)
    stopped = replace(whole, folder=context.outputs / "stopped")
    yield from follow(context, whole, "straight", 0)
    yield from follow(context, stopped, "stopped", 2 * half, stop_after=half)
    if context.stop.is_set():
        return
    again = replace(stopped, resume=stopped.folder / checkpoint_name(half))
    yield from follow(context, again, "resumed", 2 * half)
    if context.stop.is_set():
        return
    yield from compare(whole, stopped)


def follow(
    context: Context, job: Job, series: str, before: int, stop_after: int | None = None
) -> Iterator[Event]:
    """The losses of one training in buffers of its own.

    It is stopped as a signal would stop it, when `stop_after` steps are made: the loss of a
    step is told while the next one runs, so the flag goes up one loss before.
    """
    inner = replace(
        context, outputs=job.folder, stop=threading.Event(), checkpoint=threading.Event()
    )
    for event in Training(job, device_of(context)).run(inner):
        if isinstance(event, Metric) and event.name == "loss":
            yield replace(event, series=series)
        if isinstance(event, Progress):
            yield Progress(before + event.done, 2 * job.config.steps)
            if stop_after is not None and event.done >= stop_after - 1:
                inner.stop.set()
        if context.stop.is_set():
            inner.stop.set()


def compare(whole: Job, stopped: Job) -> Iterator[Event]:
    files = [RunFiles(job.folder, job.model).file("loss") for job in (whole, stopped)]
    straight, resumed = (dict(points(file)) for file in files)
    rows = [
        (step, loss, resumed.get(step), "=" if loss == resumed.get(step) else "≠")
        for step, loss in straight.items()
    ]
    columns = tuple(Column(key) for key in ("step", "straight", "resumed", "equal"))
    yield Table("resume", columns, tuple(rows))
    yield case("losses", files)
    last = checkpoint_name(whole.config.steps)
    yield case("last-file", [job.folder / last for job in (whole, stopped)])


def case(name: str, files: list[Path]) -> Case:
    one, other = (file.read_bytes() for file in files)
    verdict = Verdict.PASSED if one == other else Verdict.FAILED
    return Case(name, verdict, {"check": name})
