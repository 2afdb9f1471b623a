"""Run parts of the operators' checks in this process, on the interpreter."""

from pathlib import Path
from typing import Any

import torch

from kernels.andrea.mutating import mutated
from kernels.events import Case
from kernels.procedure import Context, Device
from kernels.procedures.andrea import checks
from kernels.procedures.andrea.bench import TORCH_DTYPES, Bench
from kernels.procedures.andrea.checks_declared import BY_OPERATOR, Shape

CPU = torch.device("cpu")


def shape_of(operator: str, label: str) -> Shape:
    return next(shape for shape in BY_OPERATOR[operator].shapes if shape.label == label)


def judged(
    operator: str,
    label: str,
    *,
    dtype: str = "FP32",
    version: int = 1,
    mutant: str = "",
    micro_batches: int = 2,
) -> dict[str, Case]:
    """The Cases of one dtype and shape, by tensor."""
    declared, shape = BY_OPERATOR[operator], shape_of(operator, label)
    given: dict[str, Any] = {"seed": 1, "micro_batches": micro_batches, "mutant": mutant}
    context = Context(Device.CPU, version, given, Path())
    module = mutated(mutant) if mutant else checks.implementation(declared, context)
    problem = getattr(checks, operator).args[1]
    place = declared.dtypes.index(dtype), declared.shapes.index(shape)
    cuts = checks.cuts_of(declared, sum(place), micro_batches)
    found = checks.attempt(Bench(CPU, TORCH_DTYPES[dtype]), module, problem, shape, context, cuts)
    return {
        tensor: checks.case(dtype, shape, tensor, (*place, 0), cuts, *found[tensor])
        for tensor in declared.tensors
    }
