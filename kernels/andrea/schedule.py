"""The learning rate and the bias corrections: functions of the step alone. Needs no torch.

    rate(t) = peak * min(1, (t + 1) / warmup) * (floor + (1 - floor) * (1 + cos(pi t / steps)) / 2)

with t the number of steps already made.
"""

import math

import numpy as np

from kernels.andrea.config import Config

ROUNDS_TO_ONE = 2.0**-25  # 1 minus this, or minus less, is 1 in float32


def learning_rate(config: Config, done: int) -> float:
    """The rate of the step that follows `done` steps."""
    warm = min(1.0, (done + 1) / max(config.warmup_steps, 1))
    wave = (1 + math.cos(math.pi * min(done / config.steps, 1.0))) / 2
    return config.learning_rate * warm * (config.floor + (1 - config.floor) * wave)


def rates(config: Config) -> np.ndarray:
    """The learning rate of every step, float32: the device looks it up by its own counter."""
    return np.array([learning_rate(config, t) for t in range(config.steps)], np.float32)


def corrections(config: Config) -> np.ndarray:
    """[n, 2] float32: 1 / (1 - beta1^t) and 1 / (1 - beta2^t) for t = 0, 1, ...

    Later t use the last row; row 0 is never used. Made in float64: 1 - beta^t computed in
    float32 would lose half its digits at small t.
    """
    t = np.arange(1, correction_count(config), dtype=np.float64)
    betas = np.array([config.beta1, config.beta2])
    table = 1 / (1 - betas ** t[:, None])
    return np.concatenate([np.ones((1, 2)), table]).astype(np.float32)


def correction_count(config: Config) -> int:
    """Rows until both corrections are 1 in float32, and no more than there are steps."""
    largest = max(config.beta1, config.beta2)
    last = math.ceil(math.log(ROUNDS_TO_ONE) / math.log(largest)) if largest > 0 else 1
    return min(config.steps, last) + 1
