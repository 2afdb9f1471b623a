"""andrea.memory-plan: every buffer of a run before the first is allocated. Needs no torch."""

from collections.abc import Iterator

from kernels.andrea.config import Config
from kernels.andrea.layout import parameter_count
from kernels.andrea.plan import Plan, plan
from kernels.events import Column, Event, Metric, Table
from kernels.procedure import Context
from kernels.procedures.andrea.configuring import config_of


def run(context: Context) -> Iterator[Event]:
    config = config_of(context.parameters)
    needed = plan(config)
    yield from summary(config, needed)
    if context["full"]:
        yield whole(needed)


def summary(config: Config, needed: Plan) -> Iterator[Event]:
    """The sums by what the buffers are for; they add up to what is allocated."""
    columns = (Column("whose"), Column("bytes", "bytes"))
    yield Table("memory-summary", columns, tuple(needed.by_owner().items()))
    yield Metric("parameters", parameter_count(config))
    yield Metric("plan-bytes", needed.bytes, unit="bytes")


def whole(needed: Plan) -> Table:
    """One row a buffer, the padding last."""
    columns = ("buffer", "shape", "dtype", "whose"), Column("bytes", "bytes")
    rows = [
        (b.name, " × ".join(map(str, b.shape)), b.dtype, b.whose, b.bytes) for b in needed.buffers
    ]
    rows.append(("padding", "", "", "padding", needed.padding))
    return Table("memory-plan", (*map(Column, columns[0]), columns[1]), tuple(rows))
