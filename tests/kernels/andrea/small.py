"""An engine small enough for the interpreter, with tokens of its own."""

import torch

from kernels.andrea.engine import Engine
from kernels.procedures.andrea.small import give, small, tokens

CPU = torch.device("cpu")


def engine(version: int = 1, **changes: object) -> Engine:
    """A made engine that was fed its first tokens."""
    settings = {"layers": 1, **changes}
    made = Engine(small(3, **settings), CPU, version)
    give(made, *tokens(made.config))
    return made


def bits(made: Engine) -> dict[str, bytes]:
    """Everything that the next step depends on."""
    names = ("weights", "gradients", "m", "v", "counters", "schedule", "loss_scale")
    return {name: made.arena[name].numpy().tobytes() for name in names}
