"""andrea.benchmark: a whole training step, the engine's and PyTorch's in turn on one GPU.

Every step includes clipping and AdamW. The engine's step is one recorded graph; its tokens are
fed once. Peak memory is what each has allocated at most, weights included. Before the peers come,
the engine alone trains on: the card's free memory after the last step must be that after the
first. A peer that PyTorch cannot make here is told and left out.
"""

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import psutil
import torch

from kernels.andrea.config import Config
from kernels.andrea.engine import Engine
from kernels.events import Column, Event, Log, Metric, Note, Table
from kernels.procedure import Context
from kernels.procedures.andrea.configuring import config_of
from kernels.procedures.andrea.jobs import device_of, require_memory
from kernels.procedures.andrea.peers import AUTOTUNE, DETERMINISTIC, NAMES, peer
from kernels.procedures.andrea.small import give, judged, tokens
from kernels.timing import Call, Spread, interleaved

WARMUP = 5
STEPS = 100  # without a change of the free memory
ENGINE = "engine"
PEERS = {
    "none": (),
    "eager": ("eager",),
    "compile": ("eager", "compile"),
    "liger": ("eager", "compile", "liger"),
    "deterministic": ("compile", *(f"{name}{DETERMINISTIC}" for name in ("eager", "compile"))),
    "max-autotune": ("compile", AUTOTUNE, f"{AUTOTUNE}{DETERMINISTIC}"),
    "all": NAMES,
}


def run(context: Context) -> Iterator[Event]:
    config, device = config_of(context.parameters), device_of(context)
    config = replace(config, steps=max(config.steps, 10_000))
    require_memory(config, device, context.version)
    ways: dict[str, Callable[[], Call]] = {ENGINE: lambda: engine_step(config, context)}
    ways |= {name: partial(peer, name, config, device) for name in names(context)}
    series: dict[str, Call] = {}
    peaks: dict[str, int] = {}
    for name, make in ways.items():
        try:
            series[name], peaks[name] = ready(make)
        except RuntimeError as error:
            if name == ENGINE:
                raise
            params = {"name": name, "why": str(error).strip().split("\n")[0][:300]}
            yield Log(Note("log.andrea.peer-failed", params), level="warning")
            continue
        if name == ENGINE:
            yield Metric("cold-start", time.time() - psutil.Process().create_time(), unit="s")
            lost = memory_lost(series[name], STEPS)
            yield judged("free-memory", not lost, lost, 0.0)
        yield Log(Note("log.andrea.peer", {"name": name}))
        if context.stop.is_set():
            return
    times = interleaved(series, warmup=WARMUP, samples=context["samples"], calls=1)
    count = config.rows * config.micro_batches
    yield from shown(times, peaks, count)


def names(context: Context) -> tuple[str, ...]:
    return PEERS[context["peers"]]


def engine_step(config: Config, context: Context) -> Call:
    engine = Engine(config, device_of(context), context.version)
    give(engine, *tokens(config))
    return lambda: engine.step(engine.slots[0])


def ready(make: Callable[[], Call]) -> tuple[Call, int]:
    """The step after it ran for the first times, and the most memory that took at once."""
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    step = make()
    for _ in range(WARMUP):
        step()
    torch.cuda.synchronize()
    return step, torch.cuda.max_memory_allocated() - before


def memory_lost(step: Call, steps: int) -> float:
    """Bytes of the card that are free after one more step and no longer after `steps` more. Other
    processes share the card: what one of them gives back meanwhile is no loss."""
    step()
    torch.cuda.synchronize()
    before, _ = torch.cuda.mem_get_info()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    after, _ = torch.cuda.mem_get_info()
    return float(max(0, before - after))


def shown(times: dict[str, Spread], peaks: dict[str, int], count: int) -> Iterator[Event]:
    rows: list[tuple[str | float, ...]] = []
    for name, spread in times.items():
        rate = count / spread.median * 1e6
        milliseconds = [value / 1e3 for value in (spread.median, spread.low, spread.high)]
        rows.append((name, *milliseconds, rate, peaks[name]))
        yield Metric("step-time", spread.median / 1e3, unit="ms", series=name)
        yield Metric("tokens-per-second", rate, series=name)
    columns = (
        Column("series"),
        *(Column(key, "ms") for key in ("median", "low", "high")),
        *(Column("rate"), Column("peak", "bytes")),
    )
    yield Table("training-speed", columns, tuple(rows))
