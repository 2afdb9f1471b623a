"""The loss at gpt2-124M's size on a card: fresh logits for every call, and the judge in float64."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from kernels.andrea.operators import loss
from tests.bench._gpu_candidates import BATCH, BF16, CALLS, LENGTH, VOCABULARY, Call, Tensor

ROWS, ROW = BATCH * LENGTH, 50_304
CHUNK = 512  # rows judged at a time
Way = Callable[[Tensor], object]  # turns logits [ROWS, VOCABULARY] into their gradient in place


@dataclass
class Problem:
    """CALLS buffers of logits, so that a graph of as many calls finds each of them fresh."""

    source: Tensor = field(default_factory=lambda: logits())
    buffers: list[Tensor] = field(init=False)
    targets: Tensor = field(init=False)
    count: Tensor = field(init=False)
    losses: Tensor = field(init=False)
    mean: Tensor = field(init=False)
    upstream: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.buffers = [self.source.clone() for _ in range(CALLS)]
        self.targets = torch.randint(0, VOCABULARY, (ROWS,), device="cuda", dtype=torch.int32)
        self.targets[::97] = loss.IGNORED
        self.count = (self.targets >= 0).sum().float()[None]
        self.losses, self.mean = (torch.empty(n, device="cuda") for n in (ROWS, 1))
        self.upstream = torch.ones(1, device="cuda")

    def refresh(self) -> None:
        for buffer in self.buffers:
            buffer.copy_(self.source)

    def cycled(self, way: Way) -> Call:
        """The way on one buffer after the other."""
        buffers = itertools.cycle(self.buffers)
        return lambda: way(next(buffers)[:, :VOCABULARY])

    def fault(self, way: Way, zeros_behind: bool = True) -> str:
        """What is wrong with it, against float64 and with itself; empty if nothing."""
        results = []
        for _ in range(2):
            whole = self.buffers[0].copy_(self.source)
            self.losses.fill_(torch.nan)
            way(whole[:, :VOCABULARY])
            results.append((whole.clone(), self.losses.clone()))
        if not all(torch.equal(one, other) for one, other in zip(*results, strict=True)):
            return "not the same bits twice"
        made, losses = results[0]
        if zeros_behind and made[:, VOCABULARY:].any():
            return "columns behind the vocabulary are not 0"
        error = self.error(made[:, :VOCABULARY], losses)
        return "" if error < 4e-3 else f"off by {error:.2e}"

    def error(self, made: Tensor, losses: Tensor) -> float:
        """The larger of the gradient's error, over its size, and the losses'. NaN stays NaN."""
        wrong = size = torch.zeros((), device="cuda", dtype=torch.float64)
        worst = torch.zeros((), device="cuda", dtype=torch.float64)
        for first in range(0, ROWS, CHUNK):
            rows = slice(first, first + CHUNK)
            exact, targets = self.source[rows, :VOCABULARY].double(), self.targets[rows]
            share = (targets >= 0).double()[:, None] / self.count.double()
            due = exact.softmax(dim=1)
            due[torch.arange(len(due)), targets.clamp(min=0).long()] -= 1
            due *= share
            wrong = wrong + (made[rows].double() - due).square().sum()
            size = size + due.square().sum()
            _, expected, _ = loss.reference_forward(exact, targets)
            worst = torch.maximum(worst, (losses[rows].double() - expected).abs().max())
        return float(torch.maximum((wrong / size).sqrt(), worst))


def logits() -> Tensor:
    """Spread like a trained model's; what lies behind the vocabulary would be the largest."""
    source = torch.Generator("cuda").manual_seed(1)
    made = torch.empty(ROWS, ROW, device="cuda", dtype=BF16)
    made.normal_(0.0, 2.0, generator=source)
    made[:, VOCABULARY:] = 100.0
    return made
