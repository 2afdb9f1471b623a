"""ANDREA's fast operators on a card, by how they are cut: what the table in `tiles.py` rests on.

Shapes are those of gpt2-124M at batch 8 in BF16 (LayerNorm: 65536 x 768). Every candidate is
compared with plain PyTorch first; one that is wrong, or does not compile, is shown as such. The
floor is the bytes that must move at the speed of a copy, or what PyTorch's own kernel takes.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from triton.errors import TritonError

from kernels import timing
from kernels.andrea.operators import (
    adamw,
    attn_fast,
    embed,
    embed_fast,
    grad_norm,
    layernorm,
    layernorm_fast,
    loss_fast,
    mlp_fast,
    tiles,
)

Tensor = torch.Tensor
Call = Callable[[], object]
BATCH, LENGTH, HEADS, WIDTH, VOCABULARY = 8, 1024, 12, 768, 50_257
WEIGHTS = 124_000_000
CALLS = 10
BF16 = torch.bfloat16


def main() -> None:
    if not torch.cuda.is_available():
        print("No GPU here: nothing is timed.")
        return
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    speed = copy_speed()
    print(f"a copy: {speed:.2f} TB/s")
    for part in (attention, norms, losses, updates, gelus, embeddings):
        for title, floor, candidates in part(speed):
            report(title, floor, candidates)


Part = Iterator[tuple[str, float, dict[str, Call]]]


def report(title: str, floor: float, candidates: dict[str, Call]) -> None:
    """Microseconds of each candidate, best first."""
    sound = {
        name: graph(call).replay
        for name, call in candidates.items()
        if works(f"{title} {name}", call)
    }
    spreads = timing.interleaved(sound, warmup=2, samples=15, calls=1)
    print(f"\n{title}: floor {floor:.1f} us", flush=True)
    for name, spread in sorted(spreads.items(), key=lambda pair: pair[1].median)[:8]:
        median = spread.median / CALLS
        print(f"  {median:8.1f} us  {median / floor:5.2f} x  {name}")


def graph(call: Call) -> torch.cuda.CUDAGraph:
    """CALLS of it recorded as one graph: launching costs more than a short kernel takes."""
    made = torch.cuda.CUDAGraph()
    with torch.cuda.graph(made):
        for _ in range(CALLS):
            call()
    return made


def works(name: str, call: Call) -> bool:
    try:
        call()
        torch.cuda.synchronize()
    except (TritonError, AssertionError) as error:
        print(f"  {name}: {type(error).__name__} {str(error)[:100]}")
        return False
    return True


def copy_speed() -> float:
    source = torch.empty(2**28, device="cuda")
    target = torch.empty_like(source)
    spread = timing.interleaved(
        {"copy": lambda: target.copy_(source)}, warmup=3, samples=15, calls=5
    )["copy"]
    return 2 * source.nbytes / spread.median / 1e6


def microseconds(moved: float, speed: float) -> float:
    return moved / speed / 1e6


def normal(*shape: int, dtype: torch.dtype = BF16) -> Tensor:
    return torch.randn(*shape, device="cuda", dtype=dtype)


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


def set_while(module: Any, values: dict[str, Any], call: Call) -> Call:
    def patched() -> None:
        kept = {name: getattr(module, name) for name in values}
        for name, value in values.items():
            setattr(module, name, value)
        try:
            call()
        finally:
            for name, value in kept.items():
                setattr(module, name, value)

    return patched


def norms(speed: float) -> Part:
    rows = 65_536
    x, dy, dx, y = (normal(rows, WIDTH) for _ in range(4))
    gamma, beta = normal(WIDTH), normal(WIDTH)
    mean, variance = (torch.empty(rows, device="cuda") for _ in range(2))
    dgamma, dbeta = (torch.zeros(WIDTH, device="cuda") for _ in range(2))
    scratch = torch.empty(rows, 2, WIDTH, device="cuda")
    layernorm.forward(x, gamma, beta, y, mean, variance)

    def backward() -> None:
        layernorm_fast.backward(
            dy, x, gamma, mean, variance, dx, dgamma, dbeta, scratch, accumulate=True
        )

    found = {}
    for many, warps, tall, stages in itertools.product((4, 8), (1, 2, 4), (1, 2), (2, 3, 4)):
        values = {
            **{"WARPS": warps, "STAGES": stages},
            "rows_at_once": lambda width, device, tall=tall: tall,
            "programs": lambda rows, width, device, many=many: many * tiles.multiprocessors(device),
        }
        name = f"{many} a multiprocessor, {warps} warps, {tall} rows, {stages} stages"
        found[name] = set_while(layernorm_fast, values, backward)
    yield "LayerNorm backward, 65536 x 768", microseconds(4 * x.nbytes, speed), found

    def sums() -> None:
        layernorm_fast.forward_residual(x, dy, dx, gamma, beta, y, mean, variance)

    heights = {
        f"{tall} rows": set_while(tiles, {"rows": lambda *_, tall=tall: tall}, sums)
        for tall in (1, 2, 4, 8)
    }
    yield "residual and LayerNorm forward", microseconds(4 * x.nbytes, speed), heights


def losses(speed: float) -> Part:
    rows = BATCH * LENGTH
    logits = normal(rows, 50_304)[:, :VOCABULARY]
    targets = torch.randint(0, VOCABULARY, (rows,), device="cuda", dtype=torch.int32)
    count, upstream = torch.tensor([float(rows)], device="cuda"), torch.ones(1, device="cuda")
    each, mean = torch.empty(rows, device="cuda"), torch.empty(1, device="cuda")

    def both() -> None:
        loss_fast.forward_backward(logits, targets, count, upstream, each, mean, 47)

    found = {}
    for ways in itertools.product((2, 3, 4), (2048, 4096), (4, 8), (3, 4, 6)):
        values = dict(zip(("PROGRAMS", "BLOCK", "WARPS", "STAGES"), ways, strict=True))
        found[str(values)] = set_while(loss_fast, values, both)
    yield "loss, both passes, 8192 x 50257", microseconds(2 * rows * VOCABULARY * 2, speed), found


def updates(speed: float) -> Part:
    device = torch.device("cuda")
    w, g, m, v = (torch.zeros(WEIGHTS, device=device) for _ in range(4))
    working = torch.empty(WEIGHTS, device=device, dtype=BF16)
    schedule, result = torch.ones(3, device=device), torch.ones(4, device=device)
    found: dict[str, Call] = {}
    for block in (1024, 2048, 4096, 8192):
        rows = [(first, min(first + block, WEIGHTS), 1) for first in range(0, WEIGHTS, block)]
        chunks = adamw.Chunks(torch.tensor(rows, device=device), block, True)
        found[f"{block} elements"] = lambda chunks=chunks: adamw.step(
            w, g, m, v, chunks, schedule, result, 0.9, 0.999, 1e-8, 0.1, working
        )
    yield "AdamW", microseconds(34 * WEIGHTS, speed), found
    partials = torch.empty(grad_norm.MOST, device=device)
    tall = {
        f"{tile} elements": set_while(
            grad_norm, {"TILE": tile}, lambda: grad_norm.partial(g, partials)
        )
        for tile in (1024, 2048, 4096, 8192)
    }
    yield "norm", microseconds(4 * WEIGHTS, speed), tall


def gelus(speed: float) -> Part:
    h, dh, a = (normal(BATCH * LENGTH, 4 * WIDTH) for _ in range(3))
    count = h.numel()
    forward, backward = {}, {}
    for block, warps in itertools.product((1024, 2048, 4096), (4, 8)):
        grid, name = (-(-count // block),), f"{block} elements, {warps} warps"
        forward[name] = lambda grid=grid, block=block, warps=warps: mlp_fast.k_gelu[grid](
            h, a, count, block, num_warps=warps
        )
        backward[name] = lambda grid=grid, block=block, warps=warps: mlp_fast.k_gelu_bwd[grid](
            h, dh, a, count, block, num_warps=warps
        )
    yield "GELU", microseconds(2 * h.nbytes, speed), forward
    yield "GELU backward", microseconds(4 * h.nbytes, speed), backward


def embeddings(speed: float) -> Part:
    rows = BATCH * LENGTH
    dout = normal(rows, WIDTH)
    dwte = torch.zeros(VOCABULARY, WIDTH, device="cuda")
    dwpe = torch.zeros(LENGTH, WIDTH, device="cuda")
    for name, high in (("any token", VOCABULARY), ("bytes", 100)):
        order, first = (
            side.cuda() for side in embed.segments(torch.randint(0, high, (rows,)), VOCABULARY)
        )
        touched = min(rows, high) + LENGTH
        floor = microseconds(2 * dout.nbytes + 8 * touched * WIDTH, speed)
        found: dict[str, Call] = {
            f"version {number}": lambda module=module, order=order, first=first: module.backward(
                dout, order, first, dwte, dwpe, LENGTH
            )
            for number, module in ((1, embed), (2, embed_fast))
        }
        yield f"embedding backward, {name}", floor, found
