"""RMSNorm version 2: the same arithmetic, moved through memory with less waste.

What it changes from version 1, and why:
- Persistent programs in the backward pass: one a multiprocessor, each walking over many rows.
  The next rows are on their way into shared memory while these are reduced, and gamma is
  read once a program. The forward pass was measured faster with a small program a tile.
- Partial sums per program, not per row: dgamma's share stays in registers until the last
  row. PARTIAL shrinks from M x N to programs x N, so 8*M*N bytes of traffic and the bound
  on scratch are gone.
- Several rows a program where N is small, so that every lane has work.
- 64-bit offsets: M x N may pass 2^31. N up to 65,536 (`rmsnorm_wide.py` beyond 8,192).
- BF16 besides FP32 and FP16, and M = 0, which launches nothing and gives dgamma = 0.

Bytes (s = bytes of an element): forward 2*M*N*s + 4*M, backward 3*M*N*s + 4*M + 8*P*N with
P programs. At 32768 x 4096 in BF16: 537 MB and 805 MB. FLOPs as in version 1.
"""
# mypy: disable-error-code="no-untyped-def"

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl

from kernels.contract import Contract
from kernels.rmsnorm import CALLS, COLUMN_TILE, EPS, check_contract, gamma_kernel
from kernels.rmsnorm_wide import launch_backward_wide, launch_forward_wide

Tensor = torch.Tensor

CONTRACT = Contract(
    dtypes=(torch.float32, torch.float16, torch.bfloat16),
    max_columns=65_536,
    scratch_limit=None,
    empty_rows=True,
)

TILE = 2048  # elements that one program holds at a time, where a row is shorter than that
WIDE = 8192  # beyond this a row no longer fits in a program's registers


@triton.jit(do_not_specialize=["M"])
def forward_rows_kernel(
    X, GAMMA, Y, R, M, EPS, N: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    # 64 bits before anything is multiplied by N: M x N may pass 2^31.
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    keep = (row < M)[:, None] & (column < N)[None, :]
    place = row[:, None] * N + column[None, :]
    x = tl.load(X + place, mask=keep, other=0).to(tl.float32)
    gamma = tl.load(GAMMA + column, mask=column < N, other=0).to(tl.float32)
    r = tl.rsqrt(tl.sum(x * x, axis=1) / N + EPS)
    tl.store(Y + place, x * r[:, None] * gamma[None, :], mask=keep)
    tl.store(R + row, r, mask=row < M)


@triton.jit(do_not_specialize=["M"])
def backward_rows_kernel(
    X,
    GAMMA,
    DY,
    R,
    DX,
    PARTIAL,
    M,
    N: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
    STAGES: tl.constexpr,
):
    column = tl.arange(0, BLOCK)
    gamma = tl.load(GAMMA + column, mask=column < N, other=0).to(tl.float32)
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)  # this program's share of dgamma
    start = tl.program_id(0).to(tl.int64) * ROWS
    for first in tl.range(start, M, tl.num_programs(0) * ROWS, num_stages=STAGES):
        row = first + tl.arange(0, ROWS)
        keep = (row < M)[:, None] & (column < N)[None, :]
        place = row[:, None] * N + column[None, :]
        x = tl.load(X + place, mask=keep, other=0).to(tl.float32)
        dy = tl.load(DY + place, mask=keep, other=0).to(tl.float32)
        r = tl.load(R + row, mask=row < M, other=0)
        u = dy * gamma[None, :]
        mean_ux = tl.sum(u * x, axis=1) / N
        dx = r[:, None] * u - x * (r * r * r * mean_ux)[:, None]
        tl.store(DX + place, dx, mask=keep)
        total += dy * x * r[:, None]
    share = tl.program_id(0) * N + column
    tl.store(PARTIAL + share, tl.sum(total, axis=0), mask=column < N)


@dataclass(frozen=True)
class Plan:
    """How one shape is cut: rows a tile, warps, stages of the pipeline, programs."""

    block: int
    rows: int
    warps: int
    stages: int
    programs: int


@lru_cache(maxsize=256)
def forward_plan(rows: int, columns: int, device: torch.device) -> Plan:
    """One program a tile: many small programs hide each other's waiting."""
    block, tall = tile(rows, columns, device)
    warps = max(1, min(16, tall * block // 1024))
    return Plan(block, tall, warps, 1, triton.cdiv(rows, tall))


@lru_cache(maxsize=256)
def backward_plan(rows: int, columns: int, bytes_each: int, device: torch.device) -> Plan:
    """Persistent programs, one or two a multiprocessor, each with three tiles under way."""
    block, tall = tile(rows, columns, device)
    warps = max(1, min(16, tall * block // 512))
    # `cp.async` needs rows that start on 16-byte boundaries to move 16 bytes at once: rows of
    # 257 are not pipelined, and more programs a multiprocessor hide the waiting instead.
    piped = columns * bytes_each % 16 == 0 and columns <= WIDE
    most = 4 if columns * bytes_each % 16 else 1 if tall * block > TILE and piped else 2
    stages = 4 if piped else 1
    programs = min(triton.cdiv(rows, tall), most * multiprocessors(device))
    return Plan(block, tall, warps, stages, programs)


def tile(rows: int, columns: int, device: torch.device) -> tuple[int, int]:
    """BLOCK, and how many rows to take at once without leaving multiprocessors idle."""
    block = int(triton.next_power_of_2(columns))
    fair = max(1, rows // (2 * multiprocessors(device)))
    return block, max(1, min(TILE // block, 1 << (fair.bit_length() - 1)))


@lru_cache
def multiprocessors(device: torch.device) -> int:
    if device.type != "cuda":
        return 4  # the interpreter has none; four programs show what persistence does
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def scratch(x: Tensor) -> tuple[int, int]:
    """PARTIAL: one row a program, whatever M is."""
    rows, columns = x.shape
    return backward_plan(rows, columns, x.element_size(), x.device).programs, columns


def launch_forward(x: Tensor, gamma: Tensor, y: Tensor, inverse: Tensor, eps: float) -> Any:
    """Fill y and inverse; gives the compiled kernel where `forward_rows_kernel` did it."""
    rows, columns = x.shape
    if rows == 0:
        return None
    cut = forward_plan(rows, columns, x.device)
    with torch.cuda.device_of(x):
        if columns > WIDE:
            launch_forward_wide(x, gamma, y, inverse, eps, cut.programs)
            return None
        return forward_rows_kernel[(cut.programs,)](
            x, gamma, y, inverse, rows, eps, columns, cut.block, cut.rows, num_warps=cut.warps
        )


def launch_backward(
    x: Tensor,
    gamma: Tensor,
    dy: Tensor,
    inverse: Tensor,
    dx: Tensor,
    partial: Tensor,
    dgamma: Tensor | None,
) -> None:
    rows, columns = x.shape
    if rows == 0:
        if dgamma is not None:
            dgamma.zero_()  # a sum over no rows
        return
    cut = backward_plan(rows, columns, x.element_size(), x.device)
    with torch.cuda.device_of(x):
        if columns > WIDE:
            launch_backward_wide(x, gamma, dy, inverse, dx, partial, cut.programs)
        else:
            backward_rows_kernel[(cut.programs,)](
                x, gamma, dy, inverse, dx, partial, rows, columns, cut.block, cut.rows, cut.stages,
                num_warps=cut.warps,
            )  # fmt: skip
        if dgamma is not None:
            reduce_partial(partial, dgamma)


def reduce_partial(partial: Tensor, dgamma: Tensor) -> None:
    """Version 1's second kernel over fewer rows: tiles of 4,096 elements, as tall as PARTIAL."""
    programs, columns = partial.shape
    tall = min(128, int(triton.next_power_of_2(programs)))
    broad = max(COLUMN_TILE, min(TILE * 2 // tall, 1024))
    grid = (triton.cdiv(columns, broad),)
    gamma_kernel[grid](partial, dgamma, programs, columns, tall, broad)


def rmsnorm_rows(x: Tensor, gamma: Tensor, eps: float = EPS) -> Tensor:
    """`kernels.rmsnorm.rmsnorm` by version 2, under the wider contract above."""
    y: Tensor = RowsFunction.apply(x, gamma, eps)
    return y


class RowsFunction(torch.autograd.Function):
    """Version 2 as a node of Autograd's graph. A single backward; no double backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, eps: float) -> Tensor:
        check_contract(x, gamma, eps, contract=CONTRACT)
        y = torch.empty_like(x)
        inverse = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
        launch_forward(x, gamma, y, inverse, eps)
        ctx.save_for_backward(x, gamma, inverse)
        ctx.epsilon = eps
        CALLS["forward"] += 1
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, None]:
        x, gamma, inverse = ctx.saved_tensors
        dy = dy.contiguous()
        check_contract(x, gamma, ctx.epsilon, dy, contract=CONTRACT)
        dx, dgamma = torch.empty_like(x), torch.empty_like(gamma)
        partial = torch.empty(scratch(x), device=x.device, dtype=torch.float32)
        launch_backward(x, gamma, dy, inverse, dx, partial, dgamma)
        CALLS["backward"] += 1
        return dx, dgamma, None
