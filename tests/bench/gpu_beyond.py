"""ANDREA's operators over more than 2^31 elements on a card: an offset in 32 bits would wrap.

Everything is BF16, 4.3 GB a tensor; LayerNorm, version 1, has zones of 2^31 FP32 numbers besides.
The last rows are judged in float64, and sums over all rows in parts.
"""

from collections.abc import Iterator
from typing import Any

import torch

from kernels.andrea.operators import (
    attn,
    layernorm,
    layernorm_fast,
    loss,
    loss_fast,
    pair,
    residual,
)
from kernels.checking import compare
from kernels.procedures.andrea.bench import TOLERANCES

Tensor = torch.Tensor
BF16 = torch.bfloat16
PART = 16_384  # rows judged at a time
SHOWN = 64  # rows at the end


def main() -> None:
    if not torch.cuda.is_available():
        print("No GPU here: 2^31 elements are too many for the interpreter.")
        return
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    card = torch.device("cuda")
    for version in (1, 2):
        for name, good in (
            *norms(card, version, 530_000, 4096),
            *losses(card, version, 43_000, 50_304),
            *attention(card, version, 940, 1024, 12, 64),
        ):
            print(f"version {version}, {name}: {'right' if good else 'WRONG'}", flush=True)
            torch.cuda.empty_cache()
    for name, good in sums(card, 530_000, 4096):
        print(f"{name}: {'right' if good else 'WRONG'}")


def right(got: Tensor, due: Tensor) -> bool:
    return compare(got, due, TOLERANCES[BF16]).passed


def normal(device: torch.device, *shape: int, spread: float = 1.0) -> Tensor:
    return torch.randn(*shape, device=device, dtype=BF16) * spread


def sums(device: torch.device, rows: int, width: int) -> Iterator[tuple[str, bool]]:
    x, delta, y = (normal(device, rows, width) for _ in range(3))
    residual.forward(x, delta, y)
    yield "residual", right(y[-SHOWN:], x[-SHOWN:].double() + delta[-SHOWN:].double())


def norms(device: torch.device, version: int, rows: int, width: int) -> Iterator[tuple[str, bool]]:
    module: Any = layernorm if version == 1 else layernorm_fast
    x, dy = normal(device, rows, width), normal(device, rows, width, spread=rows**-0.5)
    gamma, beta = normal(device, width), normal(device, width)
    y, dx = torch.empty_like(x), torch.empty_like(x)
    statistics = [torch.empty(rows, device=device) for _ in range(2)]
    sums = [torch.zeros(width, device=device) for _ in range(2)]
    module.forward(x, gamma, beta, y, *statistics)
    scratch = torch.empty(module.scratch(rows, width, device), device=device)
    module.backward(dy, x, gamma, *statistics, dx, *sums, scratch)
    last = slice(rows - SHOWN, rows)
    due, *_ = layernorm.reference_forward(*(t.double() for t in (x[last], gamma, beta)))
    yield "LayerNorm, y", right(y[last], due)
    total = torch.zeros(2, width, dtype=torch.float64, device=device)
    good = True
    for start in range(0, rows, PART):
        part = slice(start, start + PART)
        exact = (t.double() for t in (dy[part], x[part], gamma))
        due_dx, *shares = layernorm.reference_backward(*exact)
        good &= right(dx[part], due_dx)
        total += torch.stack(shares)
    yield "LayerNorm, dx", good
    yield "LayerNorm, dgamma and dbeta", right(torch.stack(sums), total)


def losses(
    device: torch.device, version: int, rows: int, vocabulary: int
) -> Iterator[tuple[str, bool]]:
    logits = normal(device, rows, vocabulary)
    targets = torch.randint(0, vocabulary, (rows,), device=device, dtype=torch.int32)
    last = logits[-SHOWN:].double()
    due_last = loss.reference_forward(last, targets[-SHOWN:])[1]
    slopes = loss.reference_backward(last, targets[-SHOWN:], torch.tensor(float(SHOWN)))
    count, mean = torch.empty(1, device=device), torch.empty(1, device=device)
    each, lse = torch.empty(rows, device=device), torch.empty(rows, device=device)
    upstream = torch.full((1,), float(rows), device=device)  # a row's gradient is O(1)
    loss.count(targets, count)
    if version == 1:
        loss.forward(logits, targets, count, each, lse, mean)
        loss.backward(logits, targets, count, lse, upstream)
    else:
        loss_fast.forward_backward(logits, targets, count, upstream, each, mean)
    yield "loss", right(each[-SHOWN:], due_last)
    yield "loss, dlogits", right(logits[-SHOWN:], slopes)


def attention(
    device: torch.device, version: int, batch: int, length: int, heads: int, head: int
) -> Iterator[tuple[str, bool]]:
    rows, width = batch * length, heads * head
    qkv, dqkv = normal(device, rows, 3, width), normal(device, rows, 3, width)
    do, o = normal(device, rows, width), normal(device, rows, width)
    lse, scratch = (torch.empty(batch * heads, length, device=device) for _ in range(2))
    made = pair("attn", version)
    made.forward(*qkv.unbind(1), o, lse, heads)
    made.backward(do, *qkv.unbind(1), o, lse, *dqkv.unbind(1), scratch, heads)
    q, k, v = qkv[-length:].double().unbind(1)
    yield "attention", right(o[-length:], attn.reference_forward(q, k, v, heads, length)[0])
    due = attn.reference_backward(do[-length:].double(), q, k, v, heads, length)
    found = dqkv[-length:].unbind(1)
    yield "attention, gradients", all(right(g, d) for g, d in zip(found, due, strict=True))


if __name__ == "__main__":
    main()
