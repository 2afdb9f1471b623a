"""Attention's tiles on a card, version 2, beside flash attention."""

import itertools
from functools import partial
from typing import Any

import torch

from kernels import timing
from kernels.andrea.operators import attn_fast, tiles
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


def attention(speed: float) -> Part:
    rows = BATCH * LENGTH
    q, k, v = normal(rows, 3, WIDTH).unbind(1)
    do, o = normal(rows, WIDTH), normal(rows, WIDTH)
    dq, dk, dv = torch.empty(3, rows, WIDTH, device="cuda", dtype=BF16)
    lse, scratch = (torch.empty(BATCH * HEADS, LENGTH, device="cuda") for _ in range(2))

    forward = partial(attn_fast.forward, q, k, v, o, lse, HEADS)

    backward = partial(attn_fast.backward, do, q, k, v, o, lse, dq, dk, dv, scratch, HEADS)

    def heads(x: Tensor) -> Tensor:
        return x.view(BATCH, LENGTH, HEADS, -1).transpose(1, 2).detach().requires_grad_()

    sides = [heads(side) for side in (q, k, v)]
    sdpa, upstream = torch.nn.functional.scaled_dot_product_attention, heads(do).detach()
    flash = sdpa(*sides, is_causal=True)
    due = flash.transpose(1, 2).reshape(rows, WIDTH)
    gradients = torch.autograd.grad(flash, sides, upstream, retain_graph=True)
    peers = timing.interleaved(
        {
            "forward": lambda: sdpa(*(side.detach() for side in sides), is_causal=True),
            "backward": lambda: torch.autograd.grad(flash, sides, upstream, retain_graph=True),
        },
        warmup=3,
        samples=15,
        calls=10,
    )
    reaches = [
        tiles.Reach(*sides)
        for sides in itertools.product((64, 128), (64, 128), (4, 8), (2, 3))
        if not (sides[0] == sides[1] == 128 and sides[2] == 4)
    ]

    def candidates(kind: str, call: Call, pairs: list[Any]) -> dict[str, Call]:
        found = {}
        for reach in reaches:
            made = with_reach(kind, reach, call)
            if works(f"{kind} {reach}", made) and near(pairs):
                found[str(reach)] = made
        return found

    found = candidates("forward", forward, [(o, due)])
    yield "attention forward (flash)", peers["forward"].median, found
    due_gradients = (gradient.transpose(1, 2).reshape(rows, WIDTH) for gradient in gradients)
    pairs = list(zip((dq, dk, dv), due_gradients, strict=True))
    for kind in ("dq", "dkv"):
        found = candidates(kind, backward, pairs)
        yield f"attention backward (flash) by {kind}", peers["backward"].median, found


def near(pairs: list[tuple[Tensor, Tensor]]) -> bool:
    """Whether what came is what PyTorch's attention gives, to BF16's accuracy."""
    worst = max(float((got - due).abs().max()) for got, due in pairs)
    if worst > 0.05:
        print(f"  off by {worst}")
    return worst <= 0.05
