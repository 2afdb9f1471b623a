"""The learning rate, a function of the step alone. Needs neither torch nor NumPy.

    rate(t) = peak * min(1, (t + 1) / warmup) * (floor + (1 - floor) * (1 + cos(pi t / steps)) / 2)

with t the number of steps already made.
"""

import math

from kernels.andrea.config import Config

ROUNDS_TO_ONE = 2.0**-25  # 1 minus this, or minus less, is 1 in float32


def learning_rate(config: Config, done: int) -> float:
    """The rate of the step that follows `done` steps."""
    warm = min(1.0, (done + 1) / max(config.warmup_steps, 1))
    wave = (1 + math.cos(math.pi * min(done / config.steps, 1.0))) / 2
    return config.learning_rate * warm * (config.floor + (1 - config.floor) * wave)


def correction_count(config: Config) -> int:
    """Rows until both corrections are 1 in float32, and no more than there are steps."""
    largest = max(config.beta1, config.beta2)
    last = math.ceil(math.log(ROUNDS_TO_ONE) / math.log(largest)) if largest > 0 else 1
    return min(config.steps, last) + 1
