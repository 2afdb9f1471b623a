"""rmsnorm.benchmark: whole calls on the GPU, reference and kernel in turn.

CUDA events stand around complete calls: allocations, Autograd and launches included. 20 calls
are thrown away, then 50 samples of 20 calls each; medians a call. What the figures do not
say: how long the backward pass takes (the difference of two medians is no measurement), why
one is faster (that needs a profiler), or anything about other shapes and cards.
"""

from collections.abc import Iterator
from functools import partial

import torch

from kernels.checking import TOLERANCES, Comparison, compare, generator
from kernels.contract import ContractError
from kernels.events import Case, Column, Event, Log, Metric, Note, Table, Verdict
from kernels.procedure import BadParameter, Context
from kernels.procedures.rmsnorm.inputs import TORCH_DTYPES
from kernels.procedures.rmsnorm.training import Norm
from kernels.rmsnorm import EPS, manual_backward, rmsnorm_reference
from kernels.rmsnorm_versions import VERSIONS, Version
from kernels.timing import Call, Spread, interleaved


def run(context: Context) -> Iterator[Event]:
    version = VERSIONS[context.version]
    x, gamma, dy = tensors(context)
    try:
        comparison = worst_of(version, x, gamma, dy)
    except ContractError as refusal:  # a version accepts less than the parameters can say
        raise BadParameter(str(refusal), refusal.note) from refusal
    verdict = Verdict.PASSED if comparison.passed else Verdict.FAILED
    yield Case("right-before-fast", verdict, {"version": version.number}, worst=comparison.worst)
    if not comparison.passed:
        return
    ways: dict[str, Norm] = {"reference": rmsnorm_reference, "kernel": version.apply}
    series: dict[str, Call] = {}
    for name, way in ways.items():
        series[f"forward-{name}"] = partial(way, x, gamma, EPS)
        series[f"forward-backward-{name}"] = partial(call_both, way, x, gamma, dy)
    times = interleaved(
        series, warmup=context["warmup"], samples=context["samples"], calls=context["calls"]
    )
    for name, time in times.items():
        yield Metric(name, time.median, unit="us")
    yield latency_table(times)
    yield Log(Note("log.benchmark-perimeter"))


def worst_of(
    version: Version, x: torch.Tensor, gamma: torch.Tensor, dy: torch.Tensor
) -> Comparison:
    """The whole call that will be timed, against the oracle: y, dx and dgamma, twice, because
    a second call may take a shorter way."""
    exact = (x.detach().double(), gamma.detach().double(), dy.double())
    due = (rmsnorm_reference(*exact[:2]), *manual_backward(*exact))
    found = []
    for _ in range(2):
        y = version.apply(x, gamma, EPS)
        got = (y.detach(), *torch.autograd.grad(y, (x, gamma), dy))
        found += [compare(g, d, TOLERANCES[x.dtype]) for g, d in zip(got, due, strict=True)]
    return next((comparison for comparison in found if not comparison.passed), found[0])


def tensors(context: Context) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, columns = context["rows"], context["columns"]
    source = generator(context["seed"], rows, columns)
    dtype = TORCH_DTYPES[context["dtype"]]
    x, gamma, dy = (
        torch.randn(shape, generator=source).to("cuda", dtype)
        for shape in ((rows, columns), (columns,), (rows, columns))
    )
    return x.requires_grad_(), gamma.requires_grad_(), dy


def call_both(way: Norm, x: torch.Tensor, gamma: torch.Tensor, dy: torch.Tensor) -> None:
    way(x, gamma, EPS).backward(dy)
    x.grad = gamma.grad = None


def latency_table(times: dict[str, Spread]) -> Table:
    """Medians with their quartiles, and the difference in percent of the reference."""
    rows = []
    for what in ("forward", "forward-backward"):
        reference, kernel = times[f"{what}-reference"], times[f"{what}-kernel"]
        difference = kernel.median - reference.median
        percent = 100 * difference / reference.median
        rows.append((what, reference.median, kernel.median, difference, percent))
    columns = (
        Column("pass"),
        Column("reference", "us"),
        Column("kernel", "us"),
        Column("difference", "us"),
        Column("difference", "%"),
    )
    return Table("latency", columns, tuple(rows))
