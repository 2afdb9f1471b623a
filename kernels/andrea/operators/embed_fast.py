"""The embedding, version 2: the gradient of the table as a product, where it is not zero.

What it changes from version 1, and why: dwte = onehot^T @ dout, and after sorting the places by
token the matrix onehot is blocks on a diagonal. A program owns TOKENS rows of the table and
COLUMNS columns, and walks over the places that hold its tokens, PLACES at a time: one small
product adds each to its row. Version 1 walks one place at a time, so a token that is every
tenth of a text (a space) keeps the whole card waiting. Products by 0 and 1 are exact, and the
order of the sum is fixed.

Bytes (s = bytes of an element, n = R*d): 2*n*s + 8 bytes for every gradient element touched.
FLOPs: 2 * TOKENS * n for the products, 2*n useful ones.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles
from kernels.andrea.operators.embed import forward

Tensor = torch.Tensor
TOKENS, PLACES, COLUMNS = 32, 64, 128


@triton.jit
def k_embed_bwd_tokens(
    DOUT, ORDER, FIRST, DWTE, V, D,
    TOKENS: tl.constexpr, PLACES: tl.constexpr, COLUMNS: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    begin = tl.load(FIRST + token, mask=token < V, other=0)
    end = tl.load(FIRST + token + 1, mask=token < V, other=0)
    low = tl.load(FIRST + tl.program_id(0) * TOKENS)
    high = tl.max(end, axis=0)
    if high > low:
        total = tl.zeros((TOKENS, COLUMNS), dtype=tl.float32)
        for start in range(low, high, PLACES):
            i = start + tl.arange(0, PLACES)
            place = tl.load(ORDER + i, mask=i < high, other=0).to(tl.int64)
            keep = (i < high)[:, None] & (column < D)[None, :]
            dout = tl.load(DOUT + place[:, None] * D + column[None, :], mask=keep, other=0)
            hot = (begin[:, None] <= i[None, :]) & (i[None, :] < end[:, None])
            hot = tl.where(hot, 1.0, 0.0).to(OPERAND)
            total = tl.dot(hot, dout.to(OPERAND), total, input_precision="ieee")
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
    tokens, places, columns = sides(rows, vocabulary, width, dout.device)
    tall = 1 if dout.is_cuda else tiles.rows(length, width, dout.device)
    with torch.cuda.device_of(dout):
        k_embed_bwd_tokens[(triton.cdiv(vocabulary, tokens), triton.cdiv(width, columns))](
            dout, order, first, dwte, vocabulary, width,
            tokens, places, columns, tiles.operand(dout),
        )  # fmt: skip
        k_embed_bwd_positions[(triton.cdiv(length, tall),)](
            dout, dwpe, rows, length, width, tiles.block(width), tall
        )


def sides(rows: int, vocabulary: int, width: int, device: torch.device) -> tuple[int, int, int]:
    """Tokens, places and columns that a program takes at once."""
    if device.type == "cuda":
        return TOKENS, PLACES, min(COLUMNS, tiles.block(width))
    found = [min(tiles.LIMIT, tiles.block(side)) for side in (vocabulary, rows, width)]
    return found[0], found[1], found[2]


PAIR = Pair(forward, backward)
