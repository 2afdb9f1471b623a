"""The numbers that change with every step, kept on the device and advanced there.

A recorded step is replayed as it was recorded: a learning rate passed as a plain number would
stay that of the first step. So the step's number, the updates made, the loss scale and what
follows from them live in device memory, and one program moves them on after each update.

    counters    [step, applied, good] int32: steps made, updates made, updates since the scale moved
    schedule    [learning rate, 1/(1 - beta1^t), 1/(1 - beta2^t)] of the next update
    loss_scale  [S, 1/(n S)]: what the loss's gradient is multiplied by, what undoes it

FP16 gradients vanish below 6e-8, so the loss is scaled up by S. S doubles after GROWTH updates
in a row and halves when a norm is not finite; it is part of the state, for it decides what is
rounded. In the other precisions S stays 1.
"""
# A kernel's arguments are pointers whose types Triton finds at the call.
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

Tensor = torch.Tensor
LARGEST_SCALE = tl.constexpr(2.0**24)
GROWTH = 2000


@triton.jit
def k_advance(
    COUNTERS, RESULT, RATES, CORRECTIONS, SCHEDULE, LOSS_SCALE, STEPS, ROWS, MICRO_BATCHES,
    GROWTH: tl.constexpr, SCALED: tl.constexpr,
):  # fmt: skip
    finite = (tl.load(RESULT + 2) != 0).to(tl.int32)
    step = tl.load(COUNTERS) + 1
    applied = tl.load(COUNTERS + 1) + finite
    tl.store(COUNTERS, step)
    tl.store(COUNTERS + 1, applied)
    tl.store(SCHEDULE, tl.load(RATES + tl.minimum(step, STEPS - 1)))
    row = tl.minimum(applied + 1, ROWS - 1)
    tl.store(SCHEDULE + 1, tl.load(CORRECTIONS + 2 * row))
    tl.store(SCHEDULE + 2, tl.load(CORRECTIONS + 2 * row + 1))
    if SCALED:
        scale = tl.load(LOSS_SCALE)
        good = (tl.load(COUNTERS + 2) + 1) * finite
        grows = good == GROWTH
        larger = tl.minimum(scale * 2, LARGEST_SCALE)
        kept = tl.where(grows, larger, scale)
        scale = tl.where(finite != 0, kept, tl.maximum(scale * 0.5, 1.0))
        tl.store(COUNTERS + 2, tl.where(grows, 0, good))
        tl.store(LOSS_SCALE, scale)
        tl.store(LOSS_SCALE + 1, 1.0 / (scale * MICRO_BATCHES))


def advance(
    counters: Tensor,
    result: Tensor,
    rates: Tensor,
    corrections: Tensor,
    schedule: Tensor,
    loss_scale: Tensor,
    micro_batches: int,
    *,
    scaled: bool,
) -> None:
    """Move everything on by one step; `result` is grad_norm's [norm, factor, finite, skipped]."""
    with torch.cuda.device_of(counters):
        k_advance[(1,)](
            counters, result, rates, corrections, schedule, loss_scale,
            rates.numel(), corrections.shape[0], micro_batches, GROWTH, scaled,
        )  # fmt: skip
