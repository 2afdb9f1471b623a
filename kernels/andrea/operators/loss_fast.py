"""Cross-entropy, version 2: a row is read from memory once and its gradient written over it.

What it changes from version 1, and why:
- The largest value and the sum are found in one walk (online softmax): when a larger value
  turns up, the sum so far shrinks by exp(old - new). `forward` reads R*V elements once, not twice.
- `forward_backward` does both passes for a row in one program. The row's second reading comes
  from the L2 cache, which holds the rows in work (132 x 100 kB on an H200), so that memory sees
  one read and one write: 2*R*V*s bytes in place of 4*R*V*s. At R = 8192, V = 50,304 in BF16:
  1.65 GB, 386 us at 4.27 TB/s. 2*R*V exponentials.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles
from kernels.andrea.operators.loss import backward, mean

Tensor = torch.Tensor
BLOCK = 4096  # columns a program takes at a time
WARPS = 8
STAGES = 3  # tiles under way: the next are fetched while this one is summed


@triton.jit
def row_lse(start, row, R, V, ROWS: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """log sum exp of rows, in one walk. Whole tiles of -inf add nothing."""
    largest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    whole = V // BLOCK * BLOCK
    for part in tl.static_range(2):  # whole tiles, then the rest: a mask at V costs wide loads
        low = 0 if part == 0 else whole
        high = whole if part == 0 else V
        for first in tl.range(low, high, BLOCK, num_stages=STAGES):
            column = first + tl.arange(0, BLOCK)[None, :]
            if part == 0 and ROWS == 1:
                x = tl.load(start + column, eviction_policy="evict_last").to(tl.float32)
            else:
                keep = (row < R)[:, None] & (column < V)
                x = tl.load(start + column, mask=keep, other=float("-inf")).to(tl.float32)
            higher = tl.maximum(largest, tl.max(x, axis=1))
            base = tl.where(higher == float("-inf"), 0.0, higher)  # -inf - -inf would be NaN
            total = total * tl.exp(largest - base) + tl.sum(tl.exp(x - base[:, None]), axis=1)
            largest = higher
    return largest + tl.log(tl.where(row < R, total, 1.0))


@triton.jit
def k_loss_fwd_online(
    LOGITS, TARGETS, LOSSES, LSE, R, V, LOGITS_ROW,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    lse = row_lse(LOGITS + row[:, None] * LOGITS_ROW, row, R, V, ROWS, BLOCK, STAGES)
    target = tl.load(TARGETS + row, mask=row < R, other=-1)
    real = (target >= 0) & (target < V)
    picked = tl.load(LOGITS + row * LOGITS_ROW + target, mask=real, other=float("nan"))
    tl.store(LOSSES + row, tl.where(target >= 0, lse - picked.to(tl.float32), 0.0), mask=row < R)
    tl.store(LSE + row, lse, mask=row < R)


@triton.jit
def k_loss_fwd_bwd(
    LOGITS, TARGETS, COUNT, UPSTREAM, LOSSES, R, V, LOGITS_ROW, UPSTREAM_ROW,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    start = LOGITS + row[:, None] * LOGITS_ROW
    lse = row_lse(start, row, R, V, ROWS, BLOCK, STAGES)
    target = tl.load(TARGETS + row, mask=row < R, other=-1)
    kept = target >= 0
    nowhere = float("nan")
    picked = tl.load(LOGITS + row * LOGITS_ROW + target, mask=kept & (target < V), other=nowhere)
    tl.store(LOSSES + row, tl.where(kept, lse - picked.to(tl.float32), 0.0), mask=row < R)
    upstream = tl.load(UPSTREAM + row * UPSTREAM_ROW, mask=row < R, other=0)
    share = tl.where(kept, upstream / tl.maximum(tl.load(COUNT), 1.0), 0.0)
    # No store may pass the load of `picked`, which another thread of this program made.
    tl.debug_barrier()
    whole = V // BLOCK * BLOCK
    for part in tl.static_range(2):
        low = 0 if part == 0 else whole
        high = whole if part == 0 else V
        for first in tl.range(low, high, BLOCK, num_stages=STAGES):
            column = first + tl.arange(0, BLOCK)[None, :]
            keep = (row < R)[:, None] & (column < V)
            if part == 0 and ROWS == 1:
                x = tl.load(start + column, eviction_policy="evict_first").to(tl.float32)
            else:
                x = tl.load(start + column, mask=keep, other=float("-inf")).to(tl.float32)
            slope = tl.exp(x - lse[:, None]) - tl.where(column == target[:, None], 1.0, 0.0)
            slope = tl.where(kept[:, None], slope, 0.0) * share[:, None]
            if part == 0 and ROWS == 1:
                tl.store(start + column, slope)
            else:
                tl.store(start + column, slope, mask=keep)


def forward(
    logits: Tensor, targets: Tensor, count: Tensor, losses: Tensor, lse: Tensor, loss: Tensor
) -> None:
    """Fill losses and lse [R], and loss[0]."""
    requirements.rows(logits=logits)
    requirements.contiguous(targets=targets, count=count, losses=losses, lse=lse, loss=loss)
    rows, vocabulary = logits.shape
    tall, block = sides(rows, vocabulary, logits.device)
    with torch.cuda.device_of(logits):
        k_loss_fwd_online[(triton.cdiv(rows, tall),)](
            logits, targets, losses, lse, rows, vocabulary, logits.stride(0), tall, block, STAGES,
            num_warps=WARPS,
        )  # fmt: skip
        mean(losses, count, loss)


def forward_backward(
    logits: Tensor, targets: Tensor, count: Tensor, upstream: Tensor, losses: Tensor, loss: Tensor
) -> None:
    """Fill losses and loss[0]; logits become dlogits, in place."""
    requirements.rows(logits=logits)
    requirements.contiguous(
        targets=targets, count=count, upstream=upstream, losses=losses, loss=loss
    )
    rows, vocabulary = logits.shape
    tall, block = sides(rows, vocabulary, logits.device)
    with torch.cuda.device_of(logits):
        k_loss_fwd_bwd[(triton.cdiv(rows, tall),)](
            logits, targets, count, upstream, losses, rows, vocabulary, logits.stride(0),
            0 if upstream.numel() == 1 else 1, tall, block, STAGES, num_warps=WARPS,
        )  # fmt: skip
        mean(losses, count, loss)


def sides(rows: int, vocabulary: int, device: torch.device) -> tuple[int, int]:
    """Rows a program takes, and columns at a time."""
    if device.type == "cuda":
        return 1, min(tiles.block(vocabulary), BLOCK)
    block = min(tiles.block(vocabulary), 2**17)
    return tiles.rows(rows, block, device), block


PAIR = Pair(forward, backward)
