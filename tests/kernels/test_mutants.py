"""Every mutant is killed, by the check that should and with the pattern named."""

import pytest
import torch

from kernels.events import Case, Verdict
from kernels.mutating import apply, mutated, source_of
from kernels.procedures.rmsnorm import checks, why
from kernels.procedures.rmsnorm.inputs import Input, Place, draw, places, specials
from kernels.rmsnorm_mutants import BY_NAME, MUTANTS, Check, Edit, Mutant

CPU = torch.device("cpu")
CHECKS = {
    Check.FORWARD: (checks.run_forward, why.forward),
    Check.BACKWARD: (checks.run_backward, why.backward),
    Check.GAMMA: (checks.run_gamma, why.gamma),
}
# The first case of the grid, or the special input, that kills each mutant.
KILLERS = {
    "forward-by-block": "fp32-1x31-1",
    "backward-by-block": "fp32-1x31-1",
    "both-by-block": "fp32-1x31-1",
    "gamma-mean": "fp32-17x31-1",
    "load-without-mask": "fp32-1x31-1",
    "store-without-mask": "fp32-1x31-1",
    "row-stride-of-block": "fp32-17x31-1",
    "r-squared": "fp32-1x31-1",
    "no-second-term": "fp32-1x31-1",
    "wrong-sign": "fp32-1x31-1",
    "no-fp32-cast": "fp16-2x257-row-of-300",
    "only-row-0": "fp32-17x31-1",
    "writes-nothing": "fp32-1x31-1",
    "dx-not-written": "fp32-1x31-1",
    "dgamma-not-written": "fp32-1x31-1",
    "zeros": "fp32-1x31-1",
    "no-gamma": "fp32-1x31-1",
    "no-root": "fp32-1x31-1",
    "wrong-inverse": "fp32-1x31-1",
    "overwrites-x": "fp32-1x31-1",
    "first-tile-of-rows": "fp32-128x31-1",
    "right-once": "fp32-1x31-1",
}


def inputs(case_id: str) -> tuple[Input, ...]:
    for place in places(1):
        pair = draw(place, CPU), draw(place, CPU, fresh=True)
        if pair[0].id == case_id:
            return pair
    return (next(special for special in specials(CPU) if special.id == case_id),)


def judge(mutant: Mutant, *given: Input) -> Case:
    return checks.judge(mutated(mutant.name), *CHECKS[mutant.killed_by], *given)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_is_killed_by_a_case_that_names_the_pattern(mutant: Mutant) -> None:
    mutated.cache_clear()
    case = judge(mutant, *inputs(KILLERS[mutant.name]))
    assert case.verdict is Verdict.FAILED
    assert case.why is not None and case.why.code == mutant.why


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_differs_from_the_kernel_only_where_it_says(mutant: Mutant) -> None:
    for edit in mutant.edits:
        assert edit.new in source_of(mutant)


def test_an_edit_that_no_longer_fits_is_an_error() -> None:
    with pytest.raises(ValueError, match="occurs 0 times"):
        apply("def f():\n    return 1\n", Edit("f", "return 2", "return 3"))


def place(dtype: str, rows: int, columns: int) -> Place:
    return Place(dtype, rows, columns, 1, (0, 0, 0))


def verdict(name: str, dtype: str, rows: int, columns: int) -> Verdict:
    return judge(BY_NAME[name], draw(place(dtype, rows, columns), CPU)).verdict


@pytest.mark.parametrize("columns", [1, 2, 32, 256, 4096])
def test_a_mean_over_block_is_invisible_at_every_power_of_two(columns: int) -> None:
    assert verdict("forward-by-block", "FP32", 2, columns) is Verdict.PASSED
    assert verdict("backward-by-block", "FP32", 2, columns) is Verdict.PASSED


@pytest.mark.parametrize("columns", [255, 4095])
def test_just_below_a_power_of_two_y_hides_it_within_fp16_and_r_does_not(columns: int) -> None:
    case = draw(place("FP16", 4, columns), CPU)
    y, inverse = checks.run_forward(mutated("forward-by-block"), case)
    assert y.comparison.passed
    assert not inverse.comparison.passed
    assert verdict("forward-by-block", "FP32", 4, columns) is Verdict.FAILED


@pytest.mark.parametrize("columns", [257, 513, 1025])
def test_just_above_one_it_is_seen_in_both_dtypes(columns: int) -> None:
    for dtype in ("FP32", "FP16"):
        case = judge(BY_NAME["forward-by-block"], draw(place(dtype, 2, columns), CPU))
        assert case.verdict is Verdict.FAILED and case.why is not None
        assert case.why.params["factor"] == pytest.approx(1.41, abs=0.005)


def test_at_4095_columns_only_large_outputs_show_it_in_fp32() -> None:
    case = draw(place("FP32", 4, 4095), CPU)
    attempt = checks.run_forward(mutated("forward-by-block"), case)[0]
    error = (attempt.got.double() - attempt.expected).abs()
    outside = error > attempt.tolerance.atol + attempt.tolerance.rtol * attempt.expected.abs()
    assert float(attempt.expected[outside].abs().min()) == pytest.approx(0.453, abs=0.02)


def test_a_mean_over_rows_is_invisible_with_one_row() -> None:
    assert verdict("gamma-mean", "FP32", 1, 257) is Verdict.PASSED
    assert verdict("gamma-mean", "FP32", 2, 257) is Verdict.FAILED


def test_the_special_inputs_alone_kill_what_random_values_may_miss() -> None:
    case = judge(BY_NAME["no-fp32-cast"], *inputs("fp16-2x257-row-of-300"))
    assert case.why is not None and case.why.params["largest"] == 300.0
