"""rmsnorm.check-forward, check-backward and check-gamma: 72 cases and the special inputs.

Each case runs twice, the second time on fresh values; its inputs are compared with a copy
afterwards, its outputs start as NaN, and every buffer lies between canaries.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from kernels.checking import TOLERANCES, Comparison, Guarded, Tolerance, compare, poisoned
from kernels.events import Case, Event, Log, Note, Progress, Verdict
from kernels.mutating import mutated
from kernels.procedure import Context
from kernels.procedures.rmsnorm import why
from kernels.procedures.rmsnorm.inputs import (
    Input,
    Truth,
    draw,
    places,
    specials,
    truth,
    wider,
)
from kernels.rmsnorm import EPS
from kernels.rmsnorm_versions import VERSIONS, Version


@dataclass(frozen=True)
class Attempt:
    """One launch on one input: what came, what was due, and which strips were harmed."""

    what: str
    got: torch.Tensor
    expected: torch.Tensor
    tolerance: Tolerance
    comparison: Comparison
    harm: Note | None


Launch = Callable[[Version, Input], list[Attempt]]


def check_forward(context: Context) -> Iterator[Event]:
    """y, and the inverse that the backward pass will read."""
    yield from check(context, run_forward, why.forward)


def check_backward(context: Context) -> Iterator[Event]:
    """dx, from the oracle's inverse: a fault of the forward pass cannot hide or blame this one."""
    yield from check(context, run_backward, why.backward)


def check_gamma(context: Context) -> Iterator[Event]:
    """dgamma, through the scratch of the version and its reduction."""
    yield from check(context, run_gamma, why.gamma)


def check(context: Context, launch: Launch, explain: why.Explain) -> Iterator[Event]:
    version = VERSIONS[context.version]
    if context["mutant"]:
        version = mutated(context["mutant"])
        yield Log(Note("log.mutant", {"mutant": context["mutant"]}), level="warning")
    device = torch.device(context.device.value)
    grid, extra = places(context["seed"]), specials(device)
    if version.contract.empty_rows:
        extra += wider(device)
    total = len(grid) + len(extra)
    yield Progress(0, total)
    for done, place in enumerate(grid, start=1):
        if context.stop.is_set():
            return
        yield judge(version, launch, explain, draw(place, device), draw(place, device, fresh=True))
        yield Progress(done, total)
    for done, special in enumerate(extra, start=len(grid) + 1):
        if context.stop.is_set():
            return
        yield judge(version, launch, explain, special)
        yield Progress(done, total)


def judge(version: Version, launch: Launch, explain: why.Explain, *inputs: Input) -> Case:
    """The verdict over all attempts on one case; the worst of them is the one reported."""
    with np.errstate(over="ignore", invalid="ignore"):  # the interpreter computes with NumPy
        attempts = [(case, attempt) for case in inputs for attempt in launch(version, case)]
    failed = [(case, a) for case, a in attempts if a.harm or not a.comparison.passed]
    first = inputs[0]
    asked = [pair for pair in attempts if pair[1].what != "inverse"]
    case, shown = failed[0] if failed else max(asked, key=error_of)
    reason = None
    if failed:
        reason = shown.harm or explain(shown.what, shown.got, shown.expected, case, shown.tolerance)
    return Case(
        id=first.id,
        verdict=Verdict.FAILED if failed else Verdict.PASSED,
        labels=first.labels,
        place=first.place,
        what=shown.what,
        max_abs_error=shown.comparison.max_abs_error,
        atol=shown.tolerance.atol,
        rtol=shown.tolerance.rtol,
        worst=shown.comparison.worst,
        why=reason,
    )


def error_of(pair: tuple[Input, Attempt]) -> float:
    return pair[1].comparison.max_abs_error


def run_forward(version: Version, case: Input) -> list[Attempt]:
    x = case.x.tensor
    y = poisoned(tuple(x.shape), x.dtype, x.device, case.strip)
    inverse = poisoned((case.rows,), torch.float32, x.device, case.strip)
    version.forward(x, case.gamma.tensor, y.tensor, inverse.tensor, EPS)
    due = truth(case, EPS)
    harm = harmed(case, {"y": y, "inverse": inverse})
    return [
        attempt("y", y.tensor, due.y, harm),
        attempt("inverse", inverse.tensor, due.inverse, harm),
    ]


def run_backward(version: Version, case: Input) -> list[Attempt]:
    due = truth(case, EPS)
    dx, _, harm = backward(version, case, due, with_gamma=False)
    return [attempt("dx", dx, due.dx, harm)]


def run_gamma(version: Version, case: Input) -> list[Attempt]:
    due = truth(case, EPS)
    _, dgamma, harm = backward(version, case, due, with_gamma=True)
    return [attempt("dgamma", dgamma, due.dgamma, harm)]


def backward(
    version: Version, case: Input, due: Truth, *, with_gamma: bool
) -> tuple[torch.Tensor, torch.Tensor, Note | None]:
    x, gamma = case.x.tensor, case.gamma.tensor
    dx = poisoned(tuple(x.shape), x.dtype, x.device, case.strip)
    dgamma = poisoned((case.columns,), gamma.dtype, x.device, case.strip)
    partial = poisoned(version.scratch(x), torch.float32, x.device, case.strip)
    target = dgamma.tensor if with_gamma else None
    inverse = due.inverse.float()
    version.backward(x, gamma, case.dy.tensor, inverse, dx.tensor, partial.tensor, target)
    harm = harmed(case, {"dx": dx, "dgamma": dgamma, "partial": partial})
    return dx.tensor, dgamma.tensor, harm


def attempt(what: str, got: torch.Tensor, expected: torch.Tensor, harm: Note | None) -> Attempt:
    tolerance = TOLERANCES[got.dtype]
    return Attempt(what, got, expected, tolerance, compare(got, expected, tolerance), harm)


def harmed(case: Input, outputs: dict[str, Guarded]) -> Note | None:
    """Whether an input was changed or memory beside an output was written."""
    for name, side in (("x", case.x), ("gamma", case.gamma), ("dy", case.dy)):
        if side.changed():
            return Note("why.input-changed", {"tensor": name})
    for name, buffer in outputs.items():
        if buffer.strips_touched():
            return Note("why.outside", {"tensor": name})
    return None
