"""andrea.check-<operator>: forward and every gradient against the float64 oracle.

One Case a tensor, dtype and shape. The operator runs once a micro-batch, each on fresh values;
weight gradients add up over them. The first launch has the tiles that the device has in training;
from the second on they are so small that every loop over tiles turns several times. Inputs are
compared with a copy afterwards, outputs start as NaN, and every buffer lies between canaries.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType

import numpy as np
import torch

from kernels.andrea.mutating import mutated
from kernels.andrea.operators import tiles
from kernels.checking import Comparison, generator
from kernels.events import Case, Event, Log, Note, Progress, Verdict
from kernels.procedure import Context
from kernels.procedures.andrea import (
    problems,
    problems_attention,
    problems_products,
    problems_update,
)
from kernels.procedures.andrea.bench import TORCH_DTYPES, Bench, Due
from kernels.procedures.andrea.check_why import explain
from kernels.procedures.andrea.checks_declared import BY_OPERATOR, Check, Shape

Problem = Callable[[Bench, ModuleType, Shape], None]


def check(operator: str, problem: Problem, context: Context) -> Iterator[Event]:
    declared = BY_OPERATOR[operator]
    module = implementation(declared, context)
    if context["mutant"]:
        yield Log(Note("log.operator-mutant", {"mutant": context["mutant"]}), level="warning")
    device = torch.device(context.device.value)
    done, total = 0, len(declared.grid)
    yield Progress(done, total)
    for i, dtype in enumerate(declared.dtypes):
        for j, shape in enumerate(declared.shapes):
            if context.stop.is_set():
                return
            bench = Bench(device, TORCH_DTYPES[dtype])
            cuts = cuts_of(declared, i + j, context["micro_batches"])
            verdicts = attempt(bench, module, problem, shape, context, cuts)
            for slot, tensor in enumerate(declared.tensors):
                yield case(dtype, shape, tensor, (i, j, slot), cuts, *verdicts[tensor])
            done += len(declared.tensors)
            yield Progress(done, total)


def implementation(declared: Check, context: Context) -> ModuleType:
    """The operator's file for the version asked for, or a mutant, whose version is its own."""
    if context["mutant"]:
        return mutated(context["mutant"])
    name = f"kernels.andrea.operators.{declared.operator}"
    return import_module(name if context.version == 1 else f"{name}_fast")


def cuts_of(declared: Check, turn: int, count: int) -> list[tuple[int, ...]]:
    """The small tiles of each launch: none of the first, then the operator's by turns."""
    small = declared.tiles
    return [(), *(small[(turn + number) % len(small)] for number in range(count - 1))]


def cut(sides: tuple[int, ...]) -> tiles.Cut | None:
    """Three sides are a product's tile, two are attention's; no operator launches both."""
    if len(sides) == 3:
        return tiles.Cut(product=tiles.Tile(*sides))
    if len(sides) == 2:
        return tiles.Cut(reach=tiles.Reach(*sides, group=2))
    return tiles.Cut() if sides else None


Finding = tuple[Due, Comparison, Note | None]


def attempt(
    bench: Bench,
    module: ModuleType,
    problem: Problem,
    shape: Shape,
    context: Context,
    cuts: Sequence[tuple[int, ...]],
) -> dict[str, Finding]:
    """The worst finding a tensor over all micro-batches; a sum is judged after the last."""
    worst: dict[str, Finding] = {}
    count = len(cuts)
    for number, sides in enumerate(cuts):
        bench.start(generator(context["seed"], number, *shape.sizes))
        # The interpreter computes with NumPy, which warns of what is judged below.
        with np.errstate(all="ignore"), tiles.cut(cut(sides)):
            problem(bench, module, shape)
        harm = bench.harm()
        for name, due in (*bench.due.items(), *bench.others.items()):
            unfinished = due is bench.due[name] and name in bench.carried and number < count - 1
            if unfinished and not harm:
                continue
            found = (due, due.compare(), harm)
            if name not in worst or severity(found) > severity(worst[name]):
                worst[name] = found
    return worst


def severity(found: Finding) -> tuple[bool, bool, float]:
    _, comparison, harm = found
    return harm is not None, not comparison.passed, comparison.max_abs_error


def case(
    dtype: str,
    shape: Shape,
    tensor: str,
    place: tuple[int, int, int],
    cuts: Sequence[tuple[int, ...]],
    due: Due,
    comparison: Comparison,
    harm: Note | None,
) -> Case:
    passed = comparison.passed and harm is None
    labels: dict[str, str | int] = {"dtype": dtype, "input": shape.label, "tensor": tensor}
    if small := dict.fromkeys(written(sides) for sides in cuts[1:]):
        labels["tiles"] = ", ".join(small)
    return Case(
        id=f"{dtype.lower()}-{shape.label}-{tensor}".replace(" ", "-").replace("×", "x"),
        verdict=Verdict.PASSED if passed else Verdict.FAILED,
        labels=labels,
        place=place,
        what=tensor,
        max_abs_error=comparison.max_abs_error,
        atol=due.tolerance.atol,
        rtol=due.tolerance.rtol,
        worst=comparison.worst,
        why=None if passed else harm or explain(due),
    )


def written(sides: tuple[int, ...]) -> str:
    """16 × 32; one part in so many where there is no tile of a product or of attention."""
    return " × ".join(map(str, sides)) if len(sides) > 1 else f"1/{sides[0]}"


embed = partial(check, "embed", problems.embed)
layernorm = partial(check, "layernorm", problems.layernorm)
residual = partial(check, "residual", problems.residual)
attn_qkv = partial(check, "attn_qkv", problems_products.attn_qkv)
attn = partial(check, "attn", problems_attention.attn)
attn_out = partial(check, "attn_out", problems_products.attn_out)
mlp = partial(check, "mlp", problems_products.mlp)
logits = partial(check, "logits", problems_products.logits)
loss = partial(check, "loss", problems_update.loss)
grad_norm = partial(check, "grad_norm", problems_update.grad_norm)
adamw = partial(check, "adamw", problems_update.adamw)
casts = partial(check, "casts", problems_update.casts)
