"""andrea.memory-plan: every buffer of a run before the first is allocated. Needs no torch."""

from collections.abc import Iterator
from dataclasses import replace

from kernels.andrea.config import Config
from kernels.andrea.layout import parameter_count
from kernels.andrea.plan import BESIDE_ON_GPU, Buffer, Plan, plan
from kernels.events import Column, Event, Metric, Table
from kernels.procedure import Context
from kernels.procedures.andrea.configuring import config_of

Row = tuple[str, str, str, str, int]
LARGEST_BATCH = 2**15


def run(context: Context) -> Iterator[Event]:
    config = config_of(context.parameters)
    yield from told(config, plan(config, context.version), full=context["full"])
    if context["gigabytes"]:
        room = int(context["gigabytes"] * 10**9) - BESIDE_ON_GPU
        yield Metric("largest-batch", largest_batch(config, context.version, room))


def largest_batch(config: Config, version: int, room: int) -> int:
    """Sequences a micro-batch may have so that the plan fits into `room` bytes; 0 if none."""

    def fits(batch: int) -> bool:
        return plan(replace(config, batch=batch), version).bytes <= room

    if not fits(1):
        return 0
    # A plan grows with its batch, almost in a straight line: begin where that line ends.
    first, second = (plan(replace(config, batch=n), version).bytes for n in (1, 2))
    low = min(1 + (room - first) // max(1, second - first), LARGEST_BATCH)
    step = 1
    while not fits(low):
        low, step = max(1, low - step), 2 * step
    while low + step <= LARGEST_BATCH and fits(low + step):
        low, step = low + step, 2 * step
    while step:  # the answer lies below low + step: halving finds it
        if low + step <= LARGEST_BATCH and fits(low + step):
            low += step
        step //= 2
    return low


def told(config: Config, needed: Plan, *, full: bool = False) -> Iterator[Event]:
    """The plan as tables; unless `full`, what every block has alike is one row."""
    yield from summary(config, needed)
    yield whole(needed) if full else by_name(config, needed)


def summary(config: Config, needed: Plan) -> Iterator[Event]:
    """The sums by what the buffers are for; they add up to what is allocated."""
    columns = (Column("whose"), Column("bytes", "bytes"))
    yield Table("memory-summary", columns, tuple(needed.by_owner().items()))
    yield Metric("parameters", parameter_count(config))
    yield Metric("plan-bytes", needed.bytes, unit="bytes")


def whole(needed: Plan) -> Table:
    """One row a buffer, the padding last."""
    return table(needed, [row(buffer) for buffer in needed.buffers])


def by_name(config: Config, needed: Plan) -> Table:
    """Buffers of the first block stand for those of all of them."""
    last = f"h{config.layers - 1}."
    rows = []
    for buffer in needed.buffers:
        if buffer.whose == "layer 0" and config.layers > 1:
            name, shape, dtype, _, size = row(buffer)
            name = f"{name} … {last}{buffer.name.partition('.')[2]}"
            rows.append((name, f"{config.layers} × {shape}", dtype, "layers", config.layers * size))
        elif config.layers == 1 or not buffer.whose.startswith("layer "):
            rows.append(row(buffer))
    return table(needed, rows)


def row(buffer: Buffer) -> Row:
    shape = " × ".join(map(str, buffer.shape))
    return buffer.name, shape, buffer.dtype, buffer.whose, buffer.bytes


def table(needed: Plan, rows: list[Row]) -> Table:
    names = (Column(key) for key in ("buffer", "shape", "dtype", "whose"))
    rows = [*rows, ("padding", "", "", "padding", needed.padding)]
    return Table("memory-plan", (*names, Column("bytes", "bytes")), tuple(rows))
