"""Every operator, in every version, gives what its float64 oracle gives."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from kernels.andrea import mutants
from kernels.andrea.operators import TABLE, Pair, tiles
from kernels.checking import generator
from kernels.events import Case, Progress, Verdict
from kernels.messages import MESSAGES
from kernels.procedure import Context, Device
from kernels.procedures.andrea import checks
from kernels.procedures.andrea.bench import TORCH_DTYPES, Bench
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


class Zeros(ModuleType):
    """An operator that launches nothing; what its launches would have to know is the real one's."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__("zeros")
        self.real = real
        self.PAIR = Pair(nothing, nothing)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name) if name in ("scratch", "programs", "chunks") else nothing


def nothing(*given: Any) -> None:
    pass


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.operator)
def test_zeros_pass_in_no_square_but_where_zeros_are_due(check: Check) -> None:
    """A tolerance that an output of zeros passes would be too wide."""
    real = checks.implementation(check, Context(Device.CPU, 1, {"mutant": ""}, Path()))
    for dtype in check.dtypes:
        for shape in check.shapes:
            bench = Bench(CPU, TORCH_DTYPES[dtype])
            bench.start(generator(1, 0, *shape.sizes))
            getattr(checks, check.operator).args[1](bench, Zeros(real), shape)
            for name, due in (*bench.due.items(), *bench.others.items()):
                due.got = torch.zeros_like(due.got)
                zero = not due.expected.any() or (shape.special, name) in LEFT_AS_THEY_WERE
                assert zero or not due.compare().passed, (dtype, shape.label, name)


# Of a skipped update the weights' working copy; what is due is what nobody wrote.
LEFT_AS_THEY_WERE = {("not-finite", "working")}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.operator)
def test_a_case_says_which_small_tiles_it_had(check: Check) -> None:
    case = next(iter(judged(check.operator, check.shapes[0].label).values()))
    assert case.labels["tiles"] == checks.written(check.tiles[0])
    alone = judged(check.operator, check.shapes[0].label, micro_batches=1)
    assert "tiles" not in next(iter(alone.values())).labels


@pytest.mark.parametrize("sides", [(16, 32), (32, 16), (16, 32, 16), (32, 16, 16), (8,)])
def test_small_tiles_are_smaller_than_the_shapes_and_end_with_the_launch(
    sides: tuple[int, ...],
) -> None:
    with tiles.cut(checks.cut(sides)):
        small = tiles.product(65, 48, 65, torch.float32, CPU)
        assert max(small.rows, small.columns, small.depth) < 48
        reach = tiles.reach("dq", 65, torch.float32, CPU)
        assert reach.queries < 65 and reach.keys < 65
        assert tiles.flat(500, CPU) < 500 / 4 and tiles.columns(1000, CPU) < 1000 / 4
        assert tiles.persistent(100, CPU) == 2 and tiles.few(100) == 2
    assert tiles.product(65, 48, 65, torch.float32, CPU).rows > 65
    assert tiles.few(100) == 100


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
