"""Every operator, in every version, gives what its float64 oracle gives."""

from pathlib import Path

import pytest
import torch

from kernels.andrea import mutants
from kernels.andrea.operators import TABLE
from kernels.events import Case, Progress, Verdict
from kernels.messages import MESSAGES
from kernels.procedure import Context, Device
from kernels.procedures.andrea import checks
from kernels.procedures.andrea.bench import Bench
from kernels.procedures.andrea.checks_declared import CHECKS, PROCEDURES, Check, Shape
from kernels.registry import parse
from tests.kernels.andrea.operators.checking import CPU, judged

VERSIONS = [(check, version) for check in CHECKS for version in check.versions]
EVERY = [
    pytest.param(check, version, shape, id=f"{check.operator}-{version}-{shape.label}")
    for check, version in VERSIONS
    for shape in check.shapes
]


@pytest.mark.parametrize(("check", "version", "shape"), EVERY)
def test_forward_and_every_gradient_match_the_oracle_in_fp32(
    check: Check, version: int, shape: Shape
) -> None:
    for tensor, case in judged(check.operator, shape.label, version=version).items():
        assert case.verdict is Verdict.PASSED, (tensor, case.worst, case.why)


@pytest.mark.parametrize("dtype", ["FP16", "BF16"])
@pytest.mark.parametrize(
    ("check", "version"),
    [
        pytest.param(check, version, id=f"{check.operator}-{version}")
        for check, version in VERSIONS
        if len(check.dtypes) > 1
    ],
)
def test_they_do_in_16_bits_at_an_odd_shape(check: Check, version: int, dtype: str) -> None:
    shape = check.shapes[2]
    for tensor, case in judged(check.operator, shape.label, version=version, dtype=dtype).items():
        assert case.verdict is Verdict.PASSED, (tensor, case.worst, case.why)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.operator)
def test_zeros_pass_no_check(check: Check) -> None:
    """A tolerance that an output of zeros passes would be too wide."""
    module = checks.implementation(check, Context(Device.CPU, 1, {"mutant": ""}, Path()))
    bench = Bench(CPU, torch.bfloat16 if len(check.dtypes) > 1 else torch.float32)
    bench.start(torch.Generator().manual_seed(1))
    getattr(checks, check.operator).args[1](bench, module, check.shapes[2])
    for name, due in bench.due.items():
        due.got = torch.zeros_like(due.got)
        assert name in ("grads", "zeroed") or not due.compare().passed, name


def test_a_procedure_yields_one_case_a_square_of_its_grid() -> None:
    procedure = next(p for p in PROCEDURES if p.name == "andrea.check-residual")
    context = Context(Device.CPU, 1, parse(procedure, {}), Path())
    events = list(procedure.load()(context))
    cases = [event for event in events if isinstance(event, Case)]
    assert procedure.grid is not None
    assert len({case.place for case in cases}) == len(cases) == len(procedure.grid)
    assert events[-1] == Progress(len(cases), len(cases))


def test_a_check_that_is_told_to_stop_stops() -> None:
    procedure = next(p for p in PROCEDURES if p.name == "andrea.check-residual")
    context = Context(Device.CPU, 1, parse(procedure, {}), Path())
    context.stop.set()
    assert not [event for event in procedure.load()(context) if isinstance(event, Case)]


def test_every_operator_of_the_table_has_a_check() -> None:
    assert {operator.check for operator in TABLE} <= {procedure.name for procedure in PROCEDURES}


def test_every_reason_and_every_check_has_its_sentence() -> None:
    assert {mutant.why for mutant in mutants.MUTANTS} - set(MESSAGES) == set()
    for procedure in PROCEDURES:
        assert MESSAGES[f"procedure.{procedure.name}.title"]
        assert MESSAGES[f"procedure.{procedure.name}.about"].endswith(".")
