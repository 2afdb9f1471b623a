"""The MLP of a block, read from top to bottom: formula, oracle, kernels.

    H = X @ W_1            X [R, d], W_1 [d, f], f = 4 d
    A = GELU(H)            GELU(h) = h/2 * (1 + tanh(sqrt(2/pi) * (h + 0.044715 h^3)))
    Y = A @ W_2            W_2 [f, d]
    dW_2 += A^T @ dY
    dH = (dY @ W_2^T) * GELU'(H)       element by element
    dW_1 += X^T @ dH
    dX = dH @ W_1^T

Saved: X and the pre-activation H: GELU' needs H, and GELU cannot be undone (it is not
monotonic). A is made again from H, which costs less than keeping R*f elements a layer.
Both passes use the tanh form, and its tanh saturates: beyond |h| = 11 it is exactly 1 or -1.

Version 1: two launches each way, because the second product needs whole rows of what the first
made; a launch is the only point at which all programs have finished.
4*R*d*f FLOPs forward, 8*R*d*f backward. Bytes at the least (s = bytes of an element):
(2*R*d + 3*R*f + 2*d*f)*s forward, (4*R*d + 6*R*f + 2*d*f)*s + 16*d*f backward, where dY is read
for dH and for dW_2, and dH for dX and for dW_1.
"""
# mypy: disable-error-code="no-untyped-def"

import math

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles
from kernels.andrea.operators.matmul import add, place, product, put

Tensor = torch.Tensor


def reference_gelu(h: Tensor) -> Tensor:
    return h / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))


def reference_gelu_slope(h: Tensor) -> Tensor:
    t = torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3))
    inner = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * h**2)
    return (1 + t) / 2 + h / 2 * (1 - t**2) * inner


def reference_forward(x: Tensor, w_1: Tensor, w_2: Tensor) -> tuple[Tensor, Tensor]:
    """y and h."""
    h = x @ w_1
    return reference_gelu(h) @ w_2, h


def reference_backward(
    dy: Tensor, x: Tensor, w_1: Tensor, w_2: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """dx, dw_1, dw_2."""
    h = x @ w_1
    dh = (dy @ w_2.T) * reference_gelu_slope(h)
    return dh @ w_1.T, x.T @ dh, reference_gelu(h).T @ dy


@triton.jit
def saturating_tanh(h):
    """tanh(sqrt(2/pi) * (h + 0.044715 h^3)), without inf/inf or 0*inf however large h is."""
    size = tl.minimum(tl.abs(h), 11.0)  # exp(-2 * 56) is 0 in FP32: nothing changes beyond
    shrunk = tl.exp(-2.0 * 0.7978845608028654 * (size + 0.044715 * size * size * size))
    t = (1.0 - shrunk) / (1.0 + shrunk)
    return tl.where(h < 0, -t, t)


@triton.jit
def gelu(h):
    return 0.5 * h * (1.0 + saturating_tanh(h))


@triton.jit
def gelu_slope(h):
    t = saturating_tanh(h)
    size = tl.minimum(tl.abs(h), 11.0)
    inner = 0.7978845608028654 * (1.0 + 3.0 * 0.044715 * size * size)
    return 0.5 * (1.0 + t) + 0.5 * h * (1.0 - t * t) * inner


@triton.jit
def k_mlp_fwd(
    X, W, H, OUT, R, N, K, COLUMN_TILES, WIDENS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    """First launch (WIDENS): H and A. Second launch: Y, from A."""
    row, column = place(tl.program_id(0), COLUMN_TILES, ROWS, COLUMNS)
    tile = product(X, W, row, column, R, N, K, K, 1, N, 1, ROWS, COLUMNS, DEPTH, OPERAND)
    if WIDENS:
        put(H, tile, row, column, R, N, N)  # the pre-activation, for the backward pass
        put(OUT, gelu(tile), row, column, R, N, N)
    else:
        put(OUT, tile, row, column, R, N, N)


@triton.jit
def k_mlp_bwd(
    DY, X, H, A, DH, W_1, W_2, DX, DW_1, DW_2, R, D, F, FIRST, SECOND, D_TILES, F_TILES,
    NARROWS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, OPERAND: tl.constexpr,
):  # fmt: skip
    """First launch (NARROWS False): dH, and A again. Second launch: dX, dW_1 and dW_2."""
    program = tl.program_id(0)
    if not NARROWS:
        row, column = place(program, F_TILES, ROWS, COLUMNS)
        da = product(DY, W_2, row, column, R, F, D, D, 1, 1, D, ROWS, COLUMNS, DEPTH, OPERAND)
        keep = (row < R)[:, None] & (column < F)[None, :]
        where = row.to(tl.int64)[:, None] * F + column[None, :]
        h = tl.load(H + where, mask=keep, other=0).to(tl.float32)
        tl.store(DH + where, da * gelu_slope(h), mask=keep)
        tl.store(A + where, gelu(h), mask=keep)
    elif program < FIRST:
        row, column = place(program, D_TILES, ROWS, COLUMNS)
        dx = product(DH, W_1, row, column, R, D, F, F, 1, 1, F, ROWS, COLUMNS, DEPTH, OPERAND)
        put(DX, dx, row, column, R, D, D)
    elif program < SECOND:
        row, column = place(program - FIRST, F_TILES, ROWS, COLUMNS)
        dw_1 = product(X, DH, row, column, D, F, R, 1, D, F, 1, ROWS, COLUMNS, DEPTH, OPERAND)
        add(DW_1, dw_1, row, column, D, F, F)
    else:
        row, column = place(program - SECOND, D_TILES, ROWS, COLUMNS)
        dw_2 = product(A, DY, row, column, F, D, R, 1, F, D, 1, ROWS, COLUMNS, DEPTH, OPERAND)
        add(DW_2, dw_2, row, column, F, D, D)


def forward(x: Tensor, w_1: Tensor, w_2: Tensor, h: Tensor, a: Tensor, y: Tensor) -> None:
    """Fill h, a and y."""
    requirements.contiguous(x=x, w_1=w_1, w_2=w_2, h=h, a=a, y=y)
    (rows, width), hidden = x.shape, w_1.shape[1]
    cut = tiles.product(rows, hidden, hidden, x.dtype, x.device)
    f_tiles, d_tiles = triton.cdiv(hidden, cut.columns), triton.cdiv(width, cut.columns)
    high = triton.cdiv(rows, cut.rows)
    sizes = (cut.rows, cut.columns, cut.depth, tiles.operand(x))
    launch = {"num_warps": cut.warps, "num_stages": cut.stages}
    with torch.cuda.device_of(x):
        k_mlp_fwd[(high * f_tiles,)](
            x, w_1, h, a, rows, hidden, width, f_tiles, True, *sizes, **launch
        )
        k_mlp_fwd[(high * d_tiles,)](
            a, w_2, h, y, rows, width, hidden, d_tiles, False, *sizes, **launch
        )


def backward(
    dy: Tensor,
    x: Tensor,
    h: Tensor,
    w_1: Tensor,
    w_2: Tensor,
    dx: Tensor,
    dw_1: Tensor,
    dw_2: Tensor,
    a: Tensor,
    dh: Tensor,
) -> None:
    """Fill dx; dw_1 and dw_2 += theirs. a and dh [R, f] are scratch, both overwritten."""
    requirements.contiguous(
        dy=dy, x=x, h=h, w_1=w_1, w_2=w_2, dx=dx, dw_1=dw_1, dw_2=dw_2, a=a, dh=dh
    )
    (rows, width), hidden = x.shape, w_1.shape[1]
    longest = max(rows, hidden)
    cut = tiles.product(longest, hidden, longest, x.dtype, x.device)
    f_tiles, d_tiles = triton.cdiv(hidden, cut.columns), triton.cdiv(width, cut.columns)
    high = triton.cdiv(rows, cut.rows)
    first = high * d_tiles
    second = first + triton.cdiv(width, cut.rows) * f_tiles
    last = second + triton.cdiv(hidden, cut.rows) * d_tiles
    with torch.cuda.device_of(x):
        for narrows, programs in ((False, high * f_tiles), (True, last)):
            k_mlp_bwd[(programs,)](
                dy, x, h, a, dh, w_1, w_2, dx, dw_1, dw_2, rows, width, hidden,
                first, second, d_tiles, f_tiles, narrows,
                cut.rows, cut.columns, cut.depth, tiles.operand(x),
                num_warps=cut.warps, num_stages=cut.stages,
            )  # fmt: skip


PAIR = Pair(forward, backward)
