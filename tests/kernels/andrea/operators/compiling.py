"""Compile every kernel of the operators for a card that is not here.

Arguments: its capability, its name, the bytes of shared memory of a program, a key of SHAPES, and
`cut` for the small tiles of the checks.

The interpreter accepts programs that the compiler refuses (a variable that changes its shape in
a loop), so a machine without a GPU must compile too. The driver is replaced by one that names a
card and launches nothing; tensors are on the meta device and say that they are on the card.
"""

import contextlib
import sys
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import JITFunction, MockTensor

from kernels.andrea.operators import (
    adamw,
    casts,
    embed,
    grad_norm,
    layernorm_fast,
    loss,
    loss_fast,
    loss_held,
    pair,
    residual,
    rounding,
    tiles,
)

CARD = torch.device("cuda", 0)
Tensor = torch.Tensor
SMALL = {"gpt2-124M": tiles.Cut(), "odd": tiles.Cut(tiles.Tile(32, 16, 16), tiles.Reach(32, 16))}
SHAPES = {"gpt2-124M": ((8, 1024, 12, 64), 768, 50_257), "odd": ((3, 100, 2, 12), 24, 257)}


class Driver:
    """Stands in for the card's driver: it is asked for names, never to launch."""

    def __init__(self, capability: int) -> None:
        self.target = GPUTarget("cuda", capability, 32)

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


def pretend(capability: int, card: str, shared_memory: int) -> None:
    triton.runtime.driver.set_active(Driver(capability))
    launch = JITFunction.run

    def compile_only(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        given = [MockTensor(arg.dtype) if isinstance(arg, Tensor) else arg for arg in args]
        made = launch(self, *given, grid=grid, warmup=True, **options)
        assert made.metadata.shared <= shared_memory, (made.metadata.name, made.metadata.shared)
        return made

    JITFunction.run = compile_only
    torch.cuda.device_of = lambda tensor: contextlib.nullcontext()  # type: ignore[assignment]
    Tensor.device = property(lambda self: CARD)  # type: ignore[assignment]
    Tensor.is_cuda = property(lambda self: True)  # type: ignore[assignment]
    tiles.card_name = lambda device: card  # type: ignore[assignment]
    tiles.multiprocessors = lambda device: 132  # type: ignore[assignment]
    rounding.capability = lambda device: capability // 10  # type: ignore[assignment]
    Tensor.data_ptr = lambda self: 0  # type: ignore[method-assign]


def empty(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.empty(*shape, dtype=dtype, device="meta")


def whole(*shape: int) -> Tensor:
    return empty(*shape, dtype=torch.int32)


def blocks(batch: int, length: int, heads: int, width: int, dtype: torch.dtype) -> None:
    """What a block launches, both versions."""
    d, hidden, rows = heads * width, 4 * heads * width, batch * length

    def half(*shape: int) -> Tensor:
        return empty(*shape, dtype=dtype)

    x, gamma, numbers = half(rows, d), half(d), (empty(rows), empty(rows))
    sums, lse = (empty(d), empty(d)), empty(batch * heads, length)
    qkv, square = half(3, rows, d), half(d, d)
    for version in (1, 2):
        pair("layernorm", version).forward(x, gamma, gamma, x, *numbers)
        for adds in (False, True):
            pair("layernorm", version).backward(
                x, x, gamma, *numbers, x, *sums, empty(4096, 2, d), 1e-5, adds
            )
        pair("attn", version).forward(*qkv.unbind(0), x, lse, heads)
        pair("attn", version).backward(
            x, *qkv.unbind(0), x, lse, *qkv.unbind(0), lse.clone(), heads
        )
    layernorm_fast.forward_residual(x, x, x, gamma, gamma, x, *numbers)
    layernorm_fast.backward_rows(x, x, gamma, *numbers, x, empty(1024, 2, d), 1e-5, True)
    layernorm_fast.add_up_all(empty(10**9), empty(25, 3, dtype=torch.int64), 1024, d)
    residual.forward(x, x, x)
    residual.backward(x, x, x)
    pair("attn_qkv", 1).forward(x, half(3, d, d), qkv)
    pair("attn_qkv", 1).backward(qkv, x, half(3, d, d), x, empty(3, d, d))
    pair("attn_out", 1).forward(x, square, x)
    pair("attn_out", 1).backward(x, x, square, x, empty(d, d))
    w_1, w_2, h = half(d, hidden), half(hidden, d), half(rows, hidden)
    grads = (empty(d, hidden), empty(hidden, d))
    for version in (1, 2):
        pair("mlp", version).forward(x, w_1, w_2, h, h, x)
        pair("mlp", version).backward(x, x, h, w_1, w_2, x, *grads, h, h)


def ends(batch: int, length: int, d: int, vocabulary: int, dtype: torch.dtype) -> None:
    """What stands before the blocks and after them, and the update."""
    rows = batch * length
    x, table = empty(rows, d, dtype=dtype), empty(vocabulary, d, dtype=dtype)
    embed.forward(whole(batch, length), table, empty(length, d, dtype=dtype), x)
    order, first = whole(rows), whole(vocabulary + 1)
    for version in (1, 2):
        pair("embed", version).backward(
            x, order, first, empty(vocabulary, d), empty(length, d), length
        )
    logits = empty(rows, vocabulary + 63, dtype=dtype)[:, :vocabulary]
    pair("logits", 1).forward(x, table, logits)
    pair("logits", 1).backward(logits, x, table, x, empty(vocabulary, d))
    targets, count, one, many = whole(rows), empty(1), empty(1), empty(rows)
    loss.count(targets, count)
    for version in (1, 2):
        pair("loss", version).forward(logits, targets, count, many, many, one)
        pair("loss", version).backward(logits, targets, count, many, one)
    loss_fast.launch(logits, targets, count, one, many, 0)
    if dtype != torch.float32:
        measured = tiles.card(CARD).held is not None
        whole_words = empty(rows, vocabulary + 47, dtype=dtype)[:, :vocabulary]
        wide = empty(5, 32_776, dtype=dtype)[:, :32_770]  # as andrea.check-loss has it
        for made, behind in ((whole_words, 47), (wide, 6)):
            assert loss_held.fits(made, behind) == measured
            if measured:
                loss_held.launch(made, targets, count, one, many, behind)

    flat, result = empty(124_000_000), empty(4)
    partials = empty(grad_norm.programs(flat))
    grad_norm.partial(flat, partials)
    grad_norm.final(partials, one, 1.0, result)
    grad_norm.scale(flat, result[1:2])
    chunks = adamw.Chunks(empty(100, 3, dtype=torch.int64), adamw.LARGEST, True)
    for working in (None, empty(124_000_000, dtype=torch.bfloat16)):
        adamw.step(flat, flat, flat, flat, chunks, empty(3), result, 0.9, 0.999, 1e-8, 0.1, working)
    casts.cast(flat, empty(124_000_000, dtype=dtype))
    casts.pack(empty(12, 3, d, d), empty(12, d, 3, d, dtype=dtype))
    casts.zero(flat)


def main() -> None:
    pretend(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    # Version 2's products are cuBLAS: nothing here to compile.
    torch.mm = torch.addmm = lambda *args, **named: None  # type: ignore[assignment]
    sizes, width, vocabulary = SHAPES[sys.argv[4]]
    dtype = torch.float32 if sys.argv[4] == "odd" else torch.bfloat16
    with tiles.cut(SMALL[sys.argv[4]] if sys.argv[5:] == ["cut"] else None):
        blocks(*sizes, dtype)
        ends(*sizes[:2], width, vocabulary, dtype)


if __name__ == "__main__":
    main()
