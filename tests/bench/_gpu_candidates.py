"""Candidates for one operator on a card: whether each works, and how long it takes in turn."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from triton.errors import TritonError

from kernels import timing
from kernels.andrea.operators import tiles

Tensor = torch.Tensor
Call = Callable[[], object]
BATCH, LENGTH, HEADS, WIDTH, VOCABULARY = 8, 1024, 12, 768, 50_257
CALLS = 10
BF16 = torch.bfloat16
Part = Iterator[tuple[str, float, dict[str, Call]]]


def report(
    title: str, floor: float, candidates: dict[str, Call], lead: Call | None = None, shown: int = 8
) -> None:
    """Microseconds of each candidate, best first; `lead` prepares a sample, untimed."""
    sound = {
        name: graph(call).replay
        for name, call in candidates.items()
        if works(f"{title} {name}", call)
    }
    spreads = timing.interleaved(sound, warmup=2, samples=15, calls=1, lead=lead)
    print(f"\n{title}: floor {floor:.1f} us", flush=True)
    for name, spread in sorted(spreads.items(), key=lambda pair: pair[1].median)[:shown]:
        median, low, high = (v / CALLS for v in (spread.median, spread.low, spread.high))
        quartiles = f"[{low:.1f}, {high:.1f}]"
        print(f"  {median:8.1f} us {quartiles:18} {median / floor:5.2f} x  {name}")


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


def with_card(call: Call, **changes: Any) -> Call:
    """The call, with these choices of the table otherwise."""
    made = replace(tiles.card(torch.device("cuda")), **changes)
    return set_while(tiles, {"card": lambda device: made}, call)


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
