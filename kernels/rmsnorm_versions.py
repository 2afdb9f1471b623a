"""The versions of RMSNorm by number: what a check, a benchmark or a network can run."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import torch

from kernels import rmsnorm, rmsnorm_direct, rmsnorm_fast, rmsnorm_native
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


def teaching(module: ModuleType) -> Version:
    """Version 1, from `kernels.rmsnorm` or from a mutant of it."""

    def backward(
        x: Tensor,
        gamma: Tensor,
        dy: Tensor,
        inverse: Tensor,
        dx: Tensor,
        partial: Tensor,
        dgamma: Tensor | None,
    ) -> None:
        module.launch_backward(x, gamma, dy, inverse, dx, partial)
        if dgamma is not None:
            module.launch_gamma(partial, dgamma)

    return Version(1, module.CONTRACT, module.launch_forward, backward, row_by_row, module.rmsnorm)


def row_by_row(x: Tensor) -> tuple[int, int]:
    return x.shape[0], x.shape[1]


TEACHING = teaching(rmsnorm)

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

NATIVE = Version(
    4,
    rmsnorm_native.CONTRACT,
    rmsnorm_fast.launch_forward,
    rmsnorm_direct.launch_backward,
    rmsnorm_direct.scratch,
    rmsnorm_native.rmsnorm_native,
)

VERSIONS = {version.number: version for version in (TEACHING, ROWS, DIRECT, NATIVE)}
