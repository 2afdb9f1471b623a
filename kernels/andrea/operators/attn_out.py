"""The projection out of attention, read from top to bottom: formula, oracle, kernels.

    Y   = O @ W_O          O [R, d], the heads side by side; W_O [d, d]
    dO  = dY @ W_O^T
    dW_O += O^T @ dY

Saved: O. Version 1: one launch each way; backward, some programs make tiles of dO and the
others tiles of dW_O, so each result has one owner. 2*R*d^2 FLOPs forward, 4*R*d^2 backward.
Bytes at the least (s = bytes of an element): (2*R*d + d^2)*s forward, (3*R*d + d^2)*s + 8*d^2
backward.
"""
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles
from kernels.andrea.operators.matmul import add, place, product, put

Tensor = torch.Tensor


def reference_forward(o: Tensor, w: Tensor) -> Tensor:
    return o @ w


def reference_backward(dy: Tensor, o: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """do and dw."""
    return dy @ w.T, o.T @ dy


@triton.jit
def k_attn_out_fwd(
    ATTN, W, Y, R, D, COLUMN_TILES,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    row, column = place(tl.program_id(0), COLUMN_TILES, ROWS, COLUMNS)
    tile = product(ATTN, W, row, column, R, D, D, D, 1, D, 1, ROWS, COLUMNS, DEPTH, OPERAND)
    put(Y, tile, row, column, R, D, D)


@triton.jit
def k_attn_out_bwd(
    DY, ATTN, W, DO, DW, R, D, O_TILES, COLUMN_TILES,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    if program < O_TILES:  # dO: W read with its strides swapped, W^T
        row, column = place(program, COLUMN_TILES, ROWS, COLUMNS)
        tile = product(DY, W, row, column, R, D, D, D, 1, 1, D, ROWS, COLUMNS, DEPTH, OPERAND)
        put(DO, tile, row, column, R, D, D)
    else:  # dW: O read with its strides swapped, O^T; the sum runs over all R tokens
        row, column = place(program - O_TILES, COLUMN_TILES, ROWS, COLUMNS)
        tile = product(ATTN, DY, row, column, D, D, R, 1, D, D, 1, ROWS, COLUMNS, DEPTH, OPERAND)
        add(DW, tile, row, column, D, D, D)


def forward(o: Tensor, w: Tensor, y: Tensor) -> None:
    """Fill y."""
    requirements.contiguous(o=o, w=w, y=y)
    rows, width = o.shape
    cut = tiles.product(rows, width, width, o.dtype, o.device)
    columns = triton.cdiv(width, cut.columns)
    with torch.cuda.device_of(o):
        k_attn_out_fwd[(triton.cdiv(rows, cut.rows) * columns,)](
            o, w, y, rows, width, columns, cut.rows, cut.columns, cut.depth, tiles.operand(o),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip


def backward(dy: Tensor, o: Tensor, w: Tensor, do: Tensor, dw: Tensor) -> None:
    """Fill do; dw += its gradient."""
    requirements.contiguous(dy=dy, o=o, w=w, do=do, dw=dw)
    rows, width = o.shape
    cut = tiles.product(max(rows, width), width, max(rows, width), o.dtype, o.device)
    columns = triton.cdiv(width, cut.columns)
    o_tiles = triton.cdiv(rows, cut.rows) * columns
    w_tiles = triton.cdiv(width, cut.rows) * columns
    with torch.cuda.device_of(o):
        k_attn_out_bwd[(o_tiles + w_tiles,)](
            dy, o, w, do, dw, rows, width, o_tiles, columns,
            cut.rows, cut.columns, cut.depth, tiles.operand(o),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip


PAIR = Pair(forward, backward)
