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
- Programs come in the order of their length, the longest first, over GROUP heads at a time, so
  that the card ends on short ones: head by head it ended on a long one, half empty. A group's rows
  fit into the cache.
- A tile is read at an address that is the program's plus offsets that never change, so that a
  turn of the loop adds where it multiplied.

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
def turn(TILES, PAIRS, GROUP):
    """This program's rank among the tiles of its head, the longest first, and that head."""
    program = tl.program_id(0)
    before = program // (TILES * GROUP) * GROUP  # heads of the groups before
    members = tl.minimum(PAIRS - before, GROUP)
    rest = program - before * TILES
    return rest // members, before + rest % members


@triton.jit
def start_of(pair, T, HEADS, ROW, WIDTH: tl.constexpr):
    """Where the first token of a pair of sequence and head lies in [R, d] with rows ROW apart."""
    return tl.cast(pair // HEADS, tl.int64) * T * ROW + pair % HEADS * WIDTH


@triton.jit
def rows(X, row, inside, keep, ROW, WHOLE: tl.constexpr, OPERAND: tl.constexpr):
    """A tile from `row` on; without a mask where every lane is real, so that it moves 16 bytes
    at a time."""
    if WHOLE:
        x = tl.load(X + tl.cast(row, tl.int64) * ROW + inside)
    else:
        x = tl.load(X + tl.cast(row, tl.int64) * ROW + inside, mask=keep, other=0)
    return x.to(OPERAND)


@triton.jit
def k_attn_fwd_split(
    Q, K, V, OUT, LSE, T, HEADS, PAIRS, TILES, GROUP, SCALE, Q_ROW, OUT_ROW,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """SCALE has log2 e in it."""
    rank, pair = turn(TILES, PAIRS, GROUP)
    tile = TILES - 1 - rank
    begin = start_of(pair, T, HEADS, Q_ROW, WIDTH)
    lane = tl.arange(0, BLOCK)[None, :]
    query, key = tl.arange(0, QUERIES), tl.arange(0, KEYS)
    t = tile * QUERIES + query
    own = (t < T)[:, None] & (lane < WIDTH)
    q_inside, k_inside = query[:, None] * Q_ROW + lane, key[:, None] * Q_ROW + lane
    q = rows(Q + begin, tile * QUERIES, q_inside, own, Q_ROW, WHOLE, OPERAND)
    largest = tl.full((QUERIES,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    out = tl.zeros((QUERIES, BLOCK), dtype=tl.float32)
    past = tile * QUERIES // KEYS * KEYS  # keys before it are seen by every query of the tile
    for part in tl.static_range(2):
        low = 0 if part == 0 else past
        high = past if part == 0 else tl.minimum(T, (tile + 1) * QUERIES)
        for first in tl.range(low, high, KEYS):
            s = first + key
            there = (s < T)[:, None] & (lane < WIDTH)
            k = rows(K + begin, first, k_inside, there, Q_ROW, WHOLE, OPERAND)
            v = rows(V + begin, first, k_inside, there, Q_ROW, WHOLE, OPERAND)
            score = tl.dot(q, tl.trans(k), input_precision="ieee")
            if part == 1:
                score = tl.where(s[None, :] <= t[:, None], score, float("-inf"))
            higher = tl.maximum(largest, tl.max(score, axis=1))
            weight = tl.exp2(score * SCALE - (higher * SCALE)[:, None])  # one instruction
            shrink = tl.exp2((largest - higher) * SCALE)
            total = total * shrink + tl.sum(weight, axis=1)
            out = tl.dot(weight.to(OPERAND), v, out * shrink[:, None], input_precision="ieee")
            largest = higher
    OUT += start_of(pair, T, HEADS, OUT_ROW, WIDTH) + tl.cast(tile * QUERIES, tl.int64) * OUT_ROW
    tl.store(OUT + query[:, None] * OUT_ROW + lane, out / total[:, None], mask=own)
    lse = (largest * SCALE + tl.log2(total)) * 0.6931471805599453  # in version 1's natural units
    tl.store(LSE + tl.cast(pair, tl.int64) * T + t, lse, mask=t < T)


@triton.jit
def k_attn_bwd_dq(
    DO, Q, K, V, OUT, LSE, DELTA, DQ, T, HEADS, PAIRS, TILES, GROUP, SCALE, SCALE2,
    Q_ROW, OUT_ROW, DQ_ROW,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """dQ of a tile of queries, and delta. SCALE2 is SCALE with log2 e in it."""
    rank, pair = turn(TILES, PAIRS, GROUP)
    tile = TILES - 1 - rank
    begin = start_of(pair, T, HEADS, Q_ROW, WIDTH)
    out_begin = start_of(pair, T, HEADS, OUT_ROW, WIDTH)
    lane = tl.arange(0, BLOCK)[None, :]
    query, key = tl.arange(0, QUERIES), tl.arange(0, KEYS)
    t = tile * QUERIES + query
    own = (t < T)[:, None] & (lane < WIDTH)
    q_inside, k_inside = query[:, None] * Q_ROW + lane, key[:, None] * Q_ROW + lane
    out_inside = query[:, None] * OUT_ROW + lane
    q = rows(Q + begin, tile * QUERIES, q_inside, own, Q_ROW, WHOLE, OPERAND)
    do = rows(DO + out_begin, tile * QUERIES, out_inside, own, OUT_ROW, WHOLE, OPERAND)
    out = rows(OUT + out_begin, tile * QUERIES, out_inside, own, OUT_ROW, WHOLE, tl.float32)
    delta = tl.sum(do.to(tl.float32) * out, axis=1)
    at = tl.cast(pair, tl.int64) * T + t
    tl.store(DELTA + at, delta, mask=t < T)
    lse = tl.load(LSE + at, mask=t < T, other=0) * 1.4426950408889634
    dq = tl.zeros((QUERIES, BLOCK), dtype=tl.float32)
    past = tile * QUERIES // KEYS * KEYS
    for part in tl.static_range(2):
        low = 0 if part == 0 else past
        high = past if part == 0 else tl.minimum(T, (tile + 1) * QUERIES)
        for first in tl.range(low, high, KEYS):
            s = first + key
            there = (s < T)[:, None] & (lane < WIDTH)
            k = rows(K + begin, first, k_inside, there, Q_ROW, WHOLE, OPERAND)
            v = rows(V + begin, first, k_inside, there, Q_ROW, WHOLE, OPERAND)
            weight = tl.exp2(tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE2 - lse[:, None])
            if part == 1:
                weight = tl.where(s[None, :] <= t[:, None], weight, 0.0)
            dp = tl.dot(do, tl.trans(v), input_precision="ieee")
            ds = weight * (dp - delta[:, None])
            dq = tl.dot(ds.to(OPERAND), k, dq, input_precision="ieee")
    DQ += start_of(pair, T, HEADS, DQ_ROW, WIDTH) + tl.cast(tile * QUERIES, tl.int64) * DQ_ROW
    tl.store(DQ + query[:, None] * DQ_ROW + lane, dq * SCALE, mask=own)


@triton.jit
def k_attn_bwd_dkv(
    DO, Q, K, V, LSE, DELTA, DK, DV, T, HEADS, PAIRS, TILES, GROUP, SCALE, SCALE2,
    Q_ROW, OUT_ROW, DQ_ROW,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    OPERAND: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """dK and dV of a tile of keys, over the queries that see them; tiles are [keys, queries]."""
    tile, pair = turn(TILES, PAIRS, GROUP)  # key 0 is seen by all
    begin = start_of(pair, T, HEADS, Q_ROW, WIDTH)
    out_begin = start_of(pair, T, HEADS, OUT_ROW, WIDTH)
    LSE += tl.cast(pair, tl.int64) * T
    DELTA += tl.cast(pair, tl.int64) * T
    lane = tl.arange(0, BLOCK)[None, :]
    query, key = tl.arange(0, QUERIES), tl.arange(0, KEYS)
    s = tile * KEYS + key
    own = (s < T)[:, None] & (lane < WIDTH)
    q_inside, k_inside = query[:, None] * Q_ROW + lane, key[:, None] * Q_ROW + lane
    out_inside = query[:, None] * OUT_ROW + lane
    k = rows(K + begin, tile * KEYS, k_inside, own, Q_ROW, WHOLE, OPERAND)
    v = rows(V + begin, tile * KEYS, k_inside, own, Q_ROW, WHOLE, OPERAND)
    dk = tl.zeros((KEYS, BLOCK), dtype=tl.float32)
    dv = tl.zeros((KEYS, BLOCK), dtype=tl.float32)
    earliest = tile * KEYS // QUERIES * QUERIES
    # From here on every query sees every key of the tile.
    after = ((tile + 1) * KEYS + QUERIES - 1) // QUERIES * QUERIES
    for part in tl.static_range(2):
        low = earliest if part == 0 else after
        high = tl.minimum(T, after) if part == 0 else T
        for first in tl.range(low, high, QUERIES):
            t = first + query
            there = (t < T)[:, None] & (lane < WIDTH)
            q = rows(Q + begin, first, q_inside, there, Q_ROW, WHOLE, OPERAND)
            do = rows(DO + out_begin, first, out_inside, there, OUT_ROW, WHOLE, OPERAND)
            lse = tl.load(LSE + t, mask=t < T, other=0) * 1.4426950408889634
            delta = tl.load(DELTA + t, mask=t < T, other=0)
            weight = tl.exp2(tl.dot(k, tl.trans(q), input_precision="ieee") * SCALE2 - lse[None, :])
            if part == 0:
                weight = tl.where(s[:, None] <= t[None, :], weight, 0.0)
            dv = tl.dot(weight.to(OPERAND), do, dv, input_precision="ieee")
            dp = tl.dot(v, tl.trans(do), input_precision="ieee")
            ds = weight * (dp - delta[None, :])
            dk = tl.dot(ds.to(OPERAND), q, dk, input_precision="ieee")
    place = start_of(pair, T, HEADS, DQ_ROW, WIDTH) + tl.cast(tile * KEYS, tl.int64) * DQ_ROW
    inside = key[:, None] * DQ_ROW + lane
    tl.store(DK + place + inside, dk * SCALE, mask=own)
    tl.store(DV + place + inside, dv, mask=own)


def forward(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, heads: int) -> None:
    """Fill o and lse [B * heads, T]. q, k and v may have strided rows, all three alike."""
    requirements.contiguous(o=o, lse=lse)
    requirements.rows(q=q)
    requirements.alike(q=q, k=k, v=v)
    pairs, length = lse.shape
    cut = tiles.reach("forward", length, q.dtype, q.device)
    width = q.shape[1] // heads
    count = triton.cdiv(length, cut.queries)
    with torch.cuda.device_of(q):
        k_attn_fwd_split[(count * pairs,)](
            q, k, v, o, lse, length, heads, pairs, count, cut.group, LOG2E / math.sqrt(width),
            q.stride(0), o.stride(0), width, tiles.block(width), cut.queries, cut.keys,
            tiles.operand(q), whole(cut, length, width), **cut.options,
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
        count = triton.cdiv(length, cut.queries)
        k_attn_bwd_dq[(count * pairs,)](
            do, q, k, v, o, lse, scratch, dq, length, heads,
            pairs, count, cut.group, *scales, *strides, *lanes,
            cut.queries, cut.keys, tiles.operand(q), whole(cut, length, width), **cut.options,
        )  # fmt: skip
        cut = tiles.reach("dkv", length, q.dtype, q.device)
        count = triton.cdiv(length, cut.keys)
        k_attn_bwd_dkv[(count * pairs,)](
            do, q, k, v, lse, scratch, dk, dv, length, heads,
            pairs, count, cut.group, *scales, *strides, *lanes,
            cut.queries, cut.keys, tiles.operand(q), whole(cut, length, width), **cut.options,
        )  # fmt: skip


def whole(cut: tiles.Reach, length: int, width: int) -> bool:
    """Whether no tile has a lane beyond the sequence or the head."""
    return length % cut.queries == 0 == length % cut.keys and tiles.block(width) == width


PAIR = Pair(forward, backward)
