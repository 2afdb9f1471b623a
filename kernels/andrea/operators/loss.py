"""Cross-entropy, read from top to bottom: formula, oracle, kernels.

    lse[r]  = log sum over j of exp(logits[r, j])      computed as m + log sum exp(logits - m)
    loss[r] = lse[r] - logits[r, target[r]]            m the row's largest: exp cannot overflow
    loss    = sum of loss[r] / count                   count: targets that are not ignored
    dlogits = (softmax(logits) - onehot(target)) / count * upstream

A target of -1 is ignored: its loss and its gradient are zero, and it is not counted. With all
ignored the loss is 0. A target of V or more makes the loss NaN: refuse it before. upstream is
dL/dloss, 1 or the loss scale, one number or one a row. dlogits overwrite logits: a second buffer
of R*V elements would be the largest of the whole engine.

Saved: logits and lse. Uniform logits give ln V; each row of dlogits sums to 0.

Version 1: a program walks over whole rows, BLOCK columns at a time, twice forward (for the
largest, then for the sum) and once backward. Bytes (s = bytes of an element): 2*R*V*s forward,
2*R*V*s backward. About 3*R*V FLOPs and R*V exponentials each way.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles

Tensor = torch.Tensor
IGNORED = -1
COLUMNS = 4096  # of a row that a program takes at a time
LARGEST = 8192  # numbers that the one program of a count or a mean reads at a time


def reference_forward(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """loss (a scalar), losses [R] and lse [R]."""
    kept = targets >= 0
    lse = logits.logsumexp(dim=-1)
    picked = logits.gather(1, targets.clamp(min=0).long()[:, None])[:, 0]
    losses = torch.where(kept, lse - picked, 0.0)
    return losses.sum() / kept.sum().clamp(min=1), losses, lse


def reference_backward(logits: Tensor, targets: Tensor, upstream: Tensor) -> Tensor:
    """dlogits [R, V]; upstream is one number or one a row."""
    kept = targets >= 0
    slope = logits.softmax(dim=-1)
    hot = torch.nn.functional.one_hot(targets.clamp(min=0).long(), logits.shape[1])
    share = (kept * upstream).to(logits.dtype) / kept.sum().clamp(min=1)
    return torch.where(kept[:, None], (slope - hot) * share[:, None], 0.0)


@triton.jit
def k_loss_count(TARGETS, COUNT, R, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, R, BLOCK):
        row = first + tl.arange(0, BLOCK)
        target = tl.load(TARGETS + row, mask=row < R, other=-1)
        total += tl.where(target >= 0, 1.0, 0.0)
    tl.store(COUNT, tl.sum(total, axis=0))


@triton.jit
def k_loss_fwd(
    LOGITS, TARGETS, LOSSES, LSE, R, V, LOGITS_ROW, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    start = LOGITS + row[:, None] * LOGITS_ROW
    largest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    for first in range(0, V, BLOCK):
        column = first + tl.arange(0, BLOCK)
        keep = (row < R)[:, None] & (column < V)[None, :]
        x = tl.load(start + column[None, :], mask=keep, other=float("-inf")).to(tl.float32)
        largest = tl.maximum(largest, tl.max(x, axis=1))
    largest = tl.where(row < R, largest, 0.0)  # rows beyond the last one hold nothing
    total = tl.zeros((ROWS,), dtype=tl.float32)
    for first in range(0, V, BLOCK):
        column = first + tl.arange(0, BLOCK)
        keep = (row < R)[:, None] & (column < V)[None, :]
        x = tl.load(start + column[None, :], mask=keep, other=float("-inf")).to(tl.float32)
        total += tl.sum(tl.exp(x - largest[:, None]), axis=1)  # masked lanes add exp(-inf) = 0
    lse = largest + tl.log(tl.where(row < R, total, 1.0))
    target = tl.load(TARGETS + row, mask=row < R, other=-1)
    kept = target >= 0
    nowhere = float("nan")  # the loss of a label that is no column: seen, not silently wrong
    picked = tl.load(LOGITS + row * LOGITS_ROW + target, mask=kept & (target < V), other=nowhere)
    tl.store(LOSSES + row, tl.where(kept, lse - picked.to(tl.float32), 0.0), mask=row < R)
    tl.store(LSE + row, lse, mask=row < R)


@triton.jit
def k_loss_mean(LOSSES, COUNT, LOSS, R, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, R, BLOCK):  # one program, always the same order
        row = first + tl.arange(0, BLOCK)
        total += tl.load(LOSSES + row, mask=row < R, other=0)
    tl.store(LOSS, tl.sum(total, axis=0) / tl.maximum(tl.load(COUNT), 1.0))


@triton.jit
def k_loss_bwd(
    LOGITS, TARGETS, COUNT, LSE, UPSTREAM, R, V, LOGITS_ROW, UPSTREAM_ROW,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    start = LOGITS + row[:, None] * LOGITS_ROW
    lse = tl.load(LSE + row, mask=row < R, other=0)
    target = tl.load(TARGETS + row, mask=row < R, other=-1)
    upstream = tl.load(UPSTREAM + row * UPSTREAM_ROW, mask=row < R, other=0)
    share = tl.where(target >= 0, upstream / tl.maximum(tl.load(COUNT), 1.0), 0.0)
    for first in range(0, V, BLOCK):
        column = first + tl.arange(0, BLOCK)
        keep = (row < R)[:, None] & (column < V)[None, :]
        x = tl.load(start + column[None, :], mask=keep, other=float("-inf")).to(tl.float32)
        softmax = tl.exp(x - lse[:, None])  # in FP32: p - 1 would cancel in BF16
        onehot = tl.where(column[None, :] == target[:, None], 1.0, 0.0)
        slope = tl.where((target >= 0)[:, None], softmax - onehot, 0.0)
        tl.store(start + column[None, :], slope * share[:, None], mask=keep)  # in place


def count(targets: Tensor, count: Tensor) -> None:
    """count[0] = how many targets are not ignored."""
    requirements.contiguous(targets=targets, count=count)
    block = tiles.flat(targets.numel(), targets.device, LARGEST)
    with torch.cuda.device_of(targets):
        k_loss_count[(1,)](targets, count, targets.numel(), block)


def forward(
    logits: Tensor, targets: Tensor, count: Tensor, losses: Tensor, lse: Tensor, loss: Tensor
) -> None:
    """Fill losses and lse [R], and loss[0]."""
    requirements.rows(logits=logits)
    requirements.contiguous(targets=targets, count=count, losses=losses, lse=lse, loss=loss)
    rows, vocabulary = logits.shape
    tall, block = sides(rows, vocabulary, logits.device)
    with torch.cuda.device_of(logits):
        k_loss_fwd[(triton.cdiv(rows, tall),)](
            logits, targets, losses, lse, rows, vocabulary, logits.stride(0), tall, block
        )
        mean(losses, count, loss)


def mean(losses: Tensor, count: Tensor, loss: Tensor) -> None:
    """loss[0] = the sum of losses / count."""
    block = tiles.flat(losses.numel(), losses.device, LARGEST)
    k_loss_mean[(1,)](losses, count, loss, losses.numel(), block)


def backward(logits: Tensor, targets: Tensor, count: Tensor, lse: Tensor, upstream: Tensor) -> None:
    """logits become dlogits, in place. upstream is FP32, of 1 or R elements."""
    requirements.rows(logits=logits)
    requirements.contiguous(targets=targets, count=count, lse=lse, upstream=upstream)
    rows, vocabulary = logits.shape
    tall, block = sides(rows, vocabulary, logits.device)
    with torch.cuda.device_of(logits):
        k_loss_bwd[(triton.cdiv(rows, tall),)](
            logits, targets, count, lse, upstream, rows, vocabulary, logits.stride(0),
            0 if upstream.numel() == 1 else 1, tall, block,
        )  # fmt: skip


def sides(rows: int, vocabulary: int, device: torch.device) -> tuple[int, int]:
    """Rows a program takes, and columns at a time."""
    block = tiles.columns(vocabulary, device, COLUMNS)
    return tiles.rows(rows, block, device), block


PAIR = Pair(forward, backward)
