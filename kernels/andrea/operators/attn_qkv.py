"""Queries, keys and values, read from top to bottom: formula, oracle, kernels.

    Q = X @ W_Q    K = X @ W_K    V = X @ W_V        X [R, d], each W [d, d]
    dX   = dQ @ W_Q^T + dK @ W_K^T + dV @ W_V^T
    dW_Q += X^T @ dQ, and so for K and V

Saved: X, the output of the first LayerNorm. The three stand in one tensor, w [3, d, d] and
qkv [3, R, d], whose strides say how they lie in memory.

Version 1: one launch each way. Forward, a program makes one tile of Q, K or V. Backward, some
programs make tiles of dX and the others tiles of dW: each result has one owner, no atomics.
6*R*d^2 FLOPs forward, 12*R*d^2 backward. Bytes at the least (s = bytes of an element):
(4*R*d + 3*d^2)*s forward; (5*R*d + 3*d^2)*s + 24*d^2 backward, dW being FP32 and read first.
"""
# A kernel's arguments are pointers whose types Triton finds at the call.
# mypy: disable-error-code="no-untyped-def"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles
from kernels.andrea.operators.matmul import add, place, product, put

Tensor = torch.Tensor


def reference_forward(x: Tensor, w: Tensor) -> Tensor:
    """qkv [3, R, d]."""
    return torch.stack([x @ w[0], x @ w[1], x @ w[2]])


def reference_backward(dqkv: Tensor, x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """dx [R, d] and dw [3, d, d]."""
    dx = dqkv[0] @ w[0].T + dqkv[1] @ w[1].T + dqkv[2] @ w[2].T
    return dx, torch.stack([x.T @ dqkv[0], x.T @ dqkv[1], x.T @ dqkv[2]])


@triton.jit
def k_attn_qkv_fwd(
    X, W, QKV, R, D, COLUMN_TILES, W_WHICH, W_ROW, QKV_WHICH, QKV_ROW,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    which = tl.program_id(1).to(tl.int64)  # 0 for Q, 1 for K, 2 for V
    row, column = place(tl.program_id(0), COLUMN_TILES, ROWS, COLUMNS)
    weight = W + which * W_WHICH
    tile = product(X, weight, row, column, R, D, D, D, 1, W_ROW, 1, ROWS, COLUMNS, DEPTH, OPERAND)
    put(QKV + which * QKV_WHICH, tile, row, column, R, D, QKV_ROW)


@triton.jit
def k_attn_qkv_bwd(
    DQKV, X, W, DX, DW, R, D, X_TILES, W_TILES, COLUMN_TILES,
    DQKV_WHICH, DQKV_ROW, W_WHICH, W_ROW, DW_WHICH, DW_ROW,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    if program < X_TILES:  # dX: what comes back through Q, K and V adds up
        row, column = place(program, COLUMN_TILES, ROWS, COLUMNS)
        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for which in range(3):
            upstream = DQKV + which * DQKV_WHICH
            weight = W + which * W_WHICH  # read with its strides swapped: W^T
            total += product(
                upstream, weight, row, column, R, D, D, DQKV_ROW, 1, 1, W_ROW,
                ROWS, COLUMNS, DEPTH, OPERAND,
            )  # fmt: skip
        put(DX, total, row, column, R, D, D)
    else:  # dW: X read with its strides swapped, X^T
        number = program - X_TILES
        own = (number // W_TILES).to(tl.int64)
        row, column = place(number % W_TILES, COLUMN_TILES, ROWS, COLUMNS)
        gradient = DQKV + own * DQKV_WHICH
        tile = product(
            X, gradient, row, column, D, D, R, 1, D, DQKV_ROW, 1, ROWS, COLUMNS, DEPTH, OPERAND
        )
        add(DW + own * DW_WHICH, tile, row, column, D, D, DW_ROW)


def forward(x: Tensor, w: Tensor, qkv: Tensor) -> None:
    """Fill qkv."""
    requirements.contiguous(x=x)
    requirements.rows(w=w, qkv=qkv)
    rows, width = x.shape
    cut = tiles.product(rows, width, width, x.dtype, x.device)
    columns = triton.cdiv(width, cut.columns)
    grid = (triton.cdiv(rows, cut.rows) * columns, 3)
    with torch.cuda.device_of(x):
        k_attn_qkv_fwd[grid](
            x, w, qkv, rows, width, columns, *w.stride()[:2], *qkv.stride()[:2],
            cut.rows, cut.columns, cut.depth, tiles.operand(x),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip


def backward(dqkv: Tensor, x: Tensor, w: Tensor, dx: Tensor, dw: Tensor) -> None:
    """Fill dx; dw += its gradient."""
    requirements.contiguous(x=x, dx=dx)
    requirements.rows(dqkv=dqkv, w=w, dw=dw)
    rows, width = x.shape
    cut = tiles.product(max(rows, width), width, max(rows, width), x.dtype, x.device)
    columns = triton.cdiv(width, cut.columns)
    x_tiles = triton.cdiv(rows, cut.rows) * columns
    w_tiles = triton.cdiv(width, cut.rows) * columns
    with torch.cuda.device_of(x):
        k_attn_qkv_bwd[(x_tiles + 3 * w_tiles,)](
            dqkv, x, w, dx, dw, rows, width, x_tiles, w_tiles, columns,
            *dqkv.stride()[:2], *w.stride()[:2], *dw.stride()[:2],
            cut.rows, cut.columns, cut.depth, tiles.operand(x),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip


PAIR = Pair(forward, backward)
