"""The residual connection, read from top to bottom: formula, oracle, kernels.

    y  = x + delta        x [R, d] is the stream, delta what a sub-layer adds to it
    dx    += dy           the gradient goes on unchanged along the stream ...
    ddelta = dy           ... and, the same numbers, into the sub-layer

Nothing is learned and nothing is saved: the derivative of a sum does not depend on its terms.
The gradient that reaches x is the skip branch's (here) plus the sub-layer's, which LayerNorm's
backward pass adds to dx.

Bytes (s = bytes of an element, n = R*d): forward 3*n*s, backward 4*n*s. n FLOPs each.

There is no version 2 here, because in a faster step neither launch remains: the sum is made in the
launch of the LayerNorm behind it (`layernorm_fast`), and the gradient stays where it lies
(`program_fast`).
"""
# A kernel's arguments are pointers whose types Triton finds at the call.
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles

Tensor = torch.Tensor


def reference_forward(x: Tensor, delta: Tensor) -> Tensor:
    return x + delta


def reference_backward(dy: Tensor) -> tuple[Tensor, Tensor]:
    """What is added to dx, and ddelta."""
    return dy, dy


@triton.jit
def k_residual_add(X, DELTA, Y, COUNT, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = place < COUNT
    x = tl.load(X + place, mask=keep, other=0).to(tl.float32)
    delta = tl.load(DELTA + place, mask=keep, other=0).to(tl.float32)
    tl.store(Y + place, x + delta, mask=keep)


@triton.jit
def k_residual_add_bwd(DY, DX, DDELTA, COUNT, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = place < COUNT
    dy = tl.load(DY + place, mask=keep, other=0).to(tl.float32)
    dx = tl.load(DX + place, mask=keep, other=0).to(tl.float32)
    tl.store(DX + place, dx + dy, mask=keep)  # += : other branches may have left theirs
    tl.store(DDELTA + place, dy, mask=keep)


def forward(x: Tensor, delta: Tensor, y: Tensor) -> None:
    """y = x + delta; all contiguous and of one shape."""
    requirements.contiguous(x=x, delta=delta, y=y)
    block = tiles.flat(x.numel(), x.device)
    with torch.cuda.device_of(x):
        k_residual_add[(triton.cdiv(x.numel(), block),)](x, delta, y, x.numel(), block)


def backward(dy: Tensor, dx: Tensor, ddelta: Tensor) -> None:
    """dx += dy; ddelta = dy."""
    requirements.contiguous(dy=dy, dx=dx, ddelta=ddelta)
    block = tiles.flat(dy.numel(), dy.device)
    with torch.cuda.device_of(dy):
        k_residual_add_bwd[(triton.cdiv(dy.numel(), block),)](dy, dx, ddelta, dy.numel(), block)


PAIR = Pair(forward, backward)
