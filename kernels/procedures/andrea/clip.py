"""andrea.clip: one norm over all gradients, and what is done with it.

The norm against float64; a norm below the threshold leaves every bit; above it, the clipped
gradient has the threshold as its norm; a norm that is not finite reaches no weight.
"""

import math
from collections.abc import Iterator

import numpy as np
import torch

from kernels.andrea.engine import Engine
from kernels.andrea.operators import grad_norm
from kernels.events import Event, Metric
from kernels.procedure import Context
from kernels.procedures.andrea.jobs import device_of
from kernels.procedures.andrea.small import judged, small

ALLOWED = 1e-6  # relative
FACTOR = slice(1, 2)  # its place in grad_norm's result
SCALES = {"below": 1e-4, "above": 1.0}  # of the gradients drawn
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "overflow": 3e38}


def run(context: Context) -> Iterator[Event]:
    engine = Engine(small(context["seed"], layers=1), device_of(context))
    source = torch.Generator().manual_seed(context["seed"])
    drawn = torch.randn(engine.arena["gradients"].shape, generator=source)
    for name, scale in SCALES.items():
        yield from clipped(engine, drawn * scale, name)
    for name, value in NOT_FINITE.items():
        yield from skipped(engine, drawn, name, value)


def clipped(engine: Engine, drawn: torch.Tensor, name: str) -> Iterator[Event]:
    gradients, clip = engine.arena["gradients"], engine.config.clip
    gradients.copy_(drawn)
    before = measured(engine)
    due = float(drawn.double().norm())
    yield Metric("norm-before", before, series=name)
    yield judged(f"norm-{name}", abs(before / due - 1) <= ALLOWED, abs(before / due - 1), ALLOWED)
    grad_norm.scale(gradients, engine.result[FACTOR])
    if name == "below":
        same = torch.equal(gradients.cpu().view(torch.int32), drawn.view(torch.int32))
        yield judged("below-leaves-every-bit", same, 0.0, 0.0)
    after = measured(engine)
    yield Metric("norm-after", after, series=name)
    if name == "above":
        error = abs(after / clip - 1)
        yield judged("above-becomes-threshold", error <= ALLOWED, error, ALLOWED)


def measured(engine: Engine) -> float:
    """The norm of the gradients as they are; its factor stays in the engine's result."""
    gradients = engine.arena["gradients"]
    partials = engine.arena["norm_partials"][: grad_norm.programs(gradients)]
    grad_norm.partial(gradients, partials)
    grad_norm.final(partials, engine.arena["loss_scale"][1:], engine.config.clip, engine.result)
    return float(engine.result[0])


def skipped(engine: Engine, drawn: torch.Tensor, name: str, value: float) -> Iterator[Event]:
    """One bad gradient among good ones: weights and moments keep every bit, the skip counts."""
    gradients = engine.arena["gradients"]
    gradients.copy_(drawn)
    gradients[7] = value
    kept = {key: engine.arena[key].clone() for key in ("weights", "m", "v")}
    state = engine.state()
    with np.errstate(over="ignore", invalid="ignore"):  # the interpreter computes with NumPy
        engine.update()
    same = all(torch.equal(engine.arena[key], was) for key, was in kept.items())
    yield judged(f"{name}-reaches-no-weight", same, 0.0, 0.0)
    now = engine.state()
    counted = now.skipped == state.skipped + 1 and now.applied == state.applied
    yield judged(f"{name}-is-counted", counted, 0.0, 0.0)
    yield judged(f"{name}-is-cleared", not engine.arena["gradients"].any(), 0.0, 0.0)
