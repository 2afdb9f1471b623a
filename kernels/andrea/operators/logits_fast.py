"""The projection onto the vocabulary, version 2: the products of version 1 through cuBLAS.

V = 50,257 is odd, and cuBLAS has no fast kernel for a product with an odd side, however its rows
are aligned. So E may have more rows than the vocabulary, up to a multiple of 64, and logits as
many columns: `loss_fast` makes the gradient of those columns 0, so all that they must be is
finite. The rows of `de` are those that get a gradient: all of E's, or the vocabulary's.
FLOPs as in version 1. At R = 8192, d = 768, V = 50,257: 632 GFLOP forward, 1.26 TFLOP backward,
the largest products of the model. Bytes as in version 1 with V = 50,304: in BF16 914 MB forward,
and 1.24 GB backward, of which dE's FP32 buffer, read and written, is 309 MB.
"""

import torch

from kernels.andrea.operators import Pair, requirements
from kernels.andrea.operators.products import add_product, multiply

Tensor = torch.Tensor


def forward(x: Tensor, e: Tensor, logits: Tensor) -> None:
    """Fill logits."""
    requirements.contiguous(x=x, e=e)
    requirements.rows(logits=logits)
    multiply(x, e.T, logits)


def backward(dlogits: Tensor, x: Tensor, e: Tensor, dx: Tensor, de: Tensor) -> None:
    """Fill dx; de += its gradient."""
    requirements.contiguous(x=x, e=e, dx=dx, de=de)
    requirements.rows(dlogits=dlogits)
    multiply(dlogits, e, dx)
    add_product(dlogits[:, : len(de)].T, x, de)


PAIR = Pair(forward, backward)
