"""A model small enough to take apart, with tokens drawn for it."""

from dataclasses import replace

import numpy as np
import torch

from kernels.andrea import batches
from kernels.andrea.config import Config
from kernels.andrea.draws import Purpose, below
from kernels.andrea.engine import Engine
from kernels.events import Case, Verdict

SMALL = Config(vocabulary=19, width=16, heads=2, layers=2, context=8, batch=2, steps=10, warmup=0)


def small(seed: int, **changes: object) -> Config:
    return replace(SMALL, seed=seed, **changes)  # type: ignore[arg-type]


def tokens(config: Config, first_step: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """ids and targets [n, B, T] for the configuration, drawn from its seed."""
    shape = config.micro_batches, config.batch, config.context + 1
    count = int(np.prod(shape))
    drawn = below(config.vocabulary, config.seed, Purpose.BATCH, first_step, count).reshape(shape)
    return drawn[..., :-1], drawn[..., 1:]


def give(engine: Engine, ids: np.ndarray, targets: np.ndarray) -> None:
    """Feed the engine these tokens."""
    slot = engine.slots[0]
    batches.put(slot.batch, ids, targets)
    engine.feed(slot)


def shaken(engine: Engine, seed: int) -> None:
    """Weights far from their tame start, so that every gradient is well above zero."""
    source = torch.Generator().manual_seed(seed)
    weights = engine.arena["weights"]
    noise = torch.randn(weights.shape, generator=source) * 0.2
    weights.add_(noise.to(weights.device))
    engine.refresh()


def judged(name: str, good: bool, error: float, allowed: float) -> Case:
    verdict = Verdict.PASSED if good else Verdict.FAILED
    return Case(name, verdict, {"check": name}, max_abs_error=error, atol=allowed, rtol=0.0)
