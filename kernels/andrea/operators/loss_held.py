"""Cross-entropy, version 2 for wide rows: the row stays in registers, memory sees it once.

What it changes from `loss_fast.k_loss_fwd_bwd`, and why:
- One large program a multiprocessor holds a whole row as it was read, 16 bits a number: V = 50,304
  takes 100 kB of the 256 kB of registers. The gradient is made from there, so nothing depends
  on what the L2 cache keeps.
- As soon as a tile's gradient is written, the same tile of the program's next row is fetched
  into the registers that became free, and AHEAD tiles later, when it has come, its largest values
  and sums are taken. Loads, stores and both passes' exponentials overlap all the time; a
  row's end costs one meeting of the threads and the wait for the last AHEAD tiles.
- The label and its logit are fetched a row ahead too: each is a wait of its own.

Bytes: 2*R*V*s, one read and one write. At R = 8192, V = 50,304 in BF16: 1.65 GB, 386 us at
4.27 TB/s. 2.1*R*V exponentials, 218 us at 16 a clock of each of 132 multiprocessors; about 8*R*V
FLOPs, 3.3 GFLOP.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

import torch
import triton
import triton.language as tl

from kernels.andrea.operators import tiles
from kernels.andrea.operators.rounding import assembler, packed

Tensor = torch.Tensor
# Small, for the interpreter, where only tests come by: two programs with several rows each.
INTERPRETED = tiles.Walk(64, 1, 1, programs=2)
# Columns: of narrower rows the cache holds enough, wider ones do not fit into the registers.
NARROWEST, WIDEST = 32_768, 57_344
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def fetch(place, there, keep, LAST: tl.constexpr):
    """A tile as it lies in memory, two numbers in each of its 32-bit words."""
    if LAST:
        return tl.load(place, mask=there & keep, other=0)
    else:
        return tl.load(place, mask=there)


@triton.jit
def unpack(words, pair, V, DTYPE: tl.constexpr, LAST: tl.constexpr):
    """The numbers of even and of odd columns in FP32; columns beyond V count for nothing."""
    if DTYPE == tl.bfloat16:  # the upper half of FP32
        even = (words << 16).to(tl.float32, bitcast=True)
        odd = (words & 0xFFFF0000).to(tl.float32, bitcast=True)
    else:
        even = (words & 0xFFFF).to(tl.uint16).to(DTYPE, bitcast=True).to(tl.float32)
        odd = (words >> 16).to(tl.uint16).to(DTYPE, bitcast=True).to(tl.float32)
    if LAST:
        even = tl.where(pair * 2 < V, even, float("-inf"))
        odd = tl.where(pair * 2 + 1 < V, odd, float("-inf"))
    return even, odd


@triton.jit
def include(words, pair, V, largest, total, DTYPE: tl.constexpr, LAST: tl.constexpr):
    """Every 8 neighbours have a largest value and a sum of their own, which one thread holds."""
    even, odd = unpack(words, pair, V, DTYPE, LAST)
    higher = tl.maximum(largest, tl.max(tl.maximum(even, odd), axis=1))
    base = tl.where(higher == float("-inf"), 0.0, higher) * LOG2E  # -inf - -inf would be NaN
    terms = tl.exp2(even * LOG2E - base[:, None]) + tl.exp2(odd * LOG2E - base[:, None])
    return higher, total * tl.exp2(largest * LOG2E - base) + tl.sum(terms, axis=1)


@triton.jit
def meet(largest, total):
    """lse, once a row."""
    higher = tl.max(largest, axis=0)
    base = tl.where(higher == float("-inf"), 0.0, higher)
    return higher + tl.log(tl.sum(total * tl.exp2((largest - base) * LOG2E), axis=0))


@triton.jit
def slope(words, pair, V, below, share, DTYPE: tl.constexpr, LAST: tl.constexpr, ASSEMBLER):
    """softmax * share, from the logits' words to the gradient's; below = lse / ln 2."""
    even, odd = unpack(words, pair, V, DTYPE, LAST)
    even, odd = tl.exp2(even * LOG2E - below), tl.exp2(odd * LOG2E - below)
    return packed(even * share, odd * share, DTYPE, ASSEMBLER)


@triton.jit
def logit_of(start, target, V):
    real = (target >= 0) & (target < V)
    return tl.load(start + target, mask=real, other=float("nan")).to(tl.float32)


@triton.jit
def k_loss_fwd_bwd_held(
    LOGITS, TARGETS, COUNT, UPSTREAM, LOSSES, R, V, PAIRS, LOGITS_ROW, UPSTREAM_ROW,
    TILES: tl.constexpr, BLOCK: tl.constexpr, AHEAD: tl.constexpr, ASSEMBLER: tl.constexpr,
):  # fmt: skip
    """Columns from V to 2 * PAIRS are not of the vocabulary: they become 0."""
    DTYPE: tl.constexpr = LOGITS.dtype.element_ty
    HALF: tl.constexpr = BLOCK // 2
    word = tl.arange(0, BLOCK // 8)[:, None] * 4 + tl.arange(0, 4)[None, :]
    keep = word + (TILES - 1) * HALF < PAIRS
    lowest = tl.full((BLOCK // 8,), float("-inf"), dtype=tl.float32)
    nothing = tl.zeros((BLOCK // 8,), dtype=tl.float32)
    first = tl.program_id(0).to(tl.int64)
    count = tl.maximum(tl.load(COUNT), 1.0)
    start = LOGITS + first * LOGITS_ROW
    tile = start.to(tl.pointer_type(tl.uint32)) + word
    held = ()
    for i in tl.static_range(TILES):
        held = held + (fetch(tile + i * HALF, first < R, keep, i == TILES - 1),)
    largest, total = lowest, nothing
    for i in tl.static_range(TILES):
        at = word + i * HALF
        largest, total = include(held[i], at, V, largest, total, DTYPE, i == TILES - 1)
    target = tl.load(TARGETS + first, mask=first < R, other=-1)
    logit = logit_of(start, target, V)
    tl.debug_barrier()
    for row in tl.range(first, R, tl.num_programs(0), num_stages=1):
        after = row + tl.num_programs(0)
        upstream = tl.load(UPSTREAM + row * UPSTREAM_ROW)
        next_target = tl.load(TARGETS + after, mask=after < R, other=-1)
        lse = meet(largest, total)
        kept = target >= 0
        tl.store(LOSSES + row, tl.where(kept, lse - logit, 0.0))
        share = tl.where(kept, upstream / count, 0.0)
        below = tl.where(kept, lse * LOG2E, float("inf"))  # exp2(-inf) = 0
        start = LOGITS + row * LOGITS_ROW
        there = LOGITS + after * LOGITS_ROW
        tile = start.to(tl.pointer_type(tl.uint32)) + word
        next_tile = there.to(tl.pointer_type(tl.uint32)) + word
        fresh = ()
        largest, total = lowest, nothing
        for i in tl.static_range(TILES):
            at = word + i * HALF
            made = slope(held[i], at, V, below, share, DTYPE, i == TILES - 1, ASSEMBLER)
            tl.store(tile + i * HALF, made, mask=keep if i == TILES - 1 else None)
            fresh = fresh + (fetch(next_tile + i * HALF, after < R, keep, i == TILES - 1),)
            if i >= AHEAD:
                largest, total = include(fresh[i - AHEAD], word, V, largest, total, DTYPE, False)
        next_logit = logit_of(there, next_target, V)
        for i in tl.static_range(TILES - AHEAD, TILES):
            at = word + i * HALF
            largest, total = include(fresh[i], at, V, largest, total, DTYPE, i == TILES - 1)
        # The label's store must not pass that of its column, which may be another thread's; nor
        # may a store of the next row pass the load of its label.
        tl.debug_barrier()
        real = kept & (target < V)
        tl.store(start + target, (tl.exp2((logit - lse) * LOG2E) - 1.0) * share, mask=real)
        held, target, logit = fresh, next_target, next_logit


def fits(logits: Tensor, behind: int) -> bool:
    """Whether rows can be held: on a card for which that was measured, 16 bits, of a width that
    pays, cut into whole words."""
    if tiles.card(logits.device).held is None or not assembler(logits):
        return False
    width = logits.shape[1] + behind
    words = logits.stride(0) % 2 == width % 2 == logits.data_ptr() % 4 == 0
    return words and NARROWEST <= width <= WIDEST


def launch(
    logits: Tensor,
    targets: Tensor,
    count: Tensor,
    upstream: Tensor,
    losses: Tensor,
    behind: int,
) -> None:
    """`loss_fast.forward_backward`, but for the mean, where rows fit."""
    rows, vocabulary = logits.shape
    width = vocabulary + behind
    made = tiles.card(logits.device).held or INTERPRETED
    programs = made.programs * tiles.multiprocessors(logits.device)
    count_of_tiles = triton.cdiv(width, made.elements)
    k_loss_fwd_bwd_held[(tiles.few(min(rows, programs)),)](
        logits, targets, count, upstream, losses, rows, vocabulary, width // 2,
        logits.stride(0), 0 if upstream.numel() == 1 else 1,
        count_of_tiles, made.elements, min(made.stages, count_of_tiles), assembler(logits),
        num_warps=made.warps,
    )  # fmt: skip
