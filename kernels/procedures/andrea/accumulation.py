"""andrea.accumulation: gradients add up over micro-batches, and what happens where they do not.

(a) twice the same backward pass is exactly twice one; (b) the mean over n micro-batches is the
gradient of one batch n times as large; (c) after an update every byte is zero. And what goes
wrong: (d) without zero_grads, (e) without 1/n, (f) with = where += is due, which one micro-batch
cannot show.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import torch

from kernels.andrea.engine import Engine
from kernels.andrea.mutating import mutated
from kernels.events import Event, Metric
from kernels.procedure import Context
from kernels.procedures.andrea.jobs import device_of
from kernels.procedures.andrea.small import give, judged, shaken, small, tokens

Tensor = torch.Tensor
N = 4
OVERWRITES = "mlp-overwrites-dw-2"
# One batch sums its rows in another order; of the largest gradient, in FP32.
ALLOWED = 1e-5


def run(context: Context) -> Iterator[Event]:
    # Untied: a tied token table adds two contributions, whose order would round differently.
    config = small(context["seed"], micro_batches=N, tied=False, layers=1)
    engine = Engine(config, device_of(context), context.version)
    shaken(engine, config.seed)
    give(engine, *tokens(config))
    yield from twice(engine)
    mean = total(engine, range(N)) / N
    yield from against_one_batch(engine, mean, context.version)
    yield from forgetting(engine, mean)
    yield from counted(engine)


def total(engine: Engine, indices: range | list[int]) -> Tensor:
    """The gradients after these micro-batches, starting from zero."""
    engine.zero_grads()
    return added(engine, indices)


def added(engine: Engine, indices: range | list[int]) -> Tensor:
    for index in indices:
        engine.forward(index)
        engine.backward(index)
    return engine.arena["gradients"].clone()


def difference(one: Tensor, other: Tensor) -> float:
    """Of the largest element of `other`."""
    return float((one - other).abs().max() / other.abs().max())


def twice(engine: Engine) -> Iterator[Event]:
    once, two = total(engine, [0]), total(engine, [0, 0])
    yield judged("twice-is-double", torch.equal(two, 2 * once), difference(two, 2 * once), 0.0)


def against_one_batch(engine: Engine, mean: Tensor, version: int) -> Iterator[Event]:
    """The same tokens as one batch of N times as many sequences."""
    config = replace(engine.config, batch=N * engine.config.batch, micro_batches=1)
    large = Engine(config, engine.device, version)
    large.arena["weights"].copy_(engine.arena["weights"])
    large.refresh()
    give(large, *(part.reshape(1, config.batch, -1) for part in tokens(engine.config)))
    due = total(large, [0])
    error = difference(mean, due)
    yield judged("mean-is-one-batch", error <= ALLOWED, error, ALLOWED)
    one = total(engine, [0])
    with overwriting(engine):
        several, alone = total(engine, range(N)) / N, total(engine, [0])
    error = difference(several, due)
    yield judged("overwriting-is-caught", error > ALLOWED, error, ALLOWED)
    error = difference(alone, one)
    yield judged("one-micro-batch-cannot-show-it", error <= ALLOWED, error, ALLOWED)


@contextmanager
def overwriting(engine: Engine) -> Iterator[None]:
    """One kernel, that of the MLP's second weight, writes = where += is due."""
    wrong = mutated(OVERWRITES).PAIR.backward
    kept = [program.backward for program in engine.programs]
    for program in engine.programs:
        program.backward = [
            replace(one, call=partial(wrong, *one.call.args)) if one.operator == "mlp" else one
            for one in program.backward
        ]
    try:
        yield
    finally:
        for program, launches in zip(engine.programs, kept, strict=True):
            program.backward = launches


def forgetting(engine: Engine, mean: Tensor) -> Iterator[Event]:
    summed = total(engine, range(N))
    error = abs(float(summed.norm() / mean.norm()) - N)
    yield judged("without-mean-n-times", error <= ALLOWED, error, ALLOWED)
    stale = added(engine, range(N))  # the next step, and nobody set the gradients to zero
    error = difference(stale, summed)
    yield judged("without-zero-grads-differs", error > ALLOWED, error, ALLOWED)


def counted(engine: Engine) -> Iterator[Event]:
    """One whole step: n pairs of passes, one update, and zeros afterwards."""
    total(engine, range(0))
    engine.trace = []
    engine.launch()
    calls = [(launch.operator, launch.direction) for launch in engine.trace]
    engine.trace = None
    yield Metric("forward-calls", calls.count(("embed", "forward")))
    yield Metric("backward-calls", calls.count(("embed", "backward")))
    yield Metric("optimizer-calls", calls.count(("adamw", "utility")))
    left = engine.arena["gradients"].view(torch.uint8)
    yield judged("zero-after-update", not left.any(), float(left.any()), 0.0)
