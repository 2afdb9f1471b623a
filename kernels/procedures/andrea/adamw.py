"""andrea.adamw: the optimizer's kernel against float64, and its moments kept in FP16.

v holds squares of gradients. In FP16 a square below 3e-8 is rounded to zero, and an update that
divides by sqrt(v) + epsilon then takes a step a thousand times too large.
"""

from collections.abc import Iterator

import torch

from kernels.andrea.config import Config
from kernels.andrea.engine import Engine
from kernels.andrea.layout import layout
from kernels.andrea.schedule import learning_rate
from kernels.events import Column, Event, Metric, Table
from kernels.procedure import Context
from kernels.procedures.andrea.jobs import device_of
from kernels.procedures.andrea.small import judged, small

Tensor = torch.Tensor
UPDATES = 5
ALLOWED = 2e-6  # of the largest value
EXPONENTS = range(1, 8)  # gradients 1e-1 ... 1e-7


def run(context: Context) -> Iterator[Event]:
    yield from against_float64(context)
    yield from underflow(small(0))


def against_float64(context: Context) -> Iterator[Event]:
    """A few updates with drawn gradients: weights, m and v."""
    config = small(context["seed"], layers=1, clip=1e9)
    engine = Engine(config, device_of(context))
    due = {key: engine.arena[key].double().cpu() for key in ("weights", "m", "v")}
    source = torch.Generator().manual_seed(context["seed"])
    for done in range(UPDATES):
        drawn = torch.randn(due["m"].shape, generator=source) * 10.0 ** -(done % 3)
        engine.arena["gradients"].copy_(drawn)
        engine.update()
        update(config, due, drawn.double(), done)
    for key, expected in due.items():
        error = float((engine.arena[key].cpu().double() - expected).abs().max())
        allowed = ALLOWED * float(expected.abs().max())
        yield judged(f"adamw-{key}", error <= allowed, error, allowed)


def update(config: Config, due: dict[str, Tensor], g: Tensor, done: int) -> None:
    """AdamW in float64, from the formula; decay on matrices only."""
    t, rate = done + 1, learning_rate(config, done)
    m, v, w = due["m"], due["v"], due["weights"]
    m.mul_(config.beta1).add_((1 - config.beta1) * g)
    v.mul_(config.beta2).add_((1 - config.beta2) * g * g)
    pace = m / (1 - config.beta1**t) / ((v / (1 - config.beta2**t)).sqrt() + config.epsilon)
    for slot in layout(config):
        part = slice(slot.offset, slot.offset + slot.count)
        decay = config.decay * w[part] if slot.decays else 0.0
        w[part] -= rate * (pace[part] + decay)


def underflow(config: Config) -> Iterator[Event]:
    """The first update for one gradient after another, with v in FP32 and in FP16."""
    rows = []
    for exponent in EXPONENTS:
        g = 10.0**-exponent
        v = torch.tensor((1 - config.beta2) * g * g, dtype=torch.float64)
        kept = {dtype: float(v.to(dtype)) for dtype in (torch.float32, torch.float16)}
        steps = [step_size(config, g, value) for value in kept.values()]
        rows.append((g, *kept.values(), *steps))
        yield Metric("update-size", steps[0], exponent, series="fp32")
        yield Metric("update-size", steps[1], exponent, series="fp16")
    keys = ("gradient", "fp32", "fp16", "update-fp32", "update-fp16")
    yield Table("adamw-moments", tuple(Column(key) for key in keys), tuple(rows))
    lost = [g for g, _, half, _, _ in rows if half == 0]
    yield judged("fp16-loses-v", lost != [] and max(lost) >= 1e-3, len(lost), 0.0)
    yield judged("fp32-keeps-v", all(single > 0 for _, single, *_ in rows), 0.0, 0.0)


def step_size(config: Config, g: float, v: float) -> float:
    """The first update over the learning rate: 1 where nothing is lost."""
    corrected = v / (1 - config.beta2)
    return float(g / (corrected**0.5 + config.epsilon))
