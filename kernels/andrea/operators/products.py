"""Matrix products by the vendor's library: what version 2 of every projection goes to.

cuBLAS reaches several times what version 1's tiles do: it keeps the tensor cores fed by moving
the next operands while it multiplies, in code tuned for each card. `torch.mm(out=...)` calls it
and allocates nothing. One stream, a fixed workspace and no split sums across atomics: the same
call gives the same bits.

A weight gradient is summed into FP32 by the product itself (its beta = 1), from 16-bit operands.
Only CUDA has that; elsewhere, on the interpreter, the operands are widened first.
"""

import torch

Tensor = torch.Tensor


def multiply(a: Tensor, b: Tensor, out: Tensor) -> None:
    """out = a @ b, in one dtype; rounded once, from an FP32 sum."""
    torch.mm(a, b, out=out)


def add_product(a: Tensor, b: Tensor, out: Tensor) -> None:
    """out += a @ b, where out may be FP32 while a and b are FP16 or BF16."""
    if a.dtype == out.dtype:
        torch.addmm(out, a, b, out=out)
    elif a.is_cuda:
        torch.addmm(out, a, b, out_dtype=out.dtype, out=out)
    else:
        torch.addmm(out, a.to(out.dtype), b.to(out.dtype), out=out)
