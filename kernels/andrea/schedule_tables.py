"""What the device looks up by its own counter: learning rates and bias corrections.

Needs no torch.
"""

import numpy as np

from kernels.andrea.config import Config
from kernels.andrea.schedule import correction_count, learning_rate


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
