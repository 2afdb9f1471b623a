"""The norm of the whole gradient and clipping, read from top to bottom: formula, oracle, kernels.

    norm   = scale * sqrt(sum of g^2)       over every gradient of the model: one global norm
    factor = scale * min(1, clip / norm)    what each gradient is multiplied by
    finite = 1, or 0 where norm is infinite or NaN; then factor is 0 and the step is skipped

scale is 1/n for gradients summed over n micro-batches (with 1/loss scale in it), or 1 where they
are scaled already. Where norm <= clip and scale is 1 the factor is exactly 1 and no bit changes.

The sum is made in a fixed order: each program walks over its own stretch of the flat buffer and
leaves one partial sum; one program adds the partial sums, in FP64.
Bytes: 4*n to read n gradients, 8*n more to scale them. 2*n FLOPs. There is no version 2: each
gradient is read once at the speed of a copy already, and in a step nothing is scaled on its own:
AdamW multiplies by the factor as it reads.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import requirements, tiles

Tensor = torch.Tensor
NORM, FACTOR, FINITE, SKIPPED = range(4)  # places in `result`
MOST = 1024  # partial sums
TILE = 8192  # elements a program adds at a time: enough loads under way to fill the memory bus


def reference(flat: Tensor, scale: float, clip: float) -> tuple[float, float]:
    """norm and factor."""
    norm = float(flat.double().square().sum().sqrt()) * scale
    return norm, scale * min(1.0, clip / norm) if norm else scale


@triton.jit
def k_grad_norm_partial(FLAT, PARTIALS, COUNT, STRETCH, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * STRETCH
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, STRETCH, BLOCK):
        place = start + first + tl.arange(0, BLOCK)
        g = tl.load(FLAT + place, mask=place < COUNT, other=0)
        total += g * g
    tl.store(PARTIALS + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def k_grad_norm_final(PARTIALS, SCALE, RESULT, CLIP, PROGRAMS, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    part = tl.load(PARTIALS + place, mask=place < PROGRAMS, other=0).to(tl.float64)
    scale = tl.load(SCALE)
    norm = tl.sqrt(tl.sum(part, axis=0)).to(tl.float32) * scale
    finite = tl.abs(norm) < float("inf")  # false for NaN too
    # clip / max(norm, clip) is min(1, clip / norm), and exactly 1 below the threshold.
    factor = scale * (CLIP / tl.maximum(norm, CLIP))
    tl.store(RESULT, norm)
    tl.store(RESULT + 1, tl.where(finite, factor, 0.0))
    tl.store(RESULT + 2, tl.where(finite, 1.0, 0.0))
    tl.store(RESULT + 3, tl.load(RESULT + 3) + tl.where(finite, 0.0, 1.0))


@triton.jit
def k_grad_scale(FLAT, FACTOR, COUNT, BLOCK: tl.constexpr):
    factor = tl.load(FACTOR)
    if factor != 1.0:
        place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        g = tl.load(FLAT + place, mask=place < COUNT, other=0)
        tl.store(FLAT + place, g * factor, mask=place < COUNT)


def programs(flat: Tensor) -> int:
    """How many partial sums `partial` makes: the length of `partials`."""
    return triton.cdiv(flat.numel(), stretch(flat))


def stretch(flat: Tensor) -> int:
    """Elements a program walks over: whole blocks, the same for every program."""
    block = tiles.flat(flat.numel(), flat.device, TILE)
    blocks = triton.cdiv(flat.numel(), block)
    most = min(MOST, tiles.persistent(blocks, flat.device))
    return triton.cdiv(blocks, most) * block


def partial(flat: Tensor, partials: Tensor) -> None:
    """Fill partials [programs(flat)], FP32."""
    requirements.contiguous(flat=flat, partials=partials)
    block = tiles.flat(flat.numel(), flat.device, TILE)
    with torch.cuda.device_of(flat):
        k_grad_norm_partial[(programs(flat),)](flat, partials, flat.numel(), stretch(flat), block)


def final(partials: Tensor, scale: Tensor, clip: float, result: Tensor) -> None:
    """result = norm, factor and finite; result[SKIPPED] += 1 where the norm is not finite."""
    requirements.contiguous(partials=partials, scale=scale, result=result)
    count = partials.numel()
    with torch.cuda.device_of(partials):
        k_grad_norm_final[(1,)](partials, scale, result, clip, count, tiles.block(count))


def scale(flat: Tensor, factor: Tensor) -> None:
    """flat *= factor[0]; untouched, to the bit, where that is 1."""
    requirements.contiguous(flat=flat, factor=factor)
    block = tiles.flat(flat.numel(), flat.device)
    with torch.cuda.device_of(flat):
        k_grad_scale[(triton.cdiv(flat.numel(), block),)](flat, factor, flat.numel(), block)
