"""RMSNorm on a card: everything checked first, then the figures beside their peers.

Peers are measured in the same process, interleaved sample by sample. On a machine without a
GPU it says so and times nothing: a time of the interpreter's says nothing about a kernel.
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F

from kernels import machine
from kernels.rmsnorm import EPS, rmsnorm_reference
from kernels.rmsnorm_versions import VERSIONS
from kernels.timing import Call, Spread, interleaved
from tests.bench import _gpu_checks as checks

Way = Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]
LARGE, SMALL = (32_768, 4096), (128, 257)
MOVED = LARGE[0] * LARGE[1] * 2  # bytes of one pass over a tensor in BF16


def main() -> None:
    if not machine.cuda_present():
        print("No GPU on this machine: the three figures of the H200 are not measured here.")
        return
    facts = {
        "card": torch.cuda.get_device_name(),
        "driver": machine.driver_version(),
        "torch": torch.__version__,
        "triton": machine.package_version("triton"),
    }
    print(", ".join(facts.values()))
    checked = check()
    small, large = measure_small(), measure_large()
    show("128 x 257 FP32, whole calls, us", small)
    show("32768 x 4096 BF16, us", large)
    targets(small, large)
    found = {
        "made": facts,
        "checked": checked,
        "small": {name: asdict(spread) for name, spread in small.items()},
        "large": {name: asdict(spread) for name, spread in large.items()},
    }
    folder = Path(os.environ.get("OUT", "outputs"))
    folder.mkdir(exist_ok=True)
    (folder / "gpu_rmsnorm.json").write_text(json.dumps(found, indent=1))


def check() -> dict[str, object]:
    """All checks; raises where one fails, because a wrong kernel has no speed."""
    procedures = checks.procedures()
    calls = dict(checks.whole_calls())
    mutants = dict(checks.mutants())
    beyond = checks.beyond_2_31()
    wrong = [name for found in (procedures, calls) for name, good in found.items() if not good]
    wrong += [f"mutant {name} survived" for name, killed in mutants.items() if not killed]
    wrong += [] if beyond else ["beyond 2^31 elements"]
    print(f"{len(procedures)} commands, {len(calls)} whole calls, {len(mutants)} mutants, 2^31")
    for name, killed in mutants.items():
        print(f"    {name:22} killed by {killed}")
    if wrong:
        raise SystemExit("\n".join(["WRONG ON THIS CARD:", *wrong]))
    return {"commands": list(procedures), "whole_calls": len(calls), "mutants": mutants}


def ways(columns: int, versions: tuple[int, ...]) -> dict[str, Way]:
    compiled: Way = torch.compile(rmsnorm_reference)
    peers: dict[str, Way] = {
        "F.rms_norm": lambda x, gamma, eps: F.rms_norm(x, (columns,), gamma, eps),
        "torch.compile": compiled,
        "eager reference": rmsnorm_reference,
    }
    return peers | {f"version {number}": VERSIONS[number].apply for number in versions}


def both(way: Way, x: torch.Tensor, gamma: torch.Tensor, dy: torch.Tensor) -> None:
    way(x, gamma, EPS).backward(dy)
    x.grad = gamma.grad = None


def tensors(shape: tuple[int, int], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    x, dy = (torch.randn(shape, device="cuda").to(dtype) for _ in range(2))
    gamma = torch.randn(shape[1], device="cuda").to(dtype)
    return x.requires_grad_(), gamma.requires_grad_(), dy


def measure_small() -> dict[str, Spread]:
    """M-36: 20 calls thrown away, 50 samples of 20 calls; with and without a gradient asked."""
    x, gamma, dy = tensors(SMALL, torch.float32)
    plain = x.detach(), gamma.detach()
    series: dict[str, Call] = {}
    for name, way in ways(SMALL[1], (1, 2, 3, 4)).items():
        series[f"{name}: forward, no gradient asked"] = partial(way, *plain, EPS)
        series[f"{name}: forward"] = partial(way, x, gamma, EPS)
        series[f"{name}: forward + backward"] = partial(both, way, x, gamma, dy)
    return interleaved(series, warmup=20, samples=50, calls=20)


def measure_large() -> dict[str, Spread]:
    """Two sets of tensors by turns; each is several times the L2 by itself."""
    sets = [tensors(LARGE, torch.bfloat16) for _ in range(2)]
    spare = torch.empty_like(sets[0][2])
    series: dict[str, Call] = {"copy": by_turns([partial(spare.copy_, s[2]) for s in sets])}
    for name, way in ways(LARGE[1], (2, 3)).items():
        plain = [(x.detach(), gamma.detach()) for x, gamma, _ in sets]
        series[f"{name}: forward"] = by_turns([partial(way, *p, EPS) for p in plain])
        series[f"{name}: forward + backward"] = by_turns([partial(both, way, *s) for s in sets])
    lead = partial(spare.copy_, sets[0][2])
    return interleaved(series, warmup=4, samples=30, calls=4, lead=lead)


def by_turns(calls: list[Call]) -> Call:
    turn = 0

    def call() -> None:
        nonlocal turn
        turn = (turn + 1) % len(calls)
        calls[turn]()

    return call


def show(title: str, times: dict[str, Spread]) -> None:
    print(f"\n{title}")
    for name, spread in sorted(times.items(), key=lambda pair: pair[1].median):
        print(f"{spread.median:10.2f}  [{spread.low:.2f}, {spread.high:.2f}]  {name}")


def targets(small: dict[str, Spread], large: dict[str, Spread]) -> None:
    """The rows of the README, with the best version that each is asked of.

    A small call is the host's work, and hosts differ: so F.rms_norm's own time stands beside
    it, with what it was on the host where the target was set.
    """
    forward = min(large[f"version {v}: forward"].median for v in (2, 3))
    whole = min(large[f"version {v}: forward + backward"].median for v in (2, 3))
    rate = 2 * MOVED / forward / 1e6
    print()
    line("32768 x 4096 BF16, forward", f"{rate:.2f} TB/s", ">= 4.0 TB/s", rate >= 4.0)
    line("the same, forward + backward", f"{whole:.0f} us", "<= 360 us", whole <= 360)
    for what, limit, theirs in (("forward", 16.0, 16.7), ("forward + backward", 75.0, 92.6)):
        ours = min(small[f"version {v}: {what}"].median for v in (3, 4))
        peer = small[f"F.rms_norm: {what}"].median
        note = f"F.rms_norm here {peer:.1f}, where the target was set {theirs}: x {ours / peer:.2f}"
        line(f"128 x 257 FP32, {what}", f"{ours:.1f} us", f"< {limit:.0f} us", ours < limit, note)


def line(what: str, figure: str, target: str, met: bool, note: str = "") -> None:
    print(f"{what:36} {figure:>11}  {target:>12}  {'met' if met else 'MISSED':6}  {note}")
