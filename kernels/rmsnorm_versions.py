"""The versions of RMSNorm by number: what a check, a benchmark or a network can run."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from kernels import rmsnorm, rmsnorm_direct, rmsnorm_fast
from kernels.contract import Contract

Tensor = torch.Tensor


@dataclass(frozen=True)
class Version:
    """One implementation, taken apart so that a check can hand it guarded buffers.

    forward(x, gamma, y, inverse, eps) fills y and inverse.
    backward(x, gamma, dy, inverse, dx, partial, dgamma) fills dx and dgamma with the help of
    `partial`; with dgamma None it leaves the reduction over rows out.
    scratch(x) is the shape of `partial`. apply(x, gamma, eps) is the whole call of a user.
    """

    number: int
    contract: Contract
    forward: Callable[[Tensor, Tensor, Tensor, Tensor, float], None]
    backward: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor | None], None]
    scratch: Callable[[Tensor], tuple[int, int]]
    apply: Callable[[Tensor, Tensor, float], Tensor]


def teaching_backward(
    x: Tensor,
    gamma: Tensor,
    dy: Tensor,
    inverse: Tensor,
    dx: Tensor,
    partial: Tensor,
    dgamma: Tensor | None,
) -> None:
    rmsnorm.launch_backward(x, gamma, dy, inverse, dx, partial)
    if dgamma is not None:
        rmsnorm.launch_gamma(partial, dgamma)


def row_by_row(x: Tensor) -> tuple[int, int]:
    return x.shape[0], x.shape[1]


TEACHING = Version(
    1, rmsnorm.CONTRACT, rmsnorm.launch_forward, teaching_backward, row_by_row, rmsnorm.rmsnorm
)

ROWS = Version(
    2,
    rmsnorm_fast.CONTRACT,
    rmsnorm_fast.launch_forward,
    rmsnorm_fast.launch_backward,
    rmsnorm_fast.scratch,
    rmsnorm_fast.rmsnorm_rows,
)

DIRECT = Version(
    3,
    rmsnorm_fast.CONTRACT,
    rmsnorm_fast.launch_forward,
    rmsnorm_direct.launch_backward,
    rmsnorm_direct.scratch,
    rmsnorm_direct.rmsnorm_direct,
)

VERSIONS: dict[int, Version] = {version.number: version for version in (TEACHING, ROWS, DIRECT)}
