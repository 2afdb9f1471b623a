"""The host's side of a step: the micro-batches that go up and the report that comes down.

There are two slots, used by turns: while the device works on one, the next step's micro-batches
are cut into the other. On a GPU their memory is pinned, so that copies do not wait.
"""

import math
from dataclasses import dataclass

import torch

from kernels.andrea import batches
from kernels.andrea.batches import Batch
from kernels.andrea.config import Config

BUFFERS = ("ids", "targets", "order", "first")


@dataclass(frozen=True)
class Report:
    """What a step came to; `norm` is the gradient's before clipping."""

    loss: float  # the mean over the micro-batches
    norm: float
    skipped: int  # updates left out so far

    @property
    def applied(self) -> bool:
        return math.isfinite(self.norm)


class HostSlot:
    def __init__(self, config: Config, device: torch.device) -> None:
        self.config = config
        on_gpu = device.type == "cuda"
        made = batches.empty(config)
        self.tensors = {name: pinned(getattr(made, name), on_gpu) for name in BUFFERS}
        arrays = {name: tensor.numpy() for name, tensor in self.tensors.items()}
        self.batch = Batch(**arrays, starts=made.starts)
        self.report = torch.zeros(config.micro_batches + 4, pin_memory=on_gpu)
        self.done = torch.cuda.Event() if on_gpu else None

    def receive(self, report: torch.Tensor) -> None:
        """Start the copy of the device's report, behind the step that makes it."""
        self.report.copy_(report, non_blocking=True)
        if self.done is not None:
            self.done.record()

    def read(self) -> Report:
        """Wait for the step and say what it came to."""
        if self.done is not None:
            self.done.synchronize()
        *losses, norm, _, _, skipped = self.report.tolist()
        return Report(math.fsum(losses) / len(losses), norm, int(skipped))


def pinned(array: object, on_gpu: bool) -> torch.Tensor:
    tensor = torch.as_tensor(array)
    return tensor.pin_memory() if on_gpu else tensor
