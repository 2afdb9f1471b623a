"""Cross-entropy, version 2: a row is read from memory once and its gradient written over it.

What it changes from version 1, and why:
- The largest value and the sum are found in one walk (online softmax): when a larger value
  turns up, the sum so far shrinks by exp(old - new). `forward` reads R*V elements once, not twice.
- Every 8 neighbouring columns, 16 bytes in 16 bits, have a largest value and a sum of their own,
  which one thread holds: the threads meet once a row, not once a tile.
- `forward_backward` does both passes for a row in one program. The row's second reading comes
  from the L2 cache if the rows in work fit in it, so few programs walk over all rows: with 8 a
  multiprocessor an H200 would hold 1056 x 100 kB, twice its cache. Memory then sees one read and
  one write: 2*R*V*s bytes in place of 4*R*V*s. At R = 8192, V = 50,304 in BF16: 1.65 GB, 386 us
  at 4.27 TB/s. 2*R*V exponentials and about 8*R*V FLOPs: 0.8 G and 3.3 GFLOP there.
- The label's column is put right after its row, so that no other column is compared with it.
- On a card the gradient is rounded two numbers at a time (`rounding`), and where whole rows fit
  into the registers of a program `forward_backward` is `loss_held`'s.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, loss_held, requirements, tiles
from kernels.andrea.operators.loss import backward, mean
from kernels.andrea.operators.rounding import assembler, narrow

Tensor = torch.Tensor


@triton.jit
def columns(first, BLOCK: tl.constexpr):
    """Column numbers [1, BLOCK / 8, 8]."""
    group = tl.arange(0, BLOCK // 8)[None, :, None] * 8
    return first + group + tl.arange(0, 8)[None, None, :]


@triton.jit
def power(x):
    """exp x, a third of its instructions: exp2 takes what is too small for FP32 as 0."""
    return tl.exp2(x * 1.4426950408889634)


@triton.jit
def row_lse(start, row, R, V, WIDTH, ROWS: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """log sum exp of rows, in one walk. WIDTH >= V columns may be read, V count."""
    largest = tl.full((ROWS, BLOCK // 8), float("-inf"), dtype=tl.float32)
    total = tl.zeros((ROWS, BLOCK // 8), dtype=tl.float32)
    whole = V // BLOCK * BLOCK
    for part in tl.static_range(2):  # whole tiles, then the rest
        low = 0 if part == 0 else whole
        high = whole if part == 0 else V
        for first in tl.range(low, high, BLOCK, num_stages=STAGES):
            column = columns(first, BLOCK)
            if part == 0 and ROWS == 1:
                x = tl.load(start + column, eviction_policy="evict_last").to(tl.float32)
            else:
                keep = (row < R)[:, None, None] & (column < WIDTH)
                x = tl.load(start + column, mask=keep, other=float("-inf")).to(tl.float32)
                x = tl.where(column < V, x, float("-inf"))
            higher = tl.maximum(largest, tl.max(x, axis=2))
            base = tl.where(higher == float("-inf"), 0.0, higher)  # -inf - -inf would be NaN
            total = total * power(largest - base) + tl.sum(power(x - base[:, :, None]), axis=2)
            largest = higher
    higher = tl.max(largest, axis=1)
    base = tl.where(higher == float("-inf"), 0.0, higher)
    total = tl.sum(total * power(largest - base[:, None]), axis=1)
    return higher + tl.log(tl.where(row < R, total, 1.0))


@triton.jit
def k_loss_fwd_online(
    LOGITS, TARGETS, LOSSES, LSE, R, V, LOGITS_ROW,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    start = LOGITS + (row * LOGITS_ROW)[:, None, None]
    lse = row_lse(start, row, R, V, V, ROWS, BLOCK, STAGES)
    target = tl.load(TARGETS + row, mask=row < R, other=-1)
    real = (target >= 0) & (target < V)
    picked = tl.load(LOGITS + row * LOGITS_ROW + target, mask=real, other=float("nan"))
    tl.store(LOSSES + row, tl.where(target >= 0, lse - picked.to(tl.float32), 0.0), mask=row < R)
    tl.store(LSE + row, lse, mask=row < R)


@triton.jit
def k_loss_fwd_bwd(
    LOGITS, TARGETS, COUNT, UPSTREAM, LOSSES, R, V, WIDTH, LOGITS_ROW, UPSTREAM_ROW,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr, ASSEMBLER: tl.constexpr,
):  # fmt: skip
    """Columns from V to WIDTH are not of the vocabulary: they count for nothing and become 0."""
    every = tl.num_programs(0) * ROWS
    for above in tl.range(tl.program_id(0).to(tl.int64) * ROWS, R, every, num_stages=1):
        row = above + tl.arange(0, ROWS)
        start = LOGITS + (row * LOGITS_ROW)[:, None, None]
        lse = row_lse(start, row, R, V, WIDTH, ROWS, BLOCK, STAGES)
        target = tl.load(TARGETS + row, mask=row < R, other=-1)
        kept = target >= 0
        real = kept & (target < V)
        label = LOGITS + row * LOGITS_ROW + target
        picked = tl.load(label, mask=real, other=float("nan")).to(tl.float32)
        tl.store(LOSSES + row, tl.where(kept, lse - picked, 0.0), mask=row < R)
        upstream = tl.load(UPSTREAM + row * UPSTREAM_ROW, mask=row < R, other=0)
        share = tl.where(kept, upstream / tl.maximum(tl.load(COUNT), 1.0), 0.0)
        # No store may pass the load of `picked`, which another thread of this program made.
        tl.debug_barrier()
        whole = V // BLOCK * BLOCK
        for part in tl.static_range(2):
            low = 0 if part == 0 else whole
            high = whole if part == 0 else WIDTH
            for first in tl.range(low, high, BLOCK, num_stages=STAGES):
                column = columns(first, BLOCK)
                keep = (row < R)[:, None, None] & (column < WIDTH)
                if part == 0 and ROWS == 1:
                    x = tl.load(start + column, eviction_policy="evict_first").to(tl.float32)
                else:
                    x = tl.load(start + column, mask=keep, other=float("-inf")).to(tl.float32)
                    x = tl.where(column < V, x, float("-inf"))
                softmax = power(x - lse[:, None, None])
                slope = tl.where(kept[:, None, None], softmax * share[:, None, None], 0.0)
                slope = narrow(slope, LOGITS.dtype.element_ty, ASSEMBLER)
                if part == 0 and ROWS == 1:
                    tl.store(start + column, slope)
                else:
                    tl.store(start + column, slope, mask=keep)
        # Nor may the label's store pass that of its column, which may be another thread's.
        tl.debug_barrier()
        tl.store(label, (power(picked - lse) - 1.0) * share, mask=real)  # p - 1 in FP32


def forward(
    logits: Tensor, targets: Tensor, count: Tensor, losses: Tensor, lse: Tensor, loss: Tensor
) -> None:
    """Fill losses and lse [R], and loss[0]."""
    requirements.rows(logits=logits)
    requirements.contiguous(targets=targets, count=count, losses=losses, lse=lse, loss=loss)
    rows, vocabulary = logits.shape
    tall, block = sides(rows, vocabulary, logits.device)
    made = tiles.card(logits.device).loss
    with torch.cuda.device_of(logits):
        k_loss_fwd_online[(triton.cdiv(rows, tall),)](
            logits, targets, losses, lse, rows, vocabulary, logits.stride(0), tall, block,
            made.stages, num_warps=made.warps,
        )  # fmt: skip
        mean(losses, count, loss)


def forward_backward(
    logits: Tensor,
    targets: Tensor,
    count: Tensor,
    upstream: Tensor,
    losses: Tensor,
    loss: Tensor,
    behind: int = 0,
) -> None:
    """Fill losses and loss[0]; logits become dlogits, in place, and the `behind` columns of
    memory after each of their rows become 0."""
    requirements.rows(logits=logits)
    requirements.contiguous(
        targets=targets, count=count, upstream=upstream, losses=losses, loss=loss
    )
    with torch.cuda.device_of(logits):
        if loss_held.fits(logits, behind):
            loss_held.launch(logits, targets, count, upstream, losses, behind)
        else:
            launch(logits, targets, count, upstream, losses, behind)
        mean(losses, count, loss)


def launch(
    logits: Tensor,
    targets: Tensor,
    count: Tensor,
    upstream: Tensor,
    losses: Tensor,
    behind: int,
) -> None:
    rows, vocabulary = logits.shape
    tall, block = sides(rows, vocabulary, logits.device)
    made = tiles.card(logits.device).loss
    programs = tiles.few(triton.cdiv(rows, tall))
    if logits.is_cuda:
        programs = min(programs, made.programs * tiles.multiprocessors(logits.device))
    k_loss_fwd_bwd[(programs,)](
        logits, targets, count, upstream, losses, rows, vocabulary, vocabulary + behind,
        logits.stride(0), 0 if upstream.numel() == 1 else 1, tall, block, made.stages,
        assembler(logits), num_warps=made.warps,
    )  # fmt: skip


def sides(rows: int, vocabulary: int, device: torch.device) -> tuple[int, int]:
    """Rows a program takes, and columns at a time."""
    block = tiles.columns(vocabulary, device, tiles.card(device).loss.elements)
    whole = device.type == "cuda" or tiles.is_cut()
    return 1 if whole else tiles.rows(rows, block, device), block


PAIR = Pair(forward, backward)
