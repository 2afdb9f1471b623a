"""LayerNorm, read from top to bottom: formula, oracle, kernels.

    mu    = mean(x)                     one number a row, over the d columns of x [R, d]; twice:
                                        the mean of x - mu puts back what rounding took
    var   = mean((x - mu)^2)            of the differences: E[x^2] - mu^2 would cancel
    rstd  = 1 / sqrt(var + eps)         eps inside the root
    xhat  = (x - mu) * rstd
    y     = gamma * xhat + beta         gamma, beta [d]
    g     = dy * gamma
    dx    = rstd * (g - mean(g) - xhat * mean(g * xhat))
    dbeta  += sum over the rows of dy
    dgamma += sum over the rows of dy * xhat

Saved: x, mean and variance, in FP32. With accumulate, dx is added to what its buffer holds:
the gradient that came along the residual stream.

Version 1: a program takes a few whole rows. Their share of dgamma and dbeta goes to a zone of
its own in `scratch` (no atomics), which a second kernel sums in a fixed order.
Bytes (s = bytes of an element): forward 2*R*d*s, backward 3*R*d*s (4 with accumulate) and
16*P*d for the zones of P programs. About 8*R*d FLOPs forward, 14*R*d backward: bandwidth decides.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles

Tensor = torch.Tensor
EPS = 1e-5
COLUMNS = 8  # that a program of the second kernel sums
ZONES = 512  # of which it reads that many at once


def reference_forward(
    x: Tensor, gamma: Tensor, beta: Tensor, eps: float = EPS
) -> tuple[Tensor, Tensor, Tensor]:
    """y, mean and variance."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x - mean).square().mean(dim=-1, keepdim=True)
    y = (x - mean) * torch.rsqrt(variance + eps) * gamma + beta
    return y, mean[:, 0], variance[:, 0]


def reference_backward(
    dy: Tensor, x: Tensor, gamma: Tensor, eps: float = EPS
) -> tuple[Tensor, Tensor, Tensor]:
    """dx, dgamma, dbeta in closed form."""
    mean = x.mean(dim=-1, keepdim=True)
    rstd = torch.rsqrt((x - mean).square().mean(dim=-1, keepdim=True) + eps)
    xhat = (x - mean) * rstd
    g = dy * gamma
    along = (g * xhat).mean(dim=-1, keepdim=True)
    dx = rstd * (g - g.mean(dim=-1, keepdim=True) - xhat * along)
    return dx, (dy * xhat).sum(dim=0), dy.sum(dim=0)


@triton.jit
def k_layernorm_fwd(
    X, GAMMA, BETA, Y, MEAN, VARIANCE, R, EPS,
    D: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)  # BLOCK lanes, a power of two: those from D on are masked
    keep = (row < R)[:, None] & (column < D)[None, :]
    place = row[:, None] * D + column[None, :]
    x = tl.load(X + place, mask=keep, other=0).to(tl.float32)
    gamma = tl.load(GAMMA + column, mask=column < D, other=0).to(tl.float32)
    beta = tl.load(BETA + column, mask=column < D, other=0).to(tl.float32)
    mean = tl.sum(x, axis=1) / D
    mean += tl.sum(tl.where(keep, x - mean[:, None], 0.0), axis=1) / D  # what rounding took
    centred = tl.where(keep, x - mean[:, None], 0.0)  # a masked lane would hold -mean
    variance = tl.sum(centred * centred, axis=1) / D
    xhat = centred * tl.rsqrt(variance + EPS)[:, None]
    tl.store(Y + place, xhat * gamma[None, :] + beta[None, :], mask=keep)
    tl.store(MEAN + row, mean, mask=row < R)
    tl.store(VARIANCE + row, variance, mask=row < R)


@triton.jit
def k_layernorm_bwd(
    DY, X, GAMMA, MEAN, VARIANCE, DX, PARTIAL, R, EPS,
    D: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr, ACCUMULATE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    keep = (row < R)[:, None] & (column < D)[None, :]
    place = row[:, None] * D + column[None, :]
    x = tl.load(X + place, mask=keep, other=0).to(tl.float32)
    dy = tl.load(DY + place, mask=keep, other=0).to(tl.float32)
    gamma = tl.load(GAMMA + column, mask=column < D, other=0).to(tl.float32)
    mean = tl.load(MEAN + row, mask=row < R, other=0)
    rstd = tl.rsqrt(tl.load(VARIANCE + row, mask=row < R, other=0) + EPS)
    xhat = tl.where(keep, (x - mean[:, None]) * rstd[:, None], 0.0)
    g = dy * gamma[None, :]
    mean_g = tl.sum(g, axis=1) / D
    mean_gx = tl.sum(g * xhat, axis=1) / D
    dx = rstd[:, None] * (g - mean_g[:, None] - xhat * mean_gx[:, None])
    if ACCUMULATE:
        dx += tl.load(DX + place, mask=keep, other=0).to(tl.float32)
    tl.store(DX + place, dx, mask=keep)
    share = PARTIAL + tl.program_id(0).to(tl.int64) * 2 * D + column  # this program's zone
    tl.store(share, tl.sum(dy * xhat, axis=0), mask=column < D)
    tl.store(share + D, tl.sum(dy, axis=0), mask=column < D)


@triton.jit
def k_layernorm_sum(
    PARTIAL, DGAMMA, DBETA, PROGRAMS, D: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    dgamma = tl.zeros((COLUMNS,), dtype=tl.float32)
    dbeta = tl.zeros((COLUMNS,), dtype=tl.float32)
    for first in range(0, PROGRAMS, ROWS):  # always the same order, so always the same sum
        zone = (first + tl.arange(0, ROWS)).to(tl.int64)
        keep = (zone < PROGRAMS)[:, None] & (column < D)[None, :]
        place = zone[:, None] * 2 * D + column[None, :]
        dgamma += tl.sum(tl.load(PARTIAL + place, mask=keep, other=0), axis=0)
        dbeta += tl.sum(tl.load(PARTIAL + place + D, mask=keep, other=0), axis=0)
    keep = column < D
    tl.store(DGAMMA + column, tl.load(DGAMMA + column, mask=keep, other=0) + dgamma, mask=keep)
    tl.store(DBETA + column, tl.load(DBETA + column, mask=keep, other=0) + dbeta, mask=keep)


def scratch(rows: int, width: int, device: torch.device) -> tuple[int, int, int]:
    """The shape of the FP32 buffer `scratch`: a zone for dgamma and one for dbeta a program."""
    return triton.cdiv(rows, tiles.rows(rows, width, device)), 2, width


def forward(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    y: Tensor,
    mean: Tensor,
    variance: Tensor,
    eps: float = EPS,
) -> None:
    """Fill y, mean and variance."""
    requirements.contiguous(x=x, gamma=gamma, beta=beta, y=y, mean=mean, variance=variance)
    rows, width = x.shape
    tall = tiles.rows(rows, width, x.device)
    with torch.cuda.device_of(x):
        k_layernorm_fwd[(triton.cdiv(rows, tall),)](
            x, gamma, beta, y, mean, variance, rows, eps, width, tiles.block(width), tall
        )


def backward(
    dy: Tensor,
    x: Tensor,
    gamma: Tensor,
    mean: Tensor,
    variance: Tensor,
    dx: Tensor,
    dgamma: Tensor,
    dbeta: Tensor,
    scratch: Tensor,
    eps: float = EPS,
    accumulate: bool = False,
) -> None:
    """dx = the gradient of x (+= with accumulate); dgamma and dbeta += theirs."""
    requirements.contiguous(
        dy=dy,
        x=x,
        gamma=gamma,
        mean=mean,
        variance=variance,
        dx=dx,
        dgamma=dgamma,
        dbeta=dbeta,
        scratch=scratch,
    )
    rows, width = x.shape
    tall = tiles.rows(rows, width, x.device)
    programs = triton.cdiv(rows, tall)
    with torch.cuda.device_of(x):
        k_layernorm_bwd[(programs,)](
            dy, x, gamma, mean, variance, dx, scratch, rows, eps,
            width, tiles.block(width), tall, accumulate,
        )  # fmt: skip
        add_up(scratch, dgamma, dbeta, programs)


def add_up(scratch: Tensor, dgamma: Tensor, dbeta: Tensor, programs: int) -> None:
    """dgamma and dbeta += the zones of that many programs."""
    width = dgamma.numel()
    columns = tiles.columns(width, scratch.device, COLUMNS)
    tall = zones_at_once(programs, ZONES)
    k_layernorm_sum[(triton.cdiv(width, columns),)](
        scratch, dgamma, dbeta, programs, width, tall, columns
    )


def zones_at_once(programs: int, most: int) -> int:
    few = max(1, tiles.power(programs) // 4)
    return few if tiles.is_cut() else min(most, tiles.power(programs))


PAIR = Pair(forward, backward)
