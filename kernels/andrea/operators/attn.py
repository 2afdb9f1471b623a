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

from kernels.andrea.operators import Pair, requirements, tiles

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
def k_attn_fwd(
    Q, K, V, OUT, LSE, T, HEADS, SCALE, Q_ROW, OUT_ROW,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(1)  # one sequence and one of its heads
    first, head = (pair // HEADS).to(tl.int64) * T, pair % HEADS
    lane = tl.arange(0, BLOCK)[None, :]
    t = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    real = (t < T)[:, None] & (lane < WIDTH)
    q = tl.load(Q + (first + t)[:, None] * Q_ROW + head * WIDTH + lane, mask=real, other=0)
    largest = tl.full((QUERIES,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    out = tl.zeros((QUERIES, BLOCK), dtype=tl.float32)
    # No key after the last query of the tile. Key 0, which all queries see, comes first, so
    # `largest` is finite from the first turn on.
    for start in range(0, tl.minimum(T, (tl.program_id(0) + 1) * QUERIES), KEYS):
        s = start + tl.arange(0, KEYS)
        there = (s < T)[:, None] & (lane < WIDTH)
        place = (first + s)[:, None] * Q_ROW + head * WIDTH + lane
        k = tl.load(K + place, mask=there, other=0)
        v = tl.load(V + place, mask=there, other=0)
        score = tl.dot(q.to(OPERAND), tl.trans(k.to(OPERAND)), input_precision="ieee") * SCALE
        # A query sees itself and what came before; so it never sees a key beyond T either.
        score = tl.where(s[None, :] <= t[:, None], score, float("-inf"))
        higher = tl.maximum(largest, tl.max(score, axis=1))
        weight = tl.exp(score - higher[:, None])
        shrink = tl.exp(largest - higher)  # what was summed so far had a smaller maximum
        total = total * shrink + tl.sum(weight, axis=1)
        out = out * shrink[:, None]
        out = tl.dot(weight.to(OPERAND), v.to(OPERAND), out, input_precision="ieee")
        largest = higher
    out_place = (first + t)[:, None] * OUT_ROW + head * WIDTH + lane
    tl.store(OUT + out_place, out / total[:, None], mask=real)
    tl.store(LSE + pair.to(tl.int64) * T + t, largest + tl.log(total), mask=t < T)


@triton.jit
def k_attn_bwd(
    DO, Q, K, V, OUT, LSE, DQ, DK, DV, T, HEADS, SCALE, Q_ROW, OUT_ROW, DQ_ROW, QUERY_TILES,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(1)
    first, head = (pair // HEADS).to(tl.int64) * T, pair % HEADS
    LSE += pair.to(tl.int64) * T
    lane = tl.arange(0, BLOCK)[None, :]
    if tl.program_id(0) < QUERY_TILES:  # dQ of a tile of queries: over the keys they see
        t = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
        own = (t < T)[:, None] & (lane < WIDTH)
        q = tl.load(Q + (first + t)[:, None] * Q_ROW + head * WIDTH + lane, mask=own, other=0)
        out_place = (first + t)[:, None] * OUT_ROW + head * WIDTH + lane
        do = tl.load(DO + out_place, mask=own, other=0)
        out = tl.load(OUT + out_place, mask=own, other=0)
        delta = tl.sum(do.to(tl.float32) * out.to(tl.float32), axis=1)
        lse = tl.load(LSE + t, mask=t < T, other=0)
        dq = tl.zeros((QUERIES, BLOCK), dtype=tl.float32)
        for start in range(0, tl.minimum(T, (tl.program_id(0) + 1) * QUERIES), KEYS):
            s = start + tl.arange(0, KEYS)
            there = (s < T)[:, None] & (lane < WIDTH)
            place = (first + s)[:, None] * Q_ROW + head * WIDTH + lane
            k = tl.load(K + place, mask=there, other=0).to(OPERAND)
            v = tl.load(V + place, mask=there, other=0).to(OPERAND)
            score = tl.dot(q.to(OPERAND), tl.trans(k), input_precision="ieee") * SCALE
            score = tl.where(s[None, :] <= t[:, None], score, float("-inf"))
            weight = tl.exp(score - lse[:, None])
            dp = tl.dot(do.to(OPERAND), tl.trans(v), input_precision="ieee")
            ds = weight * (dp - delta[:, None]) * SCALE
            dq = tl.dot(ds.to(OPERAND), k, dq, input_precision="ieee")
        tl.store(DQ + (first + t)[:, None] * DQ_ROW + head * WIDTH + lane, dq, mask=own)
    else:  # dK and dV of a tile of keys: over the queries that see them
        tile = tl.program_id(0) - QUERY_TILES
        s = tile * KEYS + tl.arange(0, KEYS)
        kept = (s < T)[:, None] & (lane < WIDTH)
        place = (first + s)[:, None] * Q_ROW + head * WIDTH + lane
        k = tl.load(K + place, mask=kept, other=0).to(OPERAND)
        v = tl.load(V + place, mask=kept, other=0).to(OPERAND)
        dk = tl.zeros((KEYS, BLOCK), dtype=tl.float32)
        dv = tl.zeros((KEYS, BLOCK), dtype=tl.float32)
        for start in range(tile * KEYS // QUERIES * QUERIES, T, QUERIES):
            t = start + tl.arange(0, QUERIES)
            there = (t < T)[:, None] & (lane < WIDTH)
            q_place = (first + t)[:, None] * Q_ROW + head * WIDTH + lane
            out_place = (first + t)[:, None] * OUT_ROW + head * WIDTH + lane
            q = tl.load(Q + q_place, mask=there, other=0).to(OPERAND)
            do = tl.load(DO + out_place, mask=there, other=0)
            out = tl.load(OUT + out_place, mask=there, other=0)
            delta = tl.sum(do.to(tl.float32) * out.to(tl.float32), axis=1)
            lse = tl.load(LSE + t, mask=t < T, other=0)
            score = tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE
            score = tl.where(s[None, :] <= t[:, None], score, float("-inf"))
            weight = tl.exp(score - lse[:, None])
            dp = tl.dot(do.to(OPERAND), tl.trans(v), input_precision="ieee")
            ds = weight * (dp - delta[:, None]) * SCALE
            # Queries beyond T have do = 0, hence ds = 0: they add nothing.
            dv = tl.dot(tl.trans(weight.to(OPERAND)), do.to(OPERAND), dv, input_precision="ieee")
            dk = tl.dot(tl.trans(ds.to(OPERAND)), q, dk, input_precision="ieee")
        gradient_place = (first + s)[:, None] * DQ_ROW + head * WIDTH + lane
        tl.store(DK + gradient_place, dk, mask=kept)
        tl.store(DV + gradient_place, dv, mask=kept)


def forward(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, heads: int) -> None:
    """Fill o and lse [B * heads, T]. q, k and v may have strided rows, all three alike."""
    requirements.contiguous(o=o, lse=lse)
    requirements.rows(q=q)
    requirements.alike(q=q, k=k, v=v)
    pairs, length = lse.shape
    cut = tiles.reach("attention", length, q.dtype, q.device)
    width = q.shape[1] // heads
    with torch.cuda.device_of(q):
        k_attn_fwd[(triton.cdiv(length, cut.queries), pairs)](
            q, k, v, o, lse, length, heads, 1 / math.sqrt(width), q.stride(0), o.stride(0),
            width, tiles.block(width), cut.queries, cut.keys, tiles.operand(q),
            num_warps=cut.warps, num_stages=cut.stages,
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
    requirements.contiguous(do=do, o=o, lse=lse, scratch=scratch)
    requirements.rows(q=q, dq=dq)
    requirements.alike(q=q, k=k, v=v)
    requirements.alike(dq=dq, dk=dk, dv=dv)
    pairs, length = lse.shape
    cut = tiles.reach("attention", length, q.dtype, q.device)
    width = q.shape[1] // heads
    query_tiles = triton.cdiv(length, cut.queries)
    with torch.cuda.device_of(q):
        k_attn_bwd[(query_tiles + triton.cdiv(length, cut.keys), pairs)](
            do, q, k, v, o, lse, dq, dk, dv, length, heads, 1 / math.sqrt(width),
            q.stride(0), o.stride(0), dq.stride(0), query_tiles,
            width, tiles.block(width), cut.queries, cut.keys, tiles.operand(q),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip


PAIR = Pair(forward, backward)
