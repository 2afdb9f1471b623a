"""Run by test_compiling: kernels compiled for a card, with a driver that loads and launches
nothing but takes note. Prints what it saw."""

import json
import threading
from typing import Any

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

from kernels.compiling import compile_ahead

TOGETHER = threading.Barrier(2)
loaded: list[str] = []
launched: list[str] = []


class Tools:
    """What Triton asks of a card when it loads a kernel."""

    side_by_side = False
    waits = True

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {"max_shared_mem": 232448, "multiprocessor_count": 132}

    def load_binary(
        self, name: str, kernel: bytes, shared: int, device: int
    ) -> tuple[int, int, int, int, int]:
        if Tools.waits:
            TOGETHER.wait(timeout=240)  # breaks unless another one is loading now
            Tools.side_by_side = True
        loaded.append(name)
        return 1, 1, 32, 0, 1024


class Launcher:
    def __init__(self, source: Any, metadata: Any) -> None:
        self.name = metadata.name
        self.launch_cooperative_grid = False

    def __call__(self, *arguments: object) -> None:
        launched.append(self.name)


class Driver:
    """As triton.backends.driver.GPUDriver, of a card that is not there."""

    utils = Tools()
    launcher_cls = Launcher

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)


@triton.jit
def doubled(X, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(X + at, tl.load(X + at) * 2)


@triton.jit
def tripled(X, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(X + at, tl.load(X + at) * 3)


@triton.jit
def halved(X, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(X + at, tl.load(X + at) / 2)


@triton.jit
def wrong(X, N: tl.constexpr):
    tl.static_assert(N > 1_000_000)


def taken(notes: list[str]) -> list[str]:
    """The notes so far, which are then gone."""
    found = sorted(notes)
    notes.clear()
    return found


def main() -> None:
    triton.runtime.driver.set_active(Driver())
    torch.cuda.current_device = lambda: 0
    torch.cuda.set_device = lambda device: None
    x = torch.zeros(64)

    def launches() -> None:
        doubled[(1,)](x, 64)
        doubled[(1,)](x, 64)
        tripled[(1,)](x, 64)

    seen: dict[str, object] = {}
    compile_ahead(launches, workers=2)
    seen["loaded"], seen["launched while gathering"] = taken(loaded), taken(launched)
    seen["side by side"] = Tools.side_by_side
    launches()
    seen["loaded afterwards"], seen["launched afterwards"] = taken(loaded), taken(launched)
    Tools.waits = False
    try:
        compile_ahead(lambda: wrong[(1,)](x, 64), workers=2)
    except Exception as error:
        seen["refused"] = type(error).__name__
    compile_ahead(lambda: halved[(1,)](x, 64), workers=2)
    seen["loaded after a refusal"] = taken(loaded)
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
