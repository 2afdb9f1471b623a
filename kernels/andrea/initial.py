"""The weights a model starts with, as one flat array. Needs no torch.

N(0, 0.02^2); what writes to the residual stream (w_o, w_2) divided by sqrt(2 L), because 2 L of
them add up there; gamma 1, beta 0.
"""

import math

import numpy as np

from kernels.andrea.config import Config, Precision
from kernels.andrea.draws import fill_normal
from kernels.andrea.layout import Slot, layout, parameter_count
from kernels.andrea.state import State

DEVIATION = 0.02
FIRST_SCALE = 2.0**16  # of the loss, in FP16


def weights(config: Config) -> np.ndarray:
    flat = np.zeros(parameter_count(config), np.float32)
    for number, slot in enumerate(layout(config)):
        part = flat[slot.offset : slot.offset + slot.count]
        if slot.name.endswith(".gamma"):
            part[:] = 1
        elif not slot.name.endswith(".beta"):
            fill_normal(part, deviation(slot, config), config.seed, number)
    return flat


def deviation(slot: Slot, config: Config) -> float:
    to_stream = slot.name.endswith((".w_o", ".w_2"))
    return DEVIATION / math.sqrt(2 * config.layers) if to_stream else DEVIATION


def state(config: Config) -> State:
    scale = FIRST_SCALE if config.precision is Precision.FP16 else 1.0
    return State(scale, good=0, applied=0, skipped=0)
