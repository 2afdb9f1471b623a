"""Queries, keys and values, version 2: the products of version 1 through cuBLAS.

Where W_Q, W_K and W_V lie side by side (`casts.pack`, one matrix of 3 d columns) and so do Q, K
and V, one product each way does the work of three: more tiles for the card at once, and dX
leaves its FP32 sum over 3 d once, where three products would round to 16 bits in between.
Where they lie one after another the three are done in turn. The three weight gradients are one
batch of products either way.
FLOPs as in version 1. At R = 8192, d = 768: 29 GFLOP forward, 58 GFLOP backward. Bytes too where
the three are done at once: in BF16 54 MB forward, 81 MB backward; X is read once, not three times.
"""

import torch

from kernels.andrea.operators import Pair, requirements
from kernels.andrea.operators.products import add_product, add_products, multiply

Tensor = torch.Tensor


def forward(x: Tensor, w: Tensor, qkv: Tensor) -> None:
    """Fill qkv [3, R, d]."""
    requirements.contiguous(x=x)
    requirements.rows(w=w, qkv=qkv)
    if side_by_side(w) and side_by_side(qkv):
        multiply(x, joined(w), joined(qkv))
    else:
        for which in range(3):
            multiply(x, w[which], qkv[which])


def backward(dqkv: Tensor, x: Tensor, w: Tensor, dx: Tensor, dw: Tensor) -> None:
    """Fill dx; dw += its gradient."""
    requirements.contiguous(x=x, dx=dx)
    requirements.rows(dqkv=dqkv, w=w, dw=dw)
    if side_by_side(w) and side_by_side(dqkv):
        multiply(joined(dqkv), joined(w).T, dx)
    else:
        multiply(dqkv[0], w[0].T, dx)
        add_product(dqkv[1], w[1].T, dx)
        add_product(dqkv[2], w[2].T, dx)
    add_products(x.T.expand(3, -1, -1), dqkv, dw)


def side_by_side(three: Tensor) -> bool:
    """Whether three [3, M, d] lies in memory as [M, 3, d]."""
    _, _, width = three.shape
    return three.stride() == (width, 3 * width, 1)


def joined(three: Tensor) -> Tensor:
    """Three matrices side by side as the one [M, 3 d] that they are."""
    _, rows, width = three.shape
    return three.as_strided((rows, 3 * width), (3 * width, 1))


PAIR = Pair(forward, backward)
