"""A tile of a matrix product, from which every projection of the model is made.

    C = A @ B      A [M, K], B [K, N]; C is summed in FP32 whatever A and B are

A matrix is an address and two strides: how far the next row lies, and how far the next column.
Its transpose is the same address with the strides swapped, so X^T @ dY needs no copy of X.
2*M*N*K FLOPs; a tile reads (ROWS + COLUMNS) * K elements for ROWS * COLUMNS results, so the
larger the tile, the fewer bytes a FLOP needs.
"""
# mypy: disable-error-code="no-untyped-def"

import triton
import triton.language as tl


@triton.jit
def product(
    A, B, row, column, M, N, K,
    A_ROW, A_COLUMN, B_ROW, B_COLUMN,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    """The tile of A @ B at these rows and columns. Lanes beyond the matrices read zero."""
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    row, column = row.to(tl.int64), column.to(tl.int64)
    for first in range(0, K, DEPTH):
        k = (first + tl.arange(0, DEPTH)).to(tl.int64)
        a_keep = (row < M)[:, None] & (k < K)[None, :]
        b_keep = (k < K)[:, None] & (column < N)[None, :]
        a = tl.load(A + row[:, None] * A_ROW + k[None, :] * A_COLUMN, mask=a_keep, other=0)
        b = tl.load(B + k[:, None] * B_ROW + column[None, :] * B_COLUMN, mask=b_keep, other=0)
        total = tl.dot(a.to(OPERAND), b.to(OPERAND), total, input_precision="ieee")
    return total


@triton.jit
def place(tile, COLUMN_TILES, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The rows and the columns of the result that tile number `tile` stands for."""
    row = tile // COLUMN_TILES * ROWS + tl.arange(0, ROWS)
    column = tile % COLUMN_TILES * COLUMNS + tl.arange(0, COLUMNS)
    return row, column


@triton.jit
def put(C, tile, row, column, M, N, C_ROW):
    """Write the tile; rounds to C's dtype."""
    keep = (row < M)[:, None] & (column < N)[None, :]
    tl.store(C + row.to(tl.int64)[:, None] * C_ROW + column[None, :], tile, mask=keep)


@triton.jit
def add(C, tile, row, column, M, N, C_ROW):
    """Add the tile to C: how a weight gradient collects its micro-batches.

    One program owns the tile, so nothing races and the order of the sum is fixed.
    """
    keep = (row < M)[:, None] & (column < N)[None, :]
    place = C + row.to(tl.int64)[:, None] * C_ROW + column[None, :]
    tl.store(place, tl.load(place, mask=keep, other=0) + tile, mask=keep)
