"""How work is cut into programs: one table by card, with a safe default for every other card.

Choices are fixed here and never tuned at run time, so the same run makes the same sums in the
same order. On Triton's interpreter a program costs milliseconds whatever its size, so tiles
are as large as the matrix, and no loop over tiles makes a second turn: checks ask for a `Cut`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl

from kernels.andrea.plan import MOST_PERSISTENT

INTERPRETER = "interpreter"
LIMIT = 512  # the side of a tile on the interpreter
HELD = 4096  # elements of whole rows that a program takes at once, on a card


@dataclass(frozen=True)
class Tile:
    """A tile of a matrix product: rows x columns of the result, depth summed at a time."""

    rows: int
    columns: int
    depth: int
    warps: int = 4
    stages: int = 3


@dataclass(frozen=True)
class Reach:
    """A tile of attention: so many queries against so many keys."""

    queries: int
    keys: int
    warps: int = 4
    stages: int = 1
    group: int = 1  # heads whose programs come by their length (version 2)
    registers: int | None = None  # the most a thread may have, so that more programs fit in

    @property
    def options(self) -> dict[str, int | None]:
        """What Triton is told at a launch."""
        return {"num_warps": self.warps, "num_stages": self.stages, "maxnreg": self.registers}


@dataclass(frozen=True)
class Walk:
    """How a program of version 2 walks over rows: so many elements at a time."""

    elements: int
    warps: int
    stages: int  # loads under way
    programs: int  # a multiprocessor


@dataclass(frozen=True)
class Sums:
    """What a program that adds up LayerNorm's zones reads at once."""

    zones: int
    columns: int


@dataclass(frozen=True)
class Card:
    """What a card is given. `wide` is for FP32, `half` for 16-bit numbers.

    Attention's tiles: one for version 1, then version 2's forward, its dQ, its dK and dV. What
    only moves or changes single elements is cut alike for every card, in its own module.
    """

    wide: Tile
    half: Tile
    programs: int  # persistent programs a multiprocessor
    attention: Reach
    forward: Reach
    dq: Reach
    dkv: Reach
    norm: Walk  # LayerNorm's backward pass
    sums: Sums
    loss: Walk  # rows read twice
    held: Walk | None  # rows kept in registers: where that was measured


@dataclass(frozen=True)
class Cut:
    """Tiles below any card's, so that a few elements take several turns of every loop.

    What is no tile of a product or of attention is cut into about eight parts.
    """

    product: Tile = Tile(16, 32, 16)
    reach: Reach = Reach(16, 32, group=2)


PARTS = 8
FEW = 2  # persistent programs of a Cut
_cut: ContextVar[Cut | None] = ContextVar("cut", default=None)


@contextmanager
def cut(made: Cut | None) -> Iterator[None]:
    """Launch with these tiles, on any device; with the device's own for None."""
    before = _cut.set(made)
    try:
        yield
    finally:
        _cut.reset(before)


def is_cut() -> bool:
    return _cut.get() is not None


WIDE_REACH = Reach(32, 32)  # FP32: the tiles take twice the registers
SMALL = Reach(64, 64)
# The default fits a card with 64 KiB of shared memory a multiprocessor.
DEFAULT = Card(
    *(Tile(64, 64, 16), Tile(64, 64, 32), 4, SMALL, SMALL, SMALL, SMALL),
    norm=Walk(1024, 2, 2, programs=4),
    sums=Sums(64, 32),
    loss=Walk(1024, 4, 2, programs=4),
    held=None,
)
HOPPER = Card(
    Tile(64, 64, 32),
    Tile(128, 128, 64, 8),
    4,
    attention=Reach(64, 64, 4, 2),
    forward=Reach(64, 64, 4, 3, group=96),
    dq=Reach(64, 32, 4, 3, group=96),
    dkv=Reach(32, 64, 4, 3, group=96),
    norm=Walk(2048, 2, 3, programs=4),
    sums=Sums(256, 64),
    loss=Walk(2048, 8, 6, programs=3),
    held=Walk(8192, 16, 1, programs=1),  # 128 registers a thread, 56 of them for the row
)
CARDS = {"NVIDIA H100": HOPPER, "NVIDIA H200": HOPPER}


@lru_cache
def card_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else INTERPRETER


def card(device: torch.device) -> Card:
    name = card_name(device)
    return next((made for start, made in CARDS.items() if name.startswith(start)), DEFAULT)


@lru_cache
def multiprocessors(device: torch.device) -> int:
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def persistent(tasks: int, device: torch.device, programs: int | None = None) -> int:
    """How many programs share `tasks` when each walks over many of them; `programs` says how many
    a multiprocessor has where it is not the card's usual number."""
    tasks = few(tasks)
    if device.type != "cuda":
        return min(tasks, 2)  # two show what persistence does
    several = (programs or card(device).programs) * multiprocessors(device)
    return min(tasks, several, MOST_PERSISTENT)


def few(programs: int) -> int:
    """That many programs that walk over several tasks each; hardly any in a Cut."""
    return min(programs, FEW) if is_cut() else programs


def part(count: int, least: int, own: int) -> int:
    """How many of `count` a program takes at a time: `own`, or less in a Cut, a power of two."""
    return min(own, max(least, power(count) // PARTS)) if is_cut() else own


def power(count: int) -> int:
    """The power of two from `count` on."""
    return int(triton.next_power_of_2(count))


def block(count: int) -> int:
    """The lanes that hold `count` elements: a power of two, at least 16 as a product needs."""
    return max(16, power(count))


def product(rows: int, columns: int, depth: int, dtype: torch.dtype, device: torch.device) -> Tile:
    """The tile for a product [rows, depth] x [depth, columns]."""
    made = _cut.get()
    return made.product if made else _product(rows, columns, depth, dtype, device)


@lru_cache(maxsize=1024)
def _product(rows: int, columns: int, depth: int, dtype: torch.dtype, device: torch.device) -> Tile:
    if device.type != "cuda":
        return Tile(*(min(LIMIT, block(side)) for side in (rows, columns, depth)))
    made = card(device).wide if dtype == torch.float32 else card(device).half
    return Tile(
        min(made.rows, block(rows)),
        min(made.columns, block(columns)),
        min(made.depth, block(depth)),
        made.warps,
        made.stages,
    )


def reach(kind: str, length: int, dtype: torch.dtype, device: torch.device) -> Reach:
    """The tile of attention for a Card's field `kind`, no larger than the sequence."""
    if (small := _cut.get()) is not None:
        return small.reach
    if device.type != "cuda":
        return Reach(min(LIMIT, block(length)), min(LIMIT, block(length)), group=2)
    made: Reach = WIDE_REACH if dtype == torch.float32 else getattr(card(device), kind)
    queries, keys = min(made.queries, block(length)), min(made.keys, block(length))
    return replace(made, queries=queries, keys=keys)


def flat(count: int, device: torch.device, largest: int = 1024) -> int:
    """Elements a program takes of a flat buffer."""
    return part(count, 16, min(block(count), largest if device.type == "cuda" else 2**17))


def columns(count: int, device: torch.device, largest: int = 2**17) -> int:
    """Columns of a row of `count` that a program takes at a time; `largest` is for a card."""
    return part(count, 128, min(block(count), largest if device.type == "cuda" else 2**17))


def rows(count: int, width: int, device: torch.device) -> int:
    """How many rows of `width` a program takes at once, a power of two."""
    held = HELD if device.type == "cuda" else 2**17
    return part(count, 1, max(1, min(held // block(width), power(count))))


def operand(tensor: torch.Tensor) -> Any:
    """The dtype in which `tl.dot` reads its operands.

    The interpreter keeps BF16 as bits and would multiply the bits; there the operands are
    widened, which is exact.
    """
    if tensor.dtype == torch.float16:
        return tl.float16
    if tensor.dtype == torch.bfloat16 and tensor.is_cuda:
        return tl.bfloat16
    return tl.float32
