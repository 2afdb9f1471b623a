"""LayerNorm, version 2: the same arithmetic, moved through memory with less waste.

What it changes from version 1, and why:
- Backward is persistent: a few programs a multiprocessor, each walking over many rows with its
  share of dgamma and dbeta in registers. The zones shrink from one a tile to one a program, and
  the loads of the next row are under way while this one is reduced.
- `forward_residual` joins the residual addition and the LayerNorm behind it: the sum is written
  once and need not be read again, 4 passes over R*d elements in place of 5.
- `backward_rows` leaves the zones where they are, and one launch at the end of the backward pass
  (`add_up_all`) sums those of every norm: a launch each would be too small to fill the card and
  leaves it idle before and after. A norm's zones take the memory of its own output, which the
  sub-layer's backward pass was the last to read, so keeping them costs nothing.

Bytes (s = bytes of an element): backward with accumulate 4*R*d*s + 16*P*d with P programs (half of
16*P*d in add_up_all), forward_residual 4*R*d*s. At R = 65536, d = 768 in BF16: 403 MB, 94 us at
4.27 TB/s. The zones of gpt2-124M's 25 norms: 81 MB, 19 us. FLOPs as in version 1.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, layernorm, requirements, tiles
from kernels.andrea.operators.layernorm import EPS, forward

Tensor = torch.Tensor


@triton.jit
def k_residual_layernorm_fwd(
    X, DELTA, OUT, GAMMA, BETA, Y, MEAN, VARIANCE, R, EPS,
    D: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    keep = (row < R)[:, None] & (column < D)[None, :]
    place = row[:, None] * D + column[None, :]
    x = tl.load(X + place, mask=keep, other=0).to(tl.float32)
    x += tl.load(DELTA + place, mask=keep, other=0).to(tl.float32)
    x = x.to(OUT.dtype.element_ty).to(tl.float32)  # what the backward pass will read
    tl.store(OUT + place, x, mask=keep)
    gamma = tl.load(GAMMA + column, mask=column < D, other=0).to(tl.float32)
    beta = tl.load(BETA + column, mask=column < D, other=0).to(tl.float32)
    mean = tl.sum(x, axis=1) / D
    mean += tl.sum(tl.where(keep, x - mean[:, None], 0.0), axis=1) / D
    centred = tl.where(keep, x - mean[:, None], 0.0)
    variance = tl.sum(centred * centred, axis=1) / D
    xhat = centred * tl.rsqrt(variance + EPS)[:, None]
    tl.store(Y + place, xhat * gamma[None, :] + beta[None, :], mask=keep)
    tl.store(MEAN + row, mean, mask=row < R)
    tl.store(VARIANCE + row, variance, mask=row < R)


@triton.jit
def k_layernorm_bwd_rows(
    DY, X, GAMMA, MEAN, VARIANCE, DX, PARTIAL, R, EPS,
    D: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr, ACCUMULATE: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    column = tl.arange(0, BLOCK)
    gamma = tl.load(GAMMA + column, mask=column < D, other=0).to(tl.float32)
    dgamma = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    dbeta = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    start = tl.program_id(0).to(tl.int64) * ROWS
    for first in tl.range(start, R, tl.num_programs(0) * ROWS, num_stages=STAGES):
        row = first + tl.arange(0, ROWS)
        keep = (row < R)[:, None] & (column < D)[None, :]
        place = row[:, None] * D + column[None, :]
        x = tl.load(X + place, mask=keep, other=0).to(tl.float32)
        dy = tl.load(DY + place, mask=keep, other=0).to(tl.float32)
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
        dgamma += dy * xhat
        dbeta += dy
    share = PARTIAL + tl.program_id(0) * 2 * D + column
    tl.store(share, tl.sum(dgamma, axis=0), mask=column < D)
    tl.store(share + D, tl.sum(dbeta, axis=0), mask=column < D)


@triton.jit
def k_layernorm_sums(
    MEMORY, TABLE, PROGRAMS, D: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """The second kernel of version 1, for every norm in TABLE."""
    entry = TABLE + tl.program_id(1) * 3
    zones = MEMORY + tl.multiple_of(tl.load(entry), 16)
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    dgamma = tl.zeros((COLUMNS,), dtype=tl.float32)
    dbeta = tl.zeros((COLUMNS,), dtype=tl.float32)
    for first in range(0, PROGRAMS, ROWS):  # always the same order, so always the same sum
        zone = first + tl.arange(0, ROWS)
        keep = (zone < PROGRAMS)[:, None] & (column < D)[None, :]
        place = zone[:, None] * 2 * D + column[None, :]
        dgamma += tl.sum(tl.load(zones + place, mask=keep, other=0), axis=0)
        dbeta += tl.sum(tl.load(zones + place + D, mask=keep, other=0), axis=0)
    own = MEMORY + tl.load(entry + 1) + column
    tl.store(own, tl.load(own, mask=column < D, other=0) + dgamma, mask=column < D)
    own = MEMORY + tl.load(entry + 2) + column
    tl.store(own, tl.load(own, mask=column < D, other=0) + dbeta, mask=column < D)


def scratch(rows: int, width: int, device: torch.device) -> tuple[int, int, int]:
    """The shape of the FP32 buffer `scratch`."""
    return programs(rows, width, device), 2, width


def programs(rows: int, width: int, device: torch.device) -> int:
    tasks = triton.cdiv(rows, height(rows, width, device))
    return tiles.persistent(tasks, device, tiles.card(device).norm.programs)


def height(rows: int, width: int, device: torch.device) -> int:
    """Rows that a program takes at once."""
    return tiles.part(rows, 8, rows_at_once(width, device))


def rows_at_once(width: int, device: torch.device) -> int:
    """A power of two of rows, few enough that two sums and two tiles fit in registers."""
    made = tiles.card(device).norm
    return max(1, made.elements // tiles.block(width)) if device.type == "cuda" else 64


def forward_residual(
    x: Tensor,
    delta: Tensor,
    out: Tensor,
    gamma: Tensor,
    beta: Tensor,
    y: Tensor,
    mean: Tensor,
    variance: Tensor,
    eps: float = EPS,
) -> None:
    """out = x + delta (rounded to its dtype), then y, mean and variance of out."""
    requirements.contiguous(
        x=x, delta=delta, out=out, gamma=gamma, beta=beta, y=y, mean=mean, variance=variance
    )
    rows, width = x.shape
    tall = tiles.rows(rows, width, x.device)
    with torch.cuda.device_of(x):
        k_residual_layernorm_fwd[(triton.cdiv(rows, tall),)](
            x, delta, out, gamma, beta, y, mean, variance, rows, eps,
            width, tiles.block(width), tall,
        )  # fmt: skip


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
    requirements.contiguous(dgamma=dgamma, dbeta=dbeta)
    rows, width = x.shape
    count = programs(rows, width, x.device)
    backward_rows(dy, x, gamma, mean, variance, dx, scratch[:count], eps, accumulate)
    with torch.cuda.device_of(x):
        layernorm.add_up(scratch, dgamma, dbeta, count)


def backward_rows(
    dy: Tensor,
    x: Tensor,
    gamma: Tensor,
    mean: Tensor,
    variance: Tensor,
    dx: Tensor,
    zones: Tensor,
    eps: float = EPS,
    accumulate: bool = False,
) -> None:
    """dx as `backward`; the shares of dgamma and dbeta stay in zones [P, 2, d], for P programs."""
    requirements.contiguous(
        dy=dy, x=x, gamma=gamma, mean=mean, variance=variance, dx=dx, zones=zones
    )
    rows, width = x.shape
    tall, made = height(rows, width, x.device), tiles.card(x.device).norm
    with torch.cuda.device_of(x):
        k_layernorm_bwd_rows[(len(zones),)](
            dy, x, gamma, mean, variance, dx, zones, rows, eps,
            width, tiles.block(width), tall, accumulate, made.stages, num_warps=made.warps,
        )  # fmt: skip


def zones_in(output: Tensor) -> Tensor | None:
    """FP32 zones in the memory of a norm's output, one a program; None without room for one."""
    rows, width = output.shape
    count = min(programs(rows, width, output.device), output.nbytes // (8 * width))
    taken = output.view(-1)[: count * width * 8 // output.element_size()]
    return taken.view(torch.float32).view(count, 2, width) if count else None


def add_up_all(memory: Tensor, table: Tensor, programs: int, width: int) -> None:
    """dgamma and dbeta += their zones, for every norm. `memory` is FP32 and holds them all; a row
    of table [norms, 3] int64 says where in it zones, dgamma and dbeta begin, zones at multiples
    of 16."""
    requirements.contiguous(memory=memory, table=table)
    made = tiles.card(memory.device).sums
    columns = tiles.columns(width, memory.device, made.columns)
    tall = layernorm.zones_at_once(programs, made.zones)
    with torch.cuda.device_of(memory):
        k_layernorm_sums[(triton.cdiv(width, columns), len(table))](
            memory, table, programs, width, tall, columns
        )


PAIR = Pair(forward, backward)
