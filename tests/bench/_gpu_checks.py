"""What has to be right on the card before anything is timed there."""

import subprocess
import sys
from collections.abc import Iterator

import torch

from kernels.checking import TOLERANCES, compare, generator
from kernels.events import Verdict
from kernels.mutating import mutated
from kernels.procedures.rmsnorm import checks, why
from kernels.procedures.rmsnorm.inputs import draw, places, specials
from kernels.rmsnorm import EPS, manual_backward, rmsnorm_reference
from kernels.rmsnorm_mutants import MUTANTS, Check
from kernels.rmsnorm_versions import VERSIONS

CHECKS = {
    Check.FORWARD: (checks.run_forward, why.forward),
    Check.BACKWARD: (checks.run_backward, why.backward),
    Check.GAMMA: (checks.run_gamma, why.gamma),
}
Shapes = tuple[tuple[int, int], ...]
SHAPES: Shapes = ((1, 1), (1, 257), (17, 3), (128, 257), (31, 255), (500, 4095), (512, 4096))
WIDER: Shapes = ((1000, 8192), (513, 64), (70_000, 33), (9, 16_384), (3, 65_536), (300, 9001))
BEYOND = (1_100_000, 2048)  # 2.25e9 elements: an offset in 32 bits would wrap


def procedures(versions: tuple[int, ...] = (1, 2, 3)) -> dict[str, bool]:
    """Every check with every version, as commands, side by side."""
    names = [f"rmsnorm.{name}" for name in (*Check, "contract", "environment", "reference")]
    started = {}
    for name in names:
        for version in versions if name[8:] not in ("environment", "reference") else (1,):
            command = [sys.executable, "-m", "kernels", name, "--device", "cuda", "--json"]
            command += ["--version", str(version)]
            started[f"{name} version {version}"] = subprocess.Popen(
                command, stdout=subprocess.DEVNULL
            )
    return {name: child.wait() == 0 for name, child in started.items()}


def whole_calls() -> Iterator[tuple[str, bool]]:
    """y, dx and dgamma through Autograd, twice on fresh values: the second call of versions 3
    and 4 takes the short way."""
    for number, version in VERSIONS.items():
        dtypes = version.contract.dtypes
        shapes = SHAPES + WIDER if number in (2, 3) else SHAPES
        for dtype in dtypes:
            for shape in shapes:
                good = all(right(number, shape, dtype, seed) for seed in (1, 2))
                yield f"version {number}, {shape[0]} x {shape[1]}, {dtype}", good
        yield f"version {number}, from odd addresses", right(number, (16, 63), torch.float32, 3, 1)


def right(
    number: int, shape: tuple[int, int], dtype: torch.dtype, seed: int, shift: int = 0
) -> bool:
    """Whether one whole call is right; `shift` moves x off its 16-byte boundary."""
    source = generator(seed, *shape)
    rows, columns = shape
    memory = torch.randn(rows * columns + shift, generator=source).to("cuda", dtype)
    x = memory[shift:].view(shape)
    dy = torch.randn(shape, generator=source).to("cuda", dtype)
    gamma = torch.randn(columns, generator=source).to("cuda", dtype)
    x.requires_grad_()
    gamma.requires_grad_()
    try:
        y = VERSIONS[number].apply(x, gamma, EPS)
    except ValueError:
        return number == 4 and shift == 1  # version 4 refuses what is not aligned
    y.backward(dy)
    exact = (x.detach().double(), gamma.detach().double(), dy.double())
    due = (rmsnorm_reference(*exact[:2]), *manual_backward(*exact))
    got = (y.detach(), x.grad, gamma.grad)
    return all(
        g is not None and compare(g, d, TOLERANCES[dtype]).passed
        for g, d in zip(got, due, strict=True)
    )


def mutants() -> Iterator[tuple[str, str]]:
    """For each mutant the first case that kills it on this card and the pattern named."""
    device = torch.device("cuda")
    chosen = [p for p in places(1) if p.place[2] == 0 and p.columns in (31, 257)]
    for mutant in MUTANTS:
        launch, explain = CHECKS[mutant.killed_by]
        inputs = [(draw(p, device), draw(p, device, fresh=True)) for p in chosen]
        killed = ""
        for given in (*inputs, *((special,) for special in specials(device))):
            case = checks.judge(mutated(mutant.name), launch, explain, *given)
            if case.verdict is Verdict.FAILED:
                killed = f"{case.id} ({case.why.code if case.why else ''})"
                break
        yield mutant.name, killed


def beyond_2_31(number: int = 3) -> bool:
    """Forward and backward over more than 2^31 elements: the last rows and dgamma are right."""
    rows, columns = BEYOND
    x, dy = (torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    gamma = torch.randn(columns, device="cuda", dtype=torch.bfloat16)
    x.requires_grad_()
    gamma.requires_grad_()
    y = VERSIONS[number].apply(x, gamma, EPS)
    y.backward(dy)
    assert x.grad is not None and gamma.grad is not None
    total = torch.zeros(columns, device="cuda", dtype=torch.float64)
    good, tolerance = True, TOLERANCES[torch.bfloat16]
    for first in range(0, rows, 50_000):
        part = slice(first, first + 50_000)
        exact = (x[part].detach().double(), gamma.detach().double(), dy[part].double())
        dx, dgamma = manual_backward(*exact)
        total += dgamma
        good &= compare(y[part].detach(), rmsnorm_reference(*exact[:2]), tolerance).passed
        good &= compare(x.grad[part], dx, tolerance).passed
    return good and compare(gamma.grad, total, tolerance).passed
