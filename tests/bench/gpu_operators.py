"""ANDREA's fast operators on a card, by how they are cut: what the table in `tiles.py` rests on.

Shapes are those of gpt2-124M at batch 8 in BF16 (LayerNorm: 65536 x 768). Every candidate is
compared with plain PyTorch first; one that is wrong, or does not compile, is shown as such. The
floor is the bytes that must move at the speed of a copy, or what PyTorch's own kernel takes.
The loss has a benchmark of its own, `gpu_loss`. PARTS=attention,sums chooses among the parts.
"""

import itertools
import os
from functools import partial

import torch

from kernels.andrea.operators import (
    adamw,
    casts,
    embed,
    embed_fast,
    grad_norm,
    layernorm,
    layernorm_fast,
    mlp_fast,
    tiles,
)
from tests.bench._gpu_attention import attention
from tests.bench._gpu_candidates import (
    BATCH,
    BF16,
    LENGTH,
    VOCABULARY,
    WIDTH,
    Call,
    Part,
    copy_speed,
    microseconds,
    normal,
    report,
    set_while,
    with_card,
)
from tests.bench._gpu_liger import liger_norm

WEIGHTS = 124_000_000
LAYERS = 12
SHOWN = 20


def main() -> None:
    if not torch.cuda.is_available():
        print("No GPU here: nothing is timed.")
        return
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    speed = copy_speed()
    print(f"a copy: {speed:.2f} TB/s")
    parts = (attention, four_times, norms, sums, updates, gelus, embeddings)
    wanted = os.environ.get("PARTS", ",".join(part.__name__ for part in parts)).split(",")
    for part in parts:
        if part.__name__ in wanted:
            for title, floor, candidates in part(speed):
                report(title, floor, candidates, shown=SHOWN)


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

    found: dict[str, Call] = {"as the engine calls it": backward}
    if liger := liger_norm(dy, x, gamma, beta):
        found["Liger-Kernel, without the residual's gradient"] = liger
    for many, warps, tall, stages in itertools.product((4, 8), (1, 2, 4), (1, 2), (2, 3, 4)):
        walk = tiles.Walk(tall * tiles.block(x.shape[1]), warps, stages, many)
        name = f"{many} a multiprocessor, {warps} warps, {tall} rows, {stages} stages"
        found[name] = with_card(backward, norm=walk)
    yield "LayerNorm backward, 65536 x 768", microseconds(4 * x.nbytes, speed), found

    def sums() -> None:
        layernorm_fast.forward_residual(x, dy, dx, gamma, beta, y, mean, variance)

    heights = {
        f"{tall} rows": set_while(tiles, {"rows": lambda *_, tall=tall: tall}, sums)
        for tall in (1, 2, 4, 8)
    }
    yield "residual and LayerNorm forward", microseconds(4 * x.nbytes, speed), heights


def four_times(speed: float) -> Part:
    """Attention at batch 32."""
    return attention(speed, 4 * BATCH)


def sums(speed: float) -> Part:
    """Of dgamma and dbeta of every norm, as one launch and as one each; and the packing."""
    norms, device = 2 * LAYERS + 1, torch.device("cuda")
    count = layernorm_fast.programs(BATCH * LENGTH, WIDTH, device)
    zone = count * 2 * WIDTH
    memory = torch.randn(norms * (zone + 2 * WIDTH), device=device)
    behind = norms * zone
    rows = [(i * zone, behind + 2 * i * WIDTH, behind + (2 * i + 1) * WIDTH) for i in range(norms)]
    table = torch.tensor(rows, dtype=torch.int64, device=device)
    at_once = partial(layernorm_fast.add_up_all, memory, table, count, WIDTH)
    zones = memory[:behind].view(norms, count, 2, WIDTH)
    gradients = memory[behind:].view(norms, 2, WIDTH)

    def each() -> None:
        for own, (dgamma, dbeta) in zip(zones, gradients, strict=True):
            layernorm.add_up(own, dgamma, dbeta, count)

    due = zones.double().sum(dim=1)
    gradients.zero_()
    at_once()
    assert torch.allclose(gradients.double(), due, atol=1e-3)
    found: dict[str, Call] = {"a launch for each norm": each}
    for tall, columns in itertools.product((64, 128, 256, 512), (8, 16, 32, 64)):
        found[f"{tall} zones, {columns} columns"] = with_card(
            at_once, sums=tiles.Sums(tall, columns)
        )
    yield "sums of every LayerNorm", microseconds(4 * behind, speed), found

    w, packed = normal(LAYERS, 3, WIDTH, WIDTH), normal(LAYERS, WIDTH, 3, WIDTH)

    def pack_each() -> None:
        for source, target in zip(w, packed, strict=True):
            casts.pack(source, target)

    packs: dict[str, Call] = {
        "a launch for each layer": pack_each,
        "one launch": partial(casts.pack, w, packed),
    }
    yield "W_Q, W_K and W_V side by side", microseconds(2 * w.nbytes, speed), packs


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
