"""RMSNorm, read from top to bottom: formula, oracle, contract, kernels, Autograd.

    r      = 1 / sqrt(mean(x^2) + eps)            one number a row, the mean runs over N columns
    y      = x * r * gamma                        x [M, N], gamma [N], y [M, N], r [M]
    u      = dy * gamma                           dy is dL/dy, the upstream gradient
    dx     = r * u - x * r^3 * mean(u * x)        the mean runs over N columns again
    dgamma = sum over the M rows of dy * x * r    a sum: a batch mean already arrives through dy

This file is version 1, the one the lessons explain: one program a row, one FP32 zone a row
for dgamma (PARTIAL, M x N x 4 bytes), no atomics. Faster versions are in `rmsnorm_fast.py`.

Bytes a call must move (s = bytes of an element of x): forward 2*M*N*s, backward 3*M*N*s.
Version 1 also writes PARTIAL and reads it again: 8*M*N bytes more. About 4*M*N FLOPs
forward and 11*M*N backward: far below what the bytes cost, so memory bandwidth decides.
"""
# A kernel's arguments are pointers whose types Triton finds at the call.
# mypy: disable-error-code="no-untyped-def"

import math
from typing import Any

import torch
import triton
import triton.language as tl

from kernels.contract import Contract, ContractError

EPS = 1e-6
COLUMN_TILE = 32
ROW_TILE = 32

CONTRACT = Contract(
    dtypes=(torch.float32, torch.float16), max_columns=4096, scratch_limit=64 * 2**20
)

# Passes through the wrapper below, not launches: one backward is two kernels.
CALLS = {"forward": 0, "backward": 0}


def rmsnorm(x: torch.Tensor, gamma: torch.Tensor, eps: float = EPS) -> torch.Tensor:
    """Normalise each row of x [M, N] by its root mean square and scale it by gamma [N].

    Takes what `check_contract` accepts and raises ContractError for the rest. Differentiable
    once in x and gamma.
    """
    y: torch.Tensor = RMSNormFunction.apply(x, gamma, eps)
    return y


def rmsnorm_reference(x: torch.Tensor, gamma: torch.Tensor, eps: float = EPS) -> torch.Tensor:
    """The formula in plain PyTorch: in float64 if x is float64, else in FP32; y has x's dtype."""
    exact = torch.float64 if x.dtype == torch.float64 else torch.float32
    values = x.to(exact)
    r = torch.rsqrt(values.square().mean(dim=-1, keepdim=True) + eps)
    return (values * r * gamma.to(exact)).to(x.dtype)


def manual_backward(
    x: torch.Tensor, gamma: torch.Tensor, dy: torch.Tensor, eps: float = EPS
) -> tuple[torch.Tensor, torch.Tensor]:
    """dx and dgamma in closed form, written without Autograd so that one can judge the other.

    It computes in the dtype it is given: an oracle in float64, not a recipe for FP16.
    """
    r = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + eps)
    u = dy * gamma
    dx = r * u - x * r**3 * (u * x).mean(dim=-1, keepdim=True)
    dgamma = (dy * x * r).sum(dim=0)
    return dx, dgamma


def check_contract(
    x: torch.Tensor,
    gamma: torch.Tensor,
    eps: float,
    dy: torch.Tensor | None = None,
    contract: Contract = CONTRACT,
) -> None:
    """Refuse what the kernels cannot do, before anything is allocated or written."""
    if x.ndim != 2 or gamma.ndim != 1:
        raise ContractError("rank", x=x.ndim, gamma=gamma.ndim)
    rows, columns = x.shape
    if gamma.numel() != columns:
        raise ContractError("gamma-length", gamma=gamma.numel(), columns=columns)
    if columns == 0 or (rows == 0 and not contract.empty_rows):
        raise ContractError("empty", rows=rows, columns=columns)
    for name, tensor in (("x", x), ("gamma", gamma)):
        if tensor.dtype not in contract.dtypes:
            raise ContractError(
                "dtype", tensor=name, dtype=str(tensor.dtype), accepted=contract.accepted
            )
        if not tensor.is_contiguous():
            raise ContractError("not-contiguous", tensor=name)
    if x.device != gamma.device:
        raise ContractError("devices", x=str(x.device), gamma=str(gamma.device))
    if not isinstance(eps, int | float) or not math.isfinite(eps) or eps <= 0:
        raise ContractError("epsilon", epsilon=str(eps))
    if columns > contract.max_columns:
        raise ContractError("columns", columns=columns, limit=contract.max_columns)
    if contract.max_rows is not None and rows > contract.max_rows:
        raise ContractError("rows", rows=rows, limit=contract.max_rows)
    if contract.scratch_limit is not None and rows * columns * 4 > contract.scratch_limit:
        raise ContractError("scratch", bytes=rows * columns * 4, limit=contract.scratch_limit)
    if dy is not None:
        check_upstream(x, dy)


def check_upstream(x: torch.Tensor, dy: torch.Tensor) -> None:
    """dy must look like x in everything: it is read with x's row stride."""
    if dy.shape != x.shape:
        raise ContractError("dy-shape", dy=str(tuple(dy.shape)), x=str(tuple(x.shape)))
    if dy.dtype != x.dtype:
        raise ContractError("dy-dtype", dy=str(dy.dtype), x=str(x.dtype))
    if dy.device != x.device:
        raise ContractError("dy-device", dy=str(dy.device), x=str(x.device))
    if not dy.is_contiguous():
        raise ContractError("not-contiguous", tensor="dy")


@triton.jit
def forward_kernel(X, GAMMA, Y, R, N: tl.constexpr, EPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)  # one program, one row
    column = tl.arange(0, BLOCK)  # BLOCK lanes: a power of two, at least N
    keep = column < N  # lanes from N on belong to no column
    x = tl.load(X + row * N + column, mask=keep, other=0).to(tl.float32)
    gamma = tl.load(GAMMA + column, mask=keep, other=0).to(tl.float32)
    mean_square = tl.sum(x * x, axis=0) / N  # masked lanes add 0; divide by N, never by BLOCK
    r = tl.rsqrt(mean_square + EPS)
    tl.store(Y + row * N + column, x * r * gamma, mask=keep)  # rounds to Y's dtype
    tl.store(R + row, r)  # FP32, kept for the backward pass


@triton.jit
def backward_kernel(X, GAMMA, DY, R, DX, PARTIAL, N: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    keep = column < N
    x = tl.load(X + row * N + column, mask=keep, other=0).to(tl.float32)
    gamma = tl.load(GAMMA + column, mask=keep, other=0).to(tl.float32)
    dy = tl.load(DY + row * N + column, mask=keep, other=0).to(tl.float32)
    r = tl.load(R + row)
    u = dy * gamma
    mean_ux = tl.sum(u * x, axis=0) / N  # the same N as in the forward pass
    dx = r * u - x * (r * r * r) * mean_ux
    tl.store(DX + row * N + column, dx, mask=keep)
    # This row's share of dgamma, in a zone that no other program writes: no atomics.
    tl.store(PARTIAL + row * N + column, dy * x * r, mask=keep)


@triton.jit
def gamma_kernel(PARTIAL, DGAMMA, M, N: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((COLUMNS,), dtype=tl.float32)
    for first in range(0, M, ROWS):  # always the same order, so always the same sum
        row = first + tl.arange(0, ROWS)
        keep = (row < M)[:, None] & (column < N)[None, :]
        part = tl.load(PARTIAL + row[:, None] * N + column[None, :], mask=keep, other=0)
        total += tl.sum(part, axis=0)  # a sum over the rows, never a mean
    tl.store(DGAMMA + column, total, mask=column < N)  # rounds to gamma's dtype


def launch_forward(
    x: torch.Tensor, gamma: torch.Tensor, y: torch.Tensor, inverse: torch.Tensor, eps: float
) -> None:
    """Fill y and inverse, one program a row."""
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    with torch.cuda.device_of(x):
        forward_kernel[(rows,)](x, gamma, y, inverse, columns, eps, block)


def launch_backward(
    x: torch.Tensor,
    gamma: torch.Tensor,
    dy: torch.Tensor,
    inverse: torch.Tensor,
    dx: torch.Tensor,
    partial: torch.Tensor,
) -> None:
    """Fill dx and partial, one program a row."""
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    with torch.cuda.device_of(x):
        backward_kernel[(rows,)](x, gamma, dy, inverse, dx, partial, columns, block)


def launch_gamma(partial: torch.Tensor, dgamma: torch.Tensor) -> None:
    """Sum partial over its rows into dgamma, one program for 32 columns."""
    rows, columns = partial.shape
    grid = (triton.cdiv(columns, COLUMN_TILE),)
    with torch.cuda.device_of(partial):
        gamma_kernel[grid](partial, dgamma, rows, columns, ROW_TILE, COLUMN_TILE)


class RMSNormFunction(torch.autograd.Function):
    """The kernels as one node of Autograd's graph. A single backward; no double backward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
        check_contract(x, gamma, eps)
        y = torch.empty_like(x)
        inverse = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
        launch_forward(x, gamma, y, inverse, eps)
        ctx.save_for_backward(x, gamma, inverse)
        ctx.epsilon = eps
        CALLS["forward"] += 1
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        x, gamma, inverse = ctx.saved_tensors
        dy = dy.contiguous()  # .sum().backward() sends an expanded gradient, stride 0
        check_contract(x, gamma, ctx.epsilon, dy)
        dx, dgamma = torch.empty_like(x), torch.empty_like(gamma)
        partial = torch.empty(x.shape, device=x.device, dtype=torch.float32)
        launch_backward(x, gamma, dy, inverse, dx, partial)
        launch_gamma(partial, dgamma)
        CALLS["backward"] += 1
        return dx, dgamma, None
