"""Attention, read from top to bottom: formula, oracle, kernels.

For each sequence and each head, T tokens of c = d / heads numbers:
    S = Q @ K^T / sqrt(c)         scores; S[t, s] counts only for s <= t (causal)
    P = softmax over s of S       a row sums to 1, the future has weight 0
    O = P @ V
    dV = P^T @ dO
    dP = dO @ V^T
    dS = P * (dP - rowsum(dP * P))          and rowsum(dP * P) = rowsum(dO * O)
    dQ = dS @ K / sqrt(c)         dK = dS^T @ Q / sqrt(c)

Saved: Q, K, V, O and, a number a row, lse = log sum exp S. P is not: T x T numbers a head would
be 402 MB a layer at batch 8. A tile of it is made again as exp(S - lse).

Version 1: a program takes a tile of queries and walks over the keys that they may see, keeping
the largest score and the sum so far (online softmax). Backward is one launch: some programs own
a tile of dQ and walk over keys, the others own a tile of dK and dV and walk over queries. What
is summed has one owner and a fixed order, which costs making P twice.
FLOPs, half of each product being masked: forward 2*B*T^2*d, backward 7*B*T^2*d. Bytes at the
least (s = bytes of an element): 4*R*d*s forward, 8*R*d*s backward.
"""
# A kernel's arguments are pointers whose types Triton finds at the call.
# mypy: disable-error-code="no-untyped-def"

import math

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, tiles

Tensor = torch.Tensor


def split(x: Tensor, heads: int, length: int) -> Tensor:
    """[R, d] as [B, heads, T, c]."""
    return x.unflatten(0, (-1, length)).unflatten(2, (heads, -1)).transpose(1, 2)


def join(x: Tensor) -> Tensor:
    """[B, heads, T, c] as [R, d]."""
    return x.transpose(1, 2).flatten(2).flatten(0, 1)


def reference_weights(q: Tensor, k: Tensor, heads: int, length: int) -> tuple[Tensor, Tensor]:
    """P [B, heads, T, T] and lse [B * heads, T]."""
    q, k = split(q, heads, length), split(k, heads, length)
    score = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    future = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    score = score.masked_fill(future, -math.inf)
    return score.softmax(dim=-1), score.logsumexp(dim=-1).flatten(0, 1)


def reference_forward(
    q: Tensor, k: Tensor, v: Tensor, heads: int, length: int
) -> tuple[Tensor, Tensor]:
    """o [R, d] and lse [B * heads, T]."""
    weights, lse = reference_weights(q, k, heads, length)
    return join(weights @ split(v, heads, length)), lse


def reference_backward(
    do: Tensor, q: Tensor, k: Tensor, v: Tensor, heads: int, length: int
) -> tuple[Tensor, Tensor, Tensor]:
    """dq, dk, dv, all [R, d]."""
    weights, _ = reference_weights(q, k, heads, length)
    q, k, v, do = (split(side, heads, length) for side in (q, k, v, do))
    dp = do @ v.transpose(-1, -2)
    ds = weights * (dp - (dp * weights).sum(dim=-1, keepdim=True)) / math.sqrt(q.shape[-1])
    return join(ds @ k), join(ds.transpose(-1, -2) @ q), join(weights.transpose(-1, -2) @ do)


@triton.jit
def load_rows(X, first, head, t, T, ROW, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Tokens t of a sequence that starts at row `first`: the columns of one head."""
    lane = tl.arange(0, BLOCK)
    keep = (t < T)[:, None] & (lane < WIDTH)[None, :]
    return tl.load(X + (first + t)[:, None] * ROW + head * WIDTH + lane[None, :], keep, other=0)


@triton.jit
def store_rows(X, tile, first, head, t, T, ROW, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    keep = (t < T)[:, None] & (lane < WIDTH)[None, :]
    tl.store(X + (first + t)[:, None] * ROW + head * WIDTH + lane[None, :], tile, keep)


@triton.jit
def k_attn_fwd(
    Q, K, V, OUT, LSE, T, HEADS, SCALE, Q_ROW, OUT_ROW,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(1)  # one sequence and one of its heads
    first, head = (pair // HEADS).to(tl.int64) * T, pair % HEADS
    t = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    q = load_rows(Q, first, head, t, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
    largest = tl.full((QUERIES,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    out = tl.zeros((QUERIES, BLOCK), dtype=tl.float32)
    # No key after the last query of the tile. Key 0, which all queries see, comes first, so
    # `largest` is finite from the first turn on.
    for start in range(0, tl.minimum(T, (tl.program_id(0) + 1) * QUERIES), KEYS):
        s = start + tl.arange(0, KEYS)
        k = load_rows(K, first, head, s, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
        v = load_rows(V, first, head, s, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
        score = tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE
        seen = s[None, :] <= t[:, None]
        score = tl.where(seen & (s < T)[None, :], score, float("-inf"))
        higher = tl.maximum(largest, tl.max(score, axis=1))
        weight = tl.exp(score - higher[:, None])
        shrink = tl.exp(largest - higher)  # what was summed so far had a smaller maximum
        total = total * shrink + tl.sum(weight, axis=1)
        out = out * shrink[:, None]
        out = tl.dot(weight.to(OPERAND), v, out, input_precision="ieee")
        largest = higher
    store_rows(OUT, out / total[:, None], first, head, t, T, OUT_ROW, WIDTH, BLOCK)
    tl.store(LSE + pair.to(tl.int64) * T + t, largest + tl.log(total), mask=t < T)


@triton.jit
def weights_and_slope(q, k, v, do, lse, delta, t, s, T, SCALE):
    """A tile of P, and of dS with the scale in it."""
    score = tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE
    seen = s[None, :] <= t[:, None]
    score = tl.where(seen & (s < T)[None, :], score, float("-inf"))
    weight = tl.exp(score - lse[:, None])
    dp = tl.dot(do, tl.trans(v), input_precision="ieee")
    return weight, weight * (dp - delta[:, None]) * SCALE


@triton.jit
def k_attn_bwd(
    DO, Q, K, V, OUT, LSE, DQ, DK, DV, T, HEADS, SCALE, Q_ROW, OUT_ROW, DQ_ROW, QUERY_TILES,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(1)
    first, head = (pair // HEADS).to(tl.int64) * T, pair % HEADS
    LSE += pair.to(tl.int64) * T
    if tl.program_id(0) < QUERY_TILES:  # dQ of a tile of queries: over the keys they see
        t = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
        q = load_rows(Q, first, head, t, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
        do = load_rows(DO, first, head, t, T, OUT_ROW, WIDTH, BLOCK)
        out = load_rows(OUT, first, head, t, T, OUT_ROW, WIDTH, BLOCK)
        delta = tl.sum(do.to(tl.float32) * out.to(tl.float32), axis=1)
        lse = tl.load(LSE + t, mask=t < T, other=0)
        dq = tl.zeros((QUERIES, BLOCK), dtype=tl.float32)
        for start in range(0, tl.minimum(T, (tl.program_id(0) + 1) * QUERIES), KEYS):
            s = start + tl.arange(0, KEYS)
            k = load_rows(K, first, head, s, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
            v = load_rows(V, first, head, s, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
            _, ds = weights_and_slope(q, k, v, do.to(OPERAND), lse, delta, t, s, T, SCALE)
            dq = tl.dot(ds.to(OPERAND), k, dq, input_precision="ieee")
        store_rows(DQ, dq, first, head, t, T, DQ_ROW, WIDTH, BLOCK)
    else:  # dK and dV of a tile of keys: over the queries that see them
        tile = tl.program_id(0) - QUERY_TILES
        s = tile * KEYS + tl.arange(0, KEYS)
        k = load_rows(K, first, head, s, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
        v = load_rows(V, first, head, s, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
        dk = tl.zeros((KEYS, BLOCK), dtype=tl.float32)
        dv = tl.zeros((KEYS, BLOCK), dtype=tl.float32)
        for start in range(tile * KEYS // QUERIES * QUERIES, T, QUERIES):
            t = start + tl.arange(0, QUERIES)
            q = load_rows(Q, first, head, t, T, Q_ROW, WIDTH, BLOCK).to(OPERAND)
            do = load_rows(DO, first, head, t, T, OUT_ROW, WIDTH, BLOCK)
            out = load_rows(OUT, first, head, t, T, OUT_ROW, WIDTH, BLOCK)
            delta = tl.sum(do.to(tl.float32) * out.to(tl.float32), axis=1)
            lse = tl.load(LSE + t, mask=t < T, other=0)
            do = do.to(OPERAND)
            weight, ds = weights_and_slope(q, k, v, do, lse, delta, t, s, T, SCALE)
            dv = tl.dot(tl.trans(weight.to(OPERAND)), do, dv, input_precision="ieee")
            dk = tl.dot(tl.trans(ds.to(OPERAND)), q, dk, input_precision="ieee")
        store_rows(DK, dk, first, head, s, T, DQ_ROW, WIDTH, BLOCK)
        store_rows(DV, dv, first, head, s, T, DQ_ROW, WIDTH, BLOCK)


def forward(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, heads: int) -> None:
    """Fill o and lse [B * heads, T]. q, k and v may have strided rows, all three alike."""
    pairs, length = lse.shape
    queries, keys, warps = sides(length, q.device)
    width = q.shape[1] // heads
    with torch.cuda.device_of(q):
        k_attn_fwd[(triton.cdiv(length, queries), pairs)](
            q, k, v, o, lse, length, heads, 1 / math.sqrt(width), q.stride(0), o.stride(0),
            width, tiles.block(width), queries, keys, tiles.operand(q), num_warps=warps,
        )  # fmt: skip


def backward(
    do: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    dq: Tensor,
    dk: Tensor,
    dv: Tensor,
    scratch: Tensor,
    heads: int,
) -> None:
    """Fill dq, dk and dv. `scratch` is for version 2: this one sums rows of dO * O as it goes."""
    pairs, length = lse.shape
    queries, keys, warps = sides(length, q.device)
    width = q.shape[1] // heads
    query_tiles = triton.cdiv(length, queries)
    with torch.cuda.device_of(q):
        k_attn_bwd[(query_tiles + triton.cdiv(length, keys), pairs)](
            do, q, k, v, o, lse, dq, dk, dv, length, heads, 1 / math.sqrt(width),
            q.stride(0), o.stride(0), dq.stride(0), query_tiles,
            width, tiles.block(width), queries, keys, tiles.operand(q), num_warps=warps,
        )  # fmt: skip


def sides(length: int, device: torch.device) -> tuple[int, int, int]:
    """Queries and keys of a tile, and warps."""
    queries, keys, warps = tiles.card(device).attention
    return min(queries, tiles.block(length)), min(keys, tiles.block(length)), warps


PAIR = Pair(forward, backward)
