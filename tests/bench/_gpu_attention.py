"""Attention's tiles on a card, version 2, beside flash attention."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from triton.errors import TritonError

from kernels import timing
from kernels.andrea.operators import attn_fast, tiles
from kernels.compiling import compile_ahead
from tests.bench._gpu_candidates import (
    BATCH,
    BF16,
    HEADS,
    LENGTH,
    WIDTH,
    Call,
    Part,
    Tensor,
    normal,
    works,
)

# Queries, keys, warps, stages and the most registers a thread may have, by kernel.
CUTS: dict[str, tuple[tuple[int, int, int, int, int | None], ...]] = {
    "forward": (
        *((64, 64, 4, 3, None), (64, 64, 4, 2, None), (128, 64, 8, 2, None)),
        *((128, 64, 8, 3, 128), (64, 128, 8, 3, None), (128, 128, 8, 3, 128)),
        (128, 64, 4, 3, None),
    ),
    "dq": (
        *((64, 64, 4, 3, None), (64, 64, 4, 2, None), (128, 64, 8, 3, 128)),
        *((128, 64, 8, 2, 128), (64, 32, 4, 3, None), (128, 32, 8, 3, 128), (128, 128, 8, 2, None)),
    ),
    "dkv": (
        *((64, 64, 4, 3, None), (64, 64, 4, 2, None), (64, 64, 4, 3, 168), (64, 64, 4, 2, 168)),
        *((32, 64, 4, 3, None), (32, 64, 4, 2, 168), (32, 64, 4, 4, 168), (32, 128, 8, 3, 128)),
        *((32, 128, 8, 2, 128), (64, 128, 8, 3, None), (64, 128, 8, 2, None)),
    ),
}
GROUPS = (1, 16, 32, 48, 96, 384)
GROUP = 48  # with which every cut is tried


def with_reach(kind: str, reach: tiles.Reach, call: Call) -> Call:
    """The call, with that tile of attention whatever the table says."""

    def cut(asked: str, *rest: Any, whole: Any = tiles.reach) -> tiles.Reach:
        return reach if asked == kind else whole(asked, *rest)

    def patched() -> None:
        kept, tiles.reach = tiles.reach, cut  # type: ignore[assignment]
        try:
            call()
        finally:
            tiles.reach = kept

    return patched


def reaches(kind: str) -> Iterator[tiles.Reach]:
    """Every cut, and every group with the engine's own cut."""
    for queries, keys, warps, stages, registers in CUTS[kind]:
        yield tiles.Reach(queries, keys, warps, stages, GROUP, registers)
    own = getattr(tiles.HOPPER, kind)
    for group in GROUPS:
        yield tiles.Reach(own.queries, own.keys, own.warps, own.stages, group, own.registers)


def attention(speed: float, batch: int = BATCH) -> Part:
    rows = batch * LENGTH
    q, k, v = normal(rows, 3, WIDTH).unbind(1)
    do, o = normal(rows, WIDTH), normal(rows, WIDTH)
    dq, dk, dv = torch.empty(3, rows, WIDTH, device="cuda", dtype=BF16)
    lse, scratch = (torch.empty(batch * HEADS, LENGTH, device="cuda") for _ in range(2))
    forward = partial(attn_fast.forward, q, k, v, o, lse, HEADS)
    backward = partial(attn_fast.backward, do, q, k, v, o, lse, dq, dk, dv, scratch, HEADS)
    calls: dict[str, Call] = {"forward": forward, "dq": backward, "dkv": backward}
    tried = {kind: {str(reach): reach for reach in reaches(kind)} for kind in calls}
    compile_all(calls, tried)

    due, due_gradients, peers = flash(q, k, v, do)
    pairs = {"forward": [(o, due)], "dq": list(zip((dq, dk, dv), due_gradients, strict=True))}
    pairs["dkv"] = pairs["dq"]
    for kind, call in calls.items():
        forward()  # whose results the backward pass reads
        found = {}
        for name, reach in tried[kind].items():
            made = with_reach(kind, reach, call)
            if works(f"{kind} {name}", made) and near(pairs[kind]):
                found[name] = made
        side = "forward" if kind == "forward" else "backward"
        yield f"attention, batch {batch}, {side} by {kind} (flash)", peers[side], found


def compile_all(calls: dict[str, Call], tried: dict[str, dict[str, tiles.Reach]]) -> None:
    """Side by side. What does not compile says so when it is tried."""

    def launches() -> None:
        for kind, found in tried.items():
            for reach in found.values():
                with_reach(kind, reach, calls[kind])()

    try:
        compile_ahead(launches)
    except (TritonError, AssertionError) as error:
        print(f"  not every cut compiles: {type(error).__name__}")


def flash(
    q: Tensor, k: Tensor, v: Tensor, do: Tensor
) -> tuple[Tensor, list[Tensor], dict[str, float]]:
    """o, the gradients and microseconds forward and backward."""
    rows, batch = q.shape[0], q.shape[0] // LENGTH

    def heads(x: Tensor) -> Tensor:
        return x.view(batch, LENGTH, HEADS, -1).transpose(1, 2).detach().requires_grad_()

    def joined(x: Tensor) -> Tensor:
        return x.transpose(1, 2).reshape(rows, WIDTH)

    sides = [heads(side) for side in (q, k, v)]
    sdpa: Any = torch.nn.functional.scaled_dot_product_attention
    upstream = heads(do).detach()
    out = sdpa(*sides, is_causal=True)
    gradients = torch.autograd.grad(out, sides, upstream, retain_graph=True)
    series: dict[str, Call] = {
        "forward": lambda: sdpa(*(side.detach() for side in sides), is_causal=True),
        "backward": lambda: torch.autograd.grad(out, sides, upstream, retain_graph=True),
    }
    spreads = timing.interleaved(series, warmup=3, samples=15, calls=10)
    medians = {name: spread.median for name, spread in spreads.items()}
    return joined(out), [joined(gradient) for gradient in gradients], medians


def near(pairs: list[tuple[Tensor, Tensor]]) -> bool:
    """Whether what came is what PyTorch's attention gives, to BF16's accuracy. What came is
    poisoned afterwards, so that the next candidate must write it again."""
    worst = max(float((got.float() - due.float()).abs().max()) for got, due in pairs)
    for got, _ in pairs:
        got.fill_(torch.nan)
    if not worst <= 0.05:
        print(f"  off by {worst}")
    return worst <= 0.05
