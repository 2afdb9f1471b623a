"""rmsnorm.exercise: N replaced by BLOCK, on a row of ones. State your hypothesis first.

The wrong kernels are mutants, built for this Run; the real kernel is not touched. Part one
is the forward pass, part two shows why the backward pass needs the same N, and part three
asks who notices: the oracle, or the gradcheck that each variant makes of itself.
"""

from collections.abc import Iterator

import torch

from kernels.checking import TOLERANCES, compare, generator
from kernels.events import Case, Column, Event, Log, Metric, Note, Table, Verdict
from kernels.mutating import mutated
from kernels.procedure import Context
from kernels.rmsnorm import EPS, manual_backward, rmsnorm_reference
from kernels.rmsnorm_versions import TEACHING, Version

RIGHT, BLOCK = "right", "block"
SIDES = (RIGHT, BLOCK)
PAIRS = tuple((forward, backward) for forward in SIDES for backward in SIDES)
FAINT = 1.01  # just below a power of two a wrong N may stay within what a judge can see
GRADCHECK = 1e-3  # relative, on values in FP32: far below what a wrong N changes


def run(context: Context) -> Iterator[Event]:
    device = torch.device(context.device.value)
    n = context["n"]
    block = 1 << (n - 1).bit_length()
    yield from forward_part(n, block, device)
    yield from backward_part(n, device)
    yield from judges(n, block, device)


def version(forward: str, backward: str) -> Version:
    names = {
        (RIGHT, BLOCK): "backward-by-block",
        (BLOCK, RIGHT): "forward-by-block",
        (BLOCK, BLOCK): "both-by-block",
    }
    return TEACHING if forward == backward == RIGHT else mutated(names[forward, backward])


def passes(
    which: Version, x: torch.Tensor, gamma: torch.Tensor, dy: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """y, r and dx by this version's own forward and backward kernels."""
    y, dx = torch.empty_like(x), torch.empty_like(x)
    inverse = torch.empty(x.shape[0], device=x.device)
    partial = torch.empty(which.scratch(x), device=x.device)
    which.forward(x, gamma, y, inverse, EPS)
    which.backward(x, gamma, dy, inverse, dx, partial, None)
    return y, inverse, dx


def forward_part(n: int, block: int, device: torch.device) -> Iterator[Event]:
    ones = torch.ones(1, n, device=device)
    yield Log(Note("log.exercise", {"n": n, "block": block}))
    yield Metric("sum-squares", float(ones.square().sum()))
    output = {}
    for side in SIDES:
        y, inverse, _ = passes(version(side, RIGHT), ones, ones[0], ones)
        denominator = 1 / float(inverse[0])
        output[side] = float(y[0, 0])
        name = "n" if side == RIGHT else "block"
        yield Metric(f"mean-{name}", denominator**2 - EPS)  # what the kernel's r says it was
        yield Metric(f"denominator-{name}", denominator)
        yield Metric(f"output-{name}", output[side])
    yield Metric("inflation", output[BLOCK] / output[RIGHT])


def backward_part(n: int, device: torch.device) -> Iterator[Event]:
    ones = torch.ones(1, n, device=device)
    for forward, backward in PAIRS:
        _, _, dx = passes(version(forward, backward), ones, ones[0], ones)
        yield Metric(f"dx-{forward}-{backward}", float(dx[0, 0]))


def judges(n: int, block: int, device: torch.device) -> Iterator[Event]:
    """On random values: does the oracle object, does the variant's own gradcheck object?"""
    source = generator(n)
    x, gamma, dy = (torch.randn(s, generator=source).to(device) for s in ((2, n), (n,), (2, n)))
    rows = []
    faint = 1 < block / n < FAINT
    for forward, backward in PAIRS:
        oracle = oracle_objects(version(forward, backward), x, gamma, dy)
        own = gradcheck_objects(version(forward, backward), x, gamma, dy)
        rows.append((forward, backward, word(oracle), word(own)))
        wrong = BLOCK in (forward, backward) and block != n
        yield judged("oracle", forward, backward, oracle, oracle == wrong or faint)
        inconsistent = forward != backward and block != n
        yield judged("gradcheck", forward, backward, own, own == inconsistent or faint)
    columns = (Column("forward"), Column("backward"), Column("oracle"), Column("gradcheck"))
    yield Table("judges", columns, tuple(rows))


def word(objects: bool) -> str:
    return "objects" if objects else "accepts"


def judged(judge: str, forward: str, backward: str, objects: bool, foreseen: bool) -> Case:
    """Passed when the judge did what the theory says it does."""
    labels: dict[str, str | int] = {
        "judge": judge,
        "forward": forward,
        "backward": backward,
        "verdict": word(objects),
    }
    verdict = Verdict.PASSED if foreseen else Verdict.FAILED
    return Case(f"{judge}-{forward}-{backward}", verdict, labels)


def oracle_objects(which: Version, x: torch.Tensor, gamma: torch.Tensor, dy: torch.Tensor) -> bool:
    tolerance = TOLERANCES[torch.float32]
    y, _, dx = passes(which, x, gamma, dy)
    due = rmsnorm_reference(x.double(), gamma.double())
    due_dx, _ = manual_backward(x.double(), gamma.double(), dy.double())
    return not (compare(y, due, tolerance).passed and compare(dx, due_dx, tolerance).passed)


def gradcheck_objects(
    which: Version, x: torch.Tensor, gamma: torch.Tensor, dy: torch.Tensor
) -> bool:
    """The slope of the variant's own loss along a direction, against its own gradient."""
    direction = torch.randn(x.shape, generator=generator(x.shape[1], 1)).to(x.device)
    step = 1e-2
    above, below = (passes(which, x + side * step * direction, gamma, dy)[0] for side in (1, -1))
    slope = float(((above - below).double() * dy).sum()) / (2 * step)
    _, _, dx = passes(which, x, gamma, dy)
    own = float((dx.double() * direction).sum())
    return abs(slope - own) > GRADCHECK * max(abs(slope), abs(own), 1.0)
