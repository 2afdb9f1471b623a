"""The synthetic data of the course: a fixed random teacher plus noise, in three partitions.

No file and no download: every value is a pure function of the seed and the partition.
"""

from dataclasses import dataclass

import torch
from torch.nn.functional import silu

from kernels.checking import generator
from kernels.rmsnorm import rmsnorm_reference

INPUTS, HIDDEN = 16, 32
NOISE = 0.1
SIZES = {"train": 2048, "validation": 256, "test": 256}


@dataclass(frozen=True)
class Partition:
    name: str
    inputs: torch.Tensor  # [examples, 16]
    targets: torch.Tensor  # [examples, 1]


def partition(name: str, seed: int) -> Partition:
    """Inputs from this partition's own stream, targets by the teacher that all three share."""
    source = generator(seed, 1, tuple(SIZES).index(name))
    inputs = torch.randn(SIZES[name], INPUTS, generator=source)
    noise = torch.randn(SIZES[name], 1, generator=source)
    return Partition(name, inputs, teacher(inputs, seed) + NOISE * noise)


def teacher(inputs: torch.Tensor, seed: int) -> torch.Tensor:
    """A network of the same form as the learner: Linear, RMSNorm, SiLU, Linear."""
    source = generator(seed, 2)
    first = torch.randn(HIDDEN, INPUTS, generator=source) / INPUTS**0.5
    second = torch.randn(1, HIDDEN, generator=source) / HIDDEN**0.5
    hidden = silu(rmsnorm_reference(inputs @ first.T, torch.ones(HIDDEN)))
    return hidden @ second.T


def batch(
    train: Partition, seed: int, step: int, examples: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The examples of one step: a pure function of (seed, step), so a resume sees the same."""
    choice = torch.randint(SIZES["train"], (examples,), generator=generator(seed, 3, step))
    return train.inputs[choice], train.targets[choice]
