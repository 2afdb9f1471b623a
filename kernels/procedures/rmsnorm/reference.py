"""rmsnorm.reference: the oracle, judged before it judges anything.

gradcheck compares the oracle's gradient with finite differences, in float64. It proves the
formula of the oracle and nothing about a kernel. Then the three partitions of the data.
"""

from collections.abc import Iterator

import torch

from kernels.checking import generator
from kernels.events import Case, Column, Event, Metric, Progress, Table, Verdict
from kernels.procedure import Context
from kernels.procedures.rmsnorm.data import SIZES, Partition, partition
from kernels.rmsnorm import EPS, manual_backward, rmsnorm_reference

SHAPES = ((1, 2), (2, 3), (3, 7), (4, 16), (2, 33))
STEP = 1e-6
TOLERANCE = 1e-6  # finite differences with this step are right to about 1e-9


def run(context: Context) -> Iterator[Event]:
    seed = context["seed"]
    yield Progress(0, len(SHAPES) + 3)
    worst = 0.0
    for done, (rows, columns) in enumerate(SHAPES, start=1):
        x, gamma, dy = draw(seed, rows, columns)
        labels: dict[str, str | int] = {"rows": rows, "columns": columns, "dtype": "FP64"}
        good = torch.autograd.gradcheck(
            rmsnorm_reference,
            (x.requires_grad_(), gamma.requires_grad_()),
            eps=STEP,
            raise_exception=False,
        )
        yield Case(f"gradcheck-{rows}x{columns}", verdict(good), labels, what="gradcheck")
        difference = by_differences(x.detach(), gamma.detach(), dy)
        worst = max(worst, difference)
        yield Case(
            f"closed-form-{rows}x{columns}",
            verdict(difference <= TOLERANCE),
            labels,
            what="closed form",
            max_abs_error=difference,
            atol=TOLERANCE,
            rtol=0.0,
        )
        yield Progress(done, len(SHAPES) + 3)
    yield Metric("gradcheck", worst)
    yield from partitions(seed)


def draw(seed: int, rows: int, columns: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    source = generator(seed, rows, columns)
    shapes = ((rows, columns), (columns,), (rows, columns))
    x, gamma, dy = (torch.randn(s, generator=source, dtype=torch.float64) for s in shapes)
    return x, gamma, dy


def by_differences(x: torch.Tensor, gamma: torch.Tensor, dy: torch.Tensor) -> float:
    """The closed form against central differences of L = sum(dy * y), element by element."""
    dx, dgamma = manual_backward(x, gamma, dy, EPS)
    worst = 0.0
    for tensor, gradient in ((x, dx), (gamma, dgamma)):
        flat = tensor.view(-1)
        for i in range(flat.numel()):
            kept = flat[i].item()
            flat[i] = kept + STEP
            above = (dy * rmsnorm_reference(x, gamma, EPS)).sum()
            flat[i] = kept - STEP
            below = (dy * rmsnorm_reference(x, gamma, EPS)).sum()
            flat[i] = kept
            slope = (above - below) / (2 * STEP)
            worst = max(worst, float((slope - gradient.view(-1)[i]).abs()))
    return worst


def partitions(seed: int) -> Iterator[Event]:
    parts = [partition(name, seed) for name in SIZES]
    yield Table(
        "partitions",
        (Column("partition"), Column("examples"), Column("mean"), Column("spread")),
        tuple(
            (p.name, len(p.inputs), float(p.targets.mean()), float(p.targets.std())) for p in parts
        ),
    )
    for part in parts:
        again = partition(part.name, seed)
        same = torch.equal(again.inputs, part.inputs) and torch.equal(again.targets, part.targets)
        yield Case(f"same-again-{part.name}", verdict(same), {"partition": part.name})
    yield Case("disjoint", verdict(disjoint(parts)), {"partition": "all"})


def disjoint(parts: list[Partition]) -> bool:
    rows = [tuple(row) for part in parts for row in part.inputs.tolist()]
    return len(set(rows)) == len(rows)


def verdict(good: bool) -> Verdict:
    return Verdict.PASSED if good else Verdict.FAILED
