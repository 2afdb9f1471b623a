"""The projection onto the vocabulary, read from top to bottom: formula, oracle, kernels.

    logits = X @ E^T       X [R, d] is the final LayerNorm's output, E [V, d] a row a token
    dX  = dlogits @ E
    dE += dlogits^T @ X

With a tied head E is the token table itself, and dE is added to the gradient that the
embedding's backward pass adds to as well. Saved: X. Rows of logits may lie further apart than V
elements, so that each can start on a 16-byte boundary (V = 50,257 is odd).

Version 1: one launch each way; backward, some programs make tiles of dX and the others of dE.
2*R*d*V FLOPs forward, 4*R*d*V backward. Bytes at the least (s = bytes of an element):
(R*d + V*d + R*V)*s forward, (2*R*d + V*d + R*V)*s + 8*V*d backward.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles
from kernels.andrea.operators.matmul import add, place, product, put

Tensor = torch.Tensor


def reference_forward(x: Tensor, e: Tensor) -> Tensor:
    return x @ e.T


def reference_backward(dlogits: Tensor, x: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
    """dx and de."""
    return dlogits @ e, dlogits.T @ x


@triton.jit
def k_logits_fwd(
    X, E, LOGITS, R, V, D, LOGITS_ROW, COLUMN_TILES,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    row, column = place(tl.program_id(0), COLUMN_TILES, ROWS, COLUMNS)
    tile = product(X, E, row, column, R, V, D, D, 1, 1, D, ROWS, COLUMNS, DEPTH, OPERAND)
    put(LOGITS, tile, row, column, R, V, LOGITS_ROW)


@triton.jit
def k_logits_bwd(
    DLOGITS, X, E, DX, DE, R, V, D, DLOGITS_ROW, X_TILES, COLUMN_TILES,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    if program < X_TILES:  # dX: the sum runs over the vocabulary
        row, column = place(program, COLUMN_TILES, ROWS, COLUMNS)
        tile = product(
            DLOGITS, E, row, column, R, D, V, DLOGITS_ROW, 1, D, 1, ROWS, COLUMNS, DEPTH, OPERAND
        )
        put(DX, tile, row, column, R, D, D)
    else:  # dE: a row a token of the vocabulary; the sum runs over all R places
        row, column = place(program - X_TILES, COLUMN_TILES, ROWS, COLUMNS)
        tile = product(
            DLOGITS, X, row, column, V, D, R, 1, DLOGITS_ROW, D, 1, ROWS, COLUMNS, DEPTH, OPERAND
        )
        add(DE, tile, row, column, V, D, D)


def forward(x: Tensor, e: Tensor, logits: Tensor) -> None:
    """Fill logits."""
    requirements.contiguous(x=x, e=e)
    requirements.rows(logits=logits)
    (rows, width), vocabulary = x.shape, e.shape[0]
    cut = tiles.product(rows, vocabulary, width, x.dtype, x.device)
    columns = triton.cdiv(vocabulary, cut.columns)
    with torch.cuda.device_of(x):
        k_logits_fwd[(triton.cdiv(rows, cut.rows) * columns,)](
            x, e, logits, rows, vocabulary, width, logits.stride(0), columns,
            cut.rows, cut.columns, cut.depth, tiles.operand(x),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip


def backward(dlogits: Tensor, x: Tensor, e: Tensor, dx: Tensor, de: Tensor) -> None:
    """Fill dx; de += its gradient."""
    requirements.contiguous(x=x, e=e, dx=dx, de=de)
    requirements.rows(dlogits=dlogits)
    (rows, width), vocabulary = x.shape, e.shape[0]
    longest = max(rows, vocabulary)
    cut = tiles.product(longest, width, longest, x.dtype, x.device)
    columns = triton.cdiv(width, cut.columns)
    x_tiles = triton.cdiv(rows, cut.rows) * columns
    e_tiles = triton.cdiv(vocabulary, cut.rows) * columns
    with torch.cuda.device_of(x):
        k_logits_bwd[(x_tiles + e_tiles,)](
            dlogits, x, e, dx, de, rows, vocabulary, width, dlogits.stride(0), x_tiles, columns,
            cut.rows, cut.columns, cut.depth, tiles.operand(x),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip


PAIR = Pair(forward, backward)
