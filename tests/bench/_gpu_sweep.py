"""How version 2 is cut on a card: every plan for one large shape, and the paths to a small one.

python tests/bench/gpu_sweep.py OUTPUT.json
"""

import itertools
import json
import sys
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from kernels import rmsnorm, rmsnorm_direct, rmsnorm_fast
from kernels.rmsnorm_fast import backward_rows_kernel, forward_rows_kernel, reduce_partial
from kernels.timing import Call, interleaved

M, N = 32768, 4096
EPS = 1e-6


def large() -> dict[str, float]:
    units = rmsnorm_fast.multiprocessors(torch.device("cuda"))
    x, dy = (torch.randn(M, N, device="cuda").bfloat16() for _ in range(2))
    gamma = torch.randn(N, device="cuda").bfloat16()
    y, inverse = torch.empty_like(x), torch.empty(M, device="cuda")
    dx, dgamma = torch.empty_like(x), torch.empty_like(gamma)

    def forward(warps: int) -> Call:
        return lambda: forward_rows_kernel[(M,)](
            x, gamma, y, inverse, M, EPS, N, 4096, 1, num_warps=warps
        )

    def backward(warps: int, stages: int, programs: int) -> Call:
        partial = torch.empty(programs, N, device="cuda")

        def call() -> None:
            backward_rows_kernel[(programs,)](
                x, gamma, dy, inverse, dx, partial, M, N, 4096, 1, stages, num_warps=warps
            )
            reduce_partial(partial, dgamma)

        return call

    series: dict[str, Call] = {"copy": lambda: y.copy_(x)}
    for warps in (2, 4, 8, 16):
        series[f"forward w{warps}"] = forward(warps)
    for warps, stages, each in itertools.product((8, 16), (1, 2, 3, 4), (1, 2, 3, 4)):
        series[f"backward w{warps} s{stages} p{each}"] = backward(warps, stages, units * each)
    spare = torch.empty_like(x)
    times = interleaved(series, warmup=2, samples=15, calls=3, lead=lambda: spare.copy_(x))
    return {name: round(s.median, 2) for name, s in times.items()}


def small() -> dict[str, float]:
    x = torch.randn(128, 257, device="cuda", requires_grad=True)
    gamma = torch.randn(257, device="cuda", requires_grad=True)
    dy = torch.randn(128, 257, device="cuda")
    plain_x, plain_gamma = x.detach(), gamma.detach()
    ways = {
        "F": lambda a, g: F.rms_norm(a, (257,), g, EPS),
        "v1": rmsnorm.rmsnorm,
        "v2": rmsnorm_fast.rmsnorm_rows,
        "v3": rmsnorm_direct.rmsnorm_direct,
        "eager": rmsnorm.rmsnorm_reference,
    }

    def both(way: object) -> Call:
        return lambda: torch.autograd.grad(way(x, gamma), (x, gamma), dy)  # type: ignore[operator]

    def accumulate(way: object) -> Call:
        def call() -> None:
            way(x, gamma).backward(dy)  # type: ignore[operator]
            x.grad = gamma.grad = None

        return call

    series: dict[str, Call] = {}
    for name, way in ways.items():
        series[f"{name} forward, no gradient asked"] = partial(way, plain_x, plain_gamma)
        series[f"{name} forward"] = partial(way, x, gamma)
        series[f"{name} grad"] = both(way)
        series[f"{name} backward"] = accumulate(way)
    series["empty_like"] = lambda: torch.empty_like(plain_x)
    series["new_empty"] = lambda: plain_x.new_empty(128)
    y, inverse, lane = rmsnorm_direct.forward(plain_x, plain_gamma, EPS)
    assert lane is not None
    series["launch only"] = lambda: lane.forward(
        x.data_ptr(), gamma.data_ptr(), y.data_ptr(), inverse.data_ptr()
    )
    times = interleaved(series, warmup=20, samples=50, calls=20)
    return {name: round(s.median, 2) for name, s in times.items()}


if __name__ == "__main__":
    found: dict[str, dict[str, float]] = {}
    for part in (small, large):
        found[part.__name__] = values = part()
        print(f"== {part.__name__} (us)")
        for key, value in sorted(values.items(), key=lambda pair: pair[1]):
            print(f"{value:10.2f}  {key}")
        Path(sys.argv[1]).write_text(json.dumps(found, indent=1))
