"""A step of gpt2-124M in BF16 as the engine makes it, and with one thing otherwise, in turn.

Before anything is timed each variant trains a few steps. Those that only start kernels otherwise
must give the same bits; those that add in another order, nearly the same weights.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch

from kernels import timing
from kernels.andrea import engine as module
from kernels.andrea.config import preset
from kernels.andrea.engine import Engine
from kernels.andrea.operators import layernorm_fast, tiles
from kernels.procedures.andrea.small import give, tokens
from tests.bench._gpu_candidates import Call
from tests.bench._gpu_timeline import show
from tests.bench._gpu_waiting import ours, waiting

STEPS = 3
OWN = "the engine's"
LARGE = ("attn", "gelu", "layernorm_bwd", "loss_fwd_bwd")
Setting = Callable[[], AbstractContextManager[Any]]


@contextmanager
def replaced(holder: Any, **values: Any) -> Iterator[None]:
    kept = {name: getattr(holder, name) for name in values}
    for name, value in values.items():
        setattr(holder, name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(holder, name, value)


def heads_in_turn() -> AbstractContextManager[None]:
    whole = tiles.reach
    return replaced(tiles, reach=lambda *asked: replace(whole(*asked), group=1))


def norms_at_once() -> AbstractContextManager[None]:
    return replaced(layernorm_fast, zones_in=lambda output: None)


# Name: how it is made, whether its bits are the engine's.
VARIANTS: dict[str, tuple[Setting, bool]] = {
    OWN: (nullcontext, True),
    "one head after the other": (heads_in_turn, True),
    "each norm summed by itself": (norms_at_once, False),
    "kernels wait on the device": (waiting, True),
    "the same, and begin early": (lambda: waiting(early=True), True),
}


def main() -> None:
    if not torch.cuda.is_available():
        print("No GPU here: nothing is timed.")
        return
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    module.first = lru_cache(module.first)  # the same first weights for every variant
    for batch in (8, 32):
        step_of(batch)


def machine_code() -> None:
    """What the assembler gave the large kernels; F2F rounds one number where F2FP rounds two. To
    be asked before another variant is made, which forgets what was compiled."""
    print("  registers, spilled, shared memory, F2F, F2FP, MUFU")
    large = [kernel for kernel in ours() if any(part in kernel.__name__ for part in LARGE)]
    for made in (made for kernel in large for made in kernel.device_caches[0][0].values()):
        try:
            code = made.asm["sass"]
        except Exception as error:  # without its tools there is still a step to time
            print(f"    {made.name}: {type(error).__name__} {str(error)[:100]}")
            continue
        counts = [code.count(f"{name}.") for name in ("F2F", "F2FP", "MUFU")]
        shared = made.metadata.shared
        print(f"    {made.n_regs:4} {made.n_spills:4} {shared:7} {counts}  {made.name}")


def step_of(batch: int) -> None:
    config = preset("gpt2-124M", {"batch": batch, "steps": 10_000})
    made, ends = {}, {}
    for name, (setting, _) in VARIANTS.items():
        try:
            with setting():
                made[name] = Engine(config, torch.device("cuda"), 2)
        except Exception as error:  # one variant that fails must not hide the others
            print(f"  {name}: {type(error).__name__} {str(error)[:200]}")
            continue
        if (batch, name) == (8, OWN):
            machine_code()
        give(made[name], *tokens(config))
        ends[name] = trained(made[name])
    calls = {name: stepping(made[name]) for name in made if sound(name, ends)}
    print(f"\nbatch {batch}, milliseconds a step, in turn", flush=True)
    spreads = timing.interleaved(calls, warmup=5, samples=21, calls=1)
    for name, spread in spreads.items():
        low, median, high = (value / 1e3 for value in (spread.low, spread.median, spread.high))
        print(f"  {median:7.3f} [{low:.3f}, {high:.3f}]  {name}", flush=True)
    spread = timing.interleaved({OWN: calls[OWN]}, warmup=20, samples=41, calls=1)[OWN]
    print(f"  {spread.median / 1e3:7.3f}  {OWN}, back to back")
    show(calls[OWN], "k_attn_fwd", "k_attn_bwd_dkv")


def stepping(made: Engine) -> Call:
    return lambda: made.step(made.slots[0])


def trained(made: Engine) -> torch.Tensor:
    for _ in range(STEPS):
        made.step(made.slots[0])
    torch.cuda.synchronize()
    return made.arena["weights"].clone()


def sound(name: str, ends: dict[str, torch.Tensor]) -> bool:
    """Whether the variant's weights are what they must be; says so if not."""
    apart = float((ends[name] - ends[OWN]).abs().max())
    bits = torch.equal(ends[name], ends[OWN])
    print(f"  {name}: {'the same bits' if bits else f'{apart:.1e} apart'} after {STEPS} steps")
    return bits if VARIANTS[name][1] else apart < 1e-3
