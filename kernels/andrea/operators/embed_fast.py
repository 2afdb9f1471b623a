"""The embedding, version 2: several places of a token at once.

What it changes from version 1, and why: version 1 walks over the places that hold its token one
at a time, so a token that is every twentieth of a text keeps the whole card waiting for one row
after another. Here PLACES rows of dout are under way at once; a thread adds them, always in the
same order. Programs of tokens that do not occur end at once. The table of positions gets a
launch of its own, so that its programs need not be cut as the tokens' are.

Bytes (s = bytes of an element, n = R*d): 2*n*s + 8 bytes for every gradient element touched.
FLOPs: 2*n.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles
from kernels.andrea.operators.embed import forward

Tensor = torch.Tensor
PLACES = 8


@triton.jit
def k_embed_bwd_tokens(
    DOUT, ORDER, FIRST, DWTE, V,
    D: tl.constexpr, BLOCK: tl.constexpr, TOKENS: tl.constexpr, PLACES: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    column = tl.arange(0, BLOCK)
    begin = tl.load(FIRST + token, mask=token < V, other=0)
    end = tl.load(FIRST + token + 1, mask=token < V, other=0)
    longest = tl.max(end - begin, axis=0)
    if longest > 0:
        total = tl.zeros((TOKENS, BLOCK), dtype=tl.float32)
        for walked in range(0, longest, PLACES):
            i = begin[:, None] + walked + tl.arange(0, PLACES)[None, :]
            there = i < end[:, None]
            place = tl.load(ORDER + i, mask=there, other=0).to(tl.int64)
            keep = there[:, :, None] & (column < D)[None, None, :]
            row = DOUT + place[:, :, None] * D
            dout = tl.load(row + column[None, None, :], mask=keep, other=0)
            total += tl.sum(dout.to(tl.float32), axis=1)
        keep = (begin < end)[:, None] & (column < D)[None, :]  # absent tokens are not touched
        owned = DWTE + token.to(tl.int64)[:, None] * D + column[None, :]
        tl.store(owned, tl.load(owned, mask=keep, other=0) + total, mask=keep)


@triton.jit
def k_embed_bwd_positions(
    DOUT, DWPE, R, T, D: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    keep = (row < T)[:, None] & (column < D)[None, :]
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for start in range(0, R, T):
        place = (start + row).to(tl.int64)
        dout = tl.load(DOUT + place[:, None] * D + column[None, :], mask=keep, other=0)
        total += dout.to(tl.float32)
    owned = DWPE + row.to(tl.int64)[:, None] * D + column[None, :]
    tl.store(owned, tl.load(owned, mask=keep, other=0) + total, mask=keep)


def backward(
    dout: Tensor, order: Tensor, first: Tensor, dwte: Tensor, dwpe: Tensor, length: int
) -> None:
    """dwte += and dwpe +=, for sequences of `length` tokens; order and first from `segments`."""
    requirements.contiguous(dout=dout, order=order, first=first, dwte=dwte, dwpe=dwpe)
    rows, width = dout.shape
    vocabulary = first.numel() - 1
    tokens = 1 if dout.is_cuda else tiles.rows(vocabulary, PLACES * width, dout.device)
    tall = 1 if dout.is_cuda else tiles.rows(length, width, dout.device)
    with torch.cuda.device_of(dout):
        k_embed_bwd_tokens[(triton.cdiv(vocabulary, tokens),)](
            dout, order, first, dwte, vocabulary, width, tiles.block(width), tokens, PLACES
        )
        k_embed_bwd_positions[(triton.cdiv(length, tall),)](
            dout, dwpe, rows, length, width, tiles.block(width), tall
        )


PAIR = Pair(forward, backward)
