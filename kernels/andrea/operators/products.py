"""Matrix products by the vendor's library: what version 2 of every projection goes to.

cuBLAS reaches several times what version 1's tiles do: it keeps the tensor cores fed by moving
the next operands while it multiplies, in code tuned for each card. `torch.mm(out=...)` calls it
and allocates nothing. One stream, a fixed workspace and no split sums across atomics: the same
call gives the same bits.

Where cuBLAS splits a long sum it may add the parts in 16 bits; it is told not to, so that every
sum is FP32 as in version 1.

A weight gradient is summed into FP32 by the product itself (its beta = 1), from 16-bit operands.
Only CUDA has that; elsewhere, on the interpreter, the operands are widened first.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

Tensor = torch.Tensor


def multiply(a: Tensor, b: Tensor, out: Tensor) -> None:
    """out = a @ b, in one dtype; rounded once, from an FP32 sum."""
    with fp32_sums():
        torch.mm(a, b, out=out)


def add_product(a: Tensor, b: Tensor, out: Tensor) -> None:
    """out += a @ b, where out may be FP32 while a and b are FP16 or BF16."""
    _add(torch.addmm, a, b, out)


def add_products(a: Tensor, b: Tensor, out: Tensor) -> None:
    """out[i] += a[i] @ b[i]: one launch, where the card would have too few tiles of one."""
    _add(torch.baddbmm, a, b, out)


def _add(adding: Callable[..., Tensor], a: Tensor, b: Tensor, out: Tensor) -> None:
    with fp32_sums():
        if a.dtype == out.dtype:
            adding(out, a, b, out=out)
        elif a.is_cuda:
            adding(out, a, b, out_dtype=out.dtype, out=out)
        else:
            adding(out, a.to(out.dtype), b.to(out.dtype), out=out)


@contextmanager
def fp32_sums() -> Iterator[None]:
    """For our own products only: others in this process keep PyTorch's defaults."""
    switches = torch.backends.cuda.matmul
    fp16 = switches.allow_fp16_reduced_precision_reduction
    bf16 = switches.allow_bf16_reduced_precision_reduction
    switches.allow_fp16_reduced_precision_reduction = False
    switches.allow_bf16_reduced_precision_reduction = False
    try:
        yield
    finally:
        switches.allow_fp16_reduced_precision_reduction = fp16
        switches.allow_bf16_reduced_precision_reduction = bf16
