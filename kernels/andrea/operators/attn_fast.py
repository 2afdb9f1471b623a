"""Attention, version 2: version 1's arithmetic, arranged for tensor cores.

What it changes from version 1, and why:
- Whole tiles in the past need no mask; only those on the diagonal compare s with t.
- Powers of two: exp(x) is exp2(x * log2 e), and the factor goes into the scale, once.
- Two launches backward, each with tiles of its own: dQ first, which also leaves
  delta = rowsum(dO * O) in `scratch`; then dK and dV, which reads it and works on S^T, so that
  P^T and dS^T come out of one product the way the next one takes them.
- dQ has a kernel of its own rather than atomic additions from the other: the sum has one order,
  for 2/5 more FLOPs. (Atomics are why flash attention's usual backward pass is not
  deterministic.)
- The longest programs start first, so that the last ones to finish are short.

FLOPs: forward 2*B*T^2*d, backward 7*B*T^2*d: at 8 x 12 x 1024 x 64, 12.9 and 45.1 GFLOP. Bytes at
the least as in version 1: 50 MB and 101 MB there in BF16, so the products decide.
"""
# mypy: disable-error-code="no-untyped-def"

import math

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import Pair, requirements, tiles

Tensor = torch.Tensor
LOG2E = math.log2(math.e)


@triton.jit
def rows(X, place, keep, WHOLE: tl.constexpr, OPERAND: tl.constexpr):
    """A tile; without a mask where every lane is real, so that it moves 16 bytes at a time."""
    if WHOLE:
        x = tl.load(X + place)
    else:
        x = tl.load(X + place, mask=keep, other=0)
    return x.to(OPERAND)


@triton.jit
def k_attn_fwd_split(
    Q, K, V, OUT, LSE, T, HEADS, SCALE, Q_ROW, OUT_ROW,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """SCALE has log2 e in it."""
    pair = tl.program_id(1)
    first, head = (pair // HEADS).to(tl.int64) * T, pair % HEADS
    lane = tl.arange(0, BLOCK)[None, :]
    tile = tl.num_programs(0) - 1 - tl.program_id(0)  # the longest first
    t = tile * QUERIES + tl.arange(0, QUERIES)
    own = (t < T)[:, None] & (lane < WIDTH)
    q = rows(Q, (first + t)[:, None] * Q_ROW + head * WIDTH + lane, own, WHOLE, OPERAND)
    largest = tl.full((QUERIES,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    out = tl.zeros((QUERIES, BLOCK), dtype=tl.float32)
    past = tile * QUERIES // KEYS * KEYS  # keys before it are seen by every query of the tile
    for part in tl.static_range(2):
        low = 0 if part == 0 else past
        high = past if part == 0 else tl.minimum(T, (tile + 1) * QUERIES)
        for start in tl.range(low, high, KEYS):
            s = start + tl.arange(0, KEYS)
            there = (s < T)[:, None] & (lane < WIDTH)
            place = (first + s)[:, None] * Q_ROW + head * WIDTH + lane
            k = rows(K, place, there, WHOLE, OPERAND)
            v = rows(V, place, there, WHOLE, OPERAND)
            score = tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE
            if part == 1:
                score = tl.where(s[None, :] <= t[:, None], score, float("-inf"))
            higher = tl.maximum(largest, tl.max(score, axis=1))
            weight = tl.exp2(score - higher[:, None])
            shrink = tl.exp2(largest - higher)
            total = total * shrink + tl.sum(weight, axis=1)
            out = tl.dot(weight.to(OPERAND), v, out * shrink[:, None], input_precision="ieee")
            largest = higher
    place = (first + t)[:, None] * OUT_ROW + head * WIDTH + lane
    tl.store(OUT + place, out / total[:, None], mask=own)
    lse = (largest + tl.log2(total)) * 0.6931471805599453  # in natural units, as version 1's
    tl.store(LSE + pair.to(tl.int64) * T + t, lse, mask=t < T)


@triton.jit
def k_attn_bwd_dq(
    DO, Q, K, V, OUT, LSE, DELTA, DQ, T, HEADS, SCALE, SCALE2, Q_ROW, OUT_ROW, DQ_ROW,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """dQ of a tile of queries, and delta. SCALE2 is SCALE with log2 e in it."""
    pair = tl.program_id(1)
    first, head = (pair // HEADS).to(tl.int64) * T, pair % HEADS
    lane = tl.arange(0, BLOCK)[None, :]
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    t = tile * QUERIES + tl.arange(0, QUERIES)
    own = (t < T)[:, None] & (lane < WIDTH)
    q = rows(Q, (first + t)[:, None] * Q_ROW + head * WIDTH + lane, own, WHOLE, OPERAND)
    out_place = (first + t)[:, None] * OUT_ROW + head * WIDTH + lane
    do = rows(DO, out_place, own, WHOLE, OPERAND)
    out = rows(OUT, out_place, own, WHOLE, tl.float32)
    delta = tl.sum(do.to(tl.float32) * out, axis=1)
    at = pair.to(tl.int64) * T + t
    tl.store(DELTA + at, delta, mask=t < T)
    lse = tl.load(LSE + at, mask=t < T, other=0) * 1.4426950408889634
    dq = tl.zeros((QUERIES, BLOCK), dtype=tl.float32)
    past = tile * QUERIES // KEYS * KEYS
    for part in tl.static_range(2):
        low = 0 if part == 0 else past
        high = past if part == 0 else tl.minimum(T, (tile + 1) * QUERIES)
        for start in tl.range(low, high, KEYS):
            s = start + tl.arange(0, KEYS)
            there = (s < T)[:, None] & (lane < WIDTH)
            place = (first + s)[:, None] * Q_ROW + head * WIDTH + lane
            k = rows(K, place, there, WHOLE, OPERAND)
            v = rows(V, place, there, WHOLE, OPERAND)
            weight = tl.exp2(tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE2 - lse[:, None])
            if part == 1:
                weight = tl.where(s[None, :] <= t[:, None], weight, 0.0)
            dp = tl.dot(do, tl.trans(v), input_precision="ieee")
            ds = weight * (dp - delta[:, None])
            dq = tl.dot(ds.to(OPERAND), k, dq, input_precision="ieee")
    tl.store(DQ + (first + t)[:, None] * DQ_ROW + head * WIDTH + lane, dq * SCALE, mask=own)


@triton.jit
def k_attn_bwd_dkv(
    DO, Q, K, V, LSE, DELTA, DK, DV, T, HEADS, SCALE, SCALE2, Q_ROW, OUT_ROW, DQ_ROW,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """dK and dV of a tile of keys, over the queries that see them; tiles are [keys, queries]."""
    pair = tl.program_id(1)
    first, head = (pair // HEADS).to(tl.int64) * T, pair % HEADS
    LSE += pair.to(tl.int64) * T
    DELTA += pair.to(tl.int64) * T
    lane = tl.arange(0, BLOCK)[None, :]
    tile = tl.program_id(0)  # the longest come first: key 0 is seen by all
    s = tile * KEYS + tl.arange(0, KEYS)
    own = (s < T)[:, None] & (lane < WIDTH)
    place = (first + s)[:, None] * Q_ROW + head * WIDTH + lane
    k = rows(K, place, own, WHOLE, OPERAND)
    v = rows(V, place, own, WHOLE, OPERAND)
    dk = tl.zeros((KEYS, BLOCK), dtype=tl.float32)
    dv = tl.zeros((KEYS, BLOCK), dtype=tl.float32)
    begin = tile * KEYS // QUERIES * QUERIES
    # From here on every query sees every key of the tile.
    after = ((tile + 1) * KEYS + QUERIES - 1) // QUERIES * QUERIES
    for part in tl.static_range(2):
        low = begin if part == 0 else after
        high = tl.minimum(T, after) if part == 0 else T
        for start in tl.range(low, high, QUERIES):
            t = start + tl.arange(0, QUERIES)
            there = (t < T)[:, None] & (lane < WIDTH)
            q_place = (first + t)[:, None] * Q_ROW + head * WIDTH + lane
            out_place = (first + t)[:, None] * OUT_ROW + head * WIDTH + lane
            q = rows(Q, q_place, there, WHOLE, OPERAND)
            do = rows(DO, out_place, there, WHOLE, OPERAND)
            lse = tl.load(LSE + t, mask=t < T, other=0) * 1.4426950408889634
            delta = tl.load(DELTA + t, mask=t < T, other=0)
            weight = tl.exp2(tl.dot(k, tl.trans(q), input_precision="ieee") * SCALE2 - lse[None, :])
            if part == 0:
                weight = tl.where(s[:, None] <= t[None, :], weight, 0.0)
            dv = tl.dot(weight.to(OPERAND), do, dv, input_precision="ieee")
            dp = tl.dot(v, tl.trans(do), input_precision="ieee")
            ds = weight * (dp - delta[None, :])
            dk = tl.dot(ds.to(OPERAND), q, dk, input_precision="ieee")
    place = (first + s)[:, None] * DQ_ROW + head * WIDTH + lane
    tl.store(DK + place, dk * SCALE, mask=own)
    tl.store(DV + place, dv, mask=own)


def forward(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, heads: int) -> None:
    """Fill o and lse [B * heads, T]. q, k and v may have strided rows, all three alike."""
    requirements.contiguous(o=o, lse=lse)
    requirements.rows(q=q)
    requirements.alike(q=q, k=k, v=v)
    pairs, length = lse.shape
    cut = tiles.reach("forward", length, q.dtype, q.device)
    width = q.shape[1] // heads
    with torch.cuda.device_of(q):
        k_attn_fwd_split[(triton.cdiv(length, cut.queries), pairs)](
            q, k, v, o, lse, length, heads, LOG2E / math.sqrt(width), q.stride(0), o.stride(0),
            width, tiles.block(width), cut.queries, cut.keys, tiles.operand(q),
            whole(cut, length, width), num_warps=cut.warps, num_stages=cut.stages,
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
    """Fill dq, dk and dv. scratch [B * heads, T] FP32 takes rowsum(dO * O)."""
    requirements.contiguous(do=do, o=o, lse=lse, scratch=scratch)
    requirements.rows(q=q, dq=dq)
    requirements.alike(q=q, k=k, v=v)
    requirements.alike(dq=dq, dk=dk, dv=dv)
    pairs, length = lse.shape
    width = q.shape[1] // heads
    scales = (1 / math.sqrt(width), LOG2E / math.sqrt(width))
    strides = (q.stride(0), o.stride(0), dq.stride(0))
    lanes = (width, tiles.block(width))
    with torch.cuda.device_of(q):
        cut = tiles.reach("dq", length, q.dtype, q.device)
        k_attn_bwd_dq[(triton.cdiv(length, cut.queries), pairs)](
            do, q, k, v, o, lse, scratch, dq, length, heads, *scales, *strides, *lanes,
            cut.queries, cut.keys, tiles.operand(q), whole(cut, length, width),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip
        cut = tiles.reach("dkv", length, q.dtype, q.device)
        k_attn_bwd_dkv[(triton.cdiv(length, cut.keys), pairs)](
            do, q, k, v, lse, scratch, dk, dv, length, heads, *scales, *strides, *lanes,
            cut.queries, cut.keys, tiles.operand(q), whole(cut, length, width),
            num_warps=cut.warps, num_stages=cut.stages,
        )  # fmt: skip


def whole(cut: tiles.Reach, length: int, width: int) -> bool:
    """Whether no tile has a lane beyond the sequence or the head."""
    return length % cut.queries == 0 == length % cut.keys and tiles.block(width) == width


PAIR = Pair(forward, backward)
