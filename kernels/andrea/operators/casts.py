"""Copies that change the dtype or the order, and zero_grads: what moves without arithmetic.

cast: the working copy of the weights in FP16 or BF16, from the FP32 masters. Rounds to nearest.
pack: W_Q, W_K and W_V [3, d, d] side by side as [d, 3, d], one matrix of 3 d columns, so that
one product gives Q, K and V; one layer's or, in one launch, every layer's. zero: every gradient
before the next step's first micro-batch.
Bytes: an element is read and written once (zero: written), and no FLOPs: at the speed of a copy
nothing is left for a version 2.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import requirements, tiles

Tensor = torch.Tensor


@triton.jit
def k_cast(SOURCE, TARGET, COUNT, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(SOURCE + place, mask=place < COUNT, other=0).to(tl.float32)
    tl.store(TARGET + place, x, mask=place < COUNT)


@triton.jit
def k_pack(SOURCE, TARGET, D, COUNT, SOURCE_LAYER, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # in one of the three
    which, layer = tl.program_id(1), tl.program_id(2).to(tl.int64)
    SOURCE += layer * SOURCE_LAYER
    TARGET += layer * 3 * COUNT
    keep = place < COUNT
    x = tl.load(SOURCE + which.to(tl.int64) * COUNT + place, mask=keep, other=0).to(tl.float32)
    row, column = place // D, place % D
    tl.store(TARGET + row.to(tl.int64) * 3 * D + which * D + column, x, mask=keep)


@triton.jit
def k_zero(FLAT, COUNT, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(FLAT + place, tl.zeros((BLOCK,), dtype=tl.float32), mask=place < COUNT)


def cast(source: Tensor, target: Tensor) -> None:
    """target = source, rounded to target's dtype; both contiguous and of one size."""
    requirements.contiguous(source=source, target=target)
    count = source.numel()
    block = tiles.flat(count, source.device)
    with torch.cuda.device_of(source):
        k_cast[(triton.cdiv(count, block),)](source, target, count, block)


def pack(w: Tensor, packed: Tensor) -> None:
    """packed [d, 3, d] = w [3, d, d] with its first two dimensions swapped, in packed's dtype; or
    so for each layer of w [layers, 3, d, d], of which only the layers may lie apart."""
    if w.dim() == 3:
        w, packed = w[None], packed[None]
    requirements.contiguous(w=w[0], packed=packed)
    layers, _, width, _ = w.shape
    block = tiles.flat(width * width, w.device)
    with torch.cuda.device_of(w):
        k_pack[(triton.cdiv(width * width, block), 3, layers)](
            w, packed, width, width * width, w.stride(0), block
        )


def zero(flat: Tensor) -> None:
    """Every element 0: zero_grads."""
    requirements.contiguous(flat=flat)
    block = tiles.flat(flat.numel(), flat.device)
    with torch.cuda.device_of(flat):
        k_zero[(triton.cdiv(flat.numel(), block),)](flat, flat.numel(), block)
