"""AdamW over every weight at once, read from top to bottom: formula, oracle, kernel.

    g = factor * gradient                       factor: 1/n and clipping, from grad_norm
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g^2
    w = w - lr * ((m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps) + decay * w)

Decay is decoupled (it does not pass through m and v) and meets matrices only. Weights,
gradients, m and v lie in one flat FP32 buffer each; `chunks` cuts them into pieces that decay
or do not. What changes from step to step (lr, the corrections, factor, finite) is read from
the device, so a recorded graph stays right. A step whose norm is not finite changes no weight
and neither moment. The gradients are set to zero in the same pass (zero_grads), and the working
copy of the weights, in FP16 or BF16, is written with them.

m and v are FP32: g = 1e-4 gives g^2 = 1e-8, which is 0 in FP16.

Bytes for n weights: 16*n read, 16*n written, 2*n for a 16-bit working copy: 34 a weight. About
15*n FLOPs: bandwidth decides. There is no version 2: everything that can be done while a weight is
in a register (mean, clipping, the copy, zero_grads) is done here, and no byte is moved twice.
"""
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Iterable
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import requirements, tiles

Tensor = torch.Tensor
LARGEST = 1024  # elements a program takes; on the interpreter a whole run at once


@dataclass(frozen=True)
class Chunks:
    """table [C, 3] int64 on the device: start, end and whether it decays. block holds each."""

    table: Tensor
    block: int
    aligned: bool  # every start and end is a multiple of 16 elements


def chunks(runs: Iterable[tuple[int, int, bool]], device: torch.device) -> Chunks:
    """Cut runs (start, end, decays) of the flat buffer into what one program takes."""
    runs = tuple(runs)
    longest = max(end - start for start, end, _ in runs)
    block = tiles.flat(longest, device, LARGEST)
    rows = [
        (first, min(first + block, end), int(decays))
        for start, end, decays in runs
        for first in range(start, end, block)
    ]
    aligned = all(start % 16 == 0 and end % 16 == 0 for start, end, _ in rows)
    return Chunks(torch.tensor(rows, dtype=torch.int64).to(device), block, aligned)


def reference(
    w: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    decay: float | Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """w, m and v after step number `step`, counted from 1."""
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    pace = (m / (1 - beta1**step)) / ((v / (1 - beta2**step)).sqrt() + epsilon)
    return w - lr * (pace + decay * w), m, v


@triton.jit
def k_adamw(
    W, G, M, V, CHUNKS, SCHEDULE, RESULT, WORKING,
    # Known at compile time, so that 1 - beta is taken in double precision: 1 - 0.999 in FP32 is
    # wrong by 1.3e-5, as a card showed and the interpreter did not.
    BETA1: tl.constexpr, BETA2: tl.constexpr, EPSILON: tl.constexpr, DECAY: tl.constexpr,
    BLOCK: tl.constexpr, ALIGNED: tl.constexpr, COPIES: tl.constexpr,
):  # fmt: skip
    row = CHUNKS + tl.program_id(0) * 3
    start, end, decays = tl.load(row), tl.load(row + 1), tl.load(row + 2)
    if ALIGNED:  # so that 16 bytes can be moved at a time
        start, end = tl.multiple_of(start, 16), tl.multiple_of(end, 16)
    place = start + tl.arange(0, BLOCK)
    keep = place < end
    if tl.load(RESULT + 2) != 0.0:  # finite
        lr, correct_m, correct_v = tl.load(SCHEDULE), tl.load(SCHEDULE + 1), tl.load(SCHEDULE + 2)
        g = tl.load(G + place, mask=keep, other=0) * tl.load(RESULT + 1)
        m = tl.load(M + place, mask=keep, other=0)
        v = tl.load(V + place, mask=keep, other=0)
        w = tl.load(W + place, mask=keep, other=0)
        m = BETA1 * m + (1.0 - BETA1) * g
        v = BETA2 * v + (1.0 - BETA2) * g * g
        pace = (m * correct_m) / (tl.sqrt(v * correct_v) + EPSILON)
        w = w - lr * (pace + tl.where(decays != 0, DECAY, 0.0) * w)
        tl.store(M + place, m, mask=keep)
        tl.store(V + place, v, mask=keep)
        tl.store(W + place, w, mask=keep)
        if COPIES:
            tl.store(WORKING + place, w, mask=keep)  # rounds to the working dtype
    tl.store(G + place, tl.zeros((BLOCK,), dtype=tl.float32), mask=keep)  # zero_grads


def step(
    weights: Tensor,
    grads: Tensor,
    m: Tensor,
    v: Tensor,
    chunks: Chunks,
    schedule: Tensor,
    result: Tensor,
    beta1: float,
    beta2: float,
    epsilon: float,
    decay: float,
    working: Tensor | None = None,
) -> None:
    """One update of everything; gradients are zero after it.

    schedule is lr, 1/(1 - beta1^t), 1/(1 - beta2^t); result comes from `grad_norm.final` (its
    FACTOR must be 1 where the gradients are scaled already). FP32, on the device.
    """
    requirements.contiguous(
        weights=weights, grads=grads, m=m, v=v, schedule=schedule, result=result
    )
    with torch.cuda.device_of(weights):
        k_adamw[(chunks.table.shape[0],)](
            weights, grads, m, v, chunks.table, schedule, result,
            weights if working is None else working, beta1, beta2, epsilon, decay,
            chunks.block, chunks.aligned, working is not None,
        )  # fmt: skip
