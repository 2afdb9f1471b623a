"""The three checks: their grid, their special inputs, and the versions that must pass."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from kernels.events import Outcome, Progress, Verdict
from kernels.procedures.rmsnorm import GRID, checks, why
from kernels.procedures.rmsnorm.inputs import Place, draw, places, specials, wider
from kernels.rmsnorm_versions import VERSIONS
from tests.kernels.running import run

CPU = torch.device("cpu")
KINDS = {
    "y": (checks.run_forward, why.forward),
    "dx": (checks.run_backward, why.backward),
    "dgamma": (checks.run_gamma, why.gamma),
}


def sample() -> list[Place]:
    """A corner of the grid that the interpreter walks through quickly."""
    return [p for p in places(1) if p.place[2] == 0 and p.rows < 128 and p.columns in (31, 257)]


def test_the_72_cases_fill_the_grid_once() -> None:
    cases = places(1)
    assert len(cases) == len(GRID) == 72
    assert Counter(case.place for case in cases).most_common(1)[0][1] == 1
    for case in cases:
        row, column, _ = case.place
        assert GRID.rows[row] == f"{case.dtype} · {case.rows}"
        assert GRID.columns[column] == f"N = {case.columns}"


def test_an_input_is_drawn_from_its_own_place_alone() -> None:
    place = places(1)[40]
    again, fresh = draw(place, CPU), draw(place, CPU, fresh=True)
    assert torch.equal(draw(place, CPU).x.tensor, again.x.tensor)
    assert not torch.equal(again.x.tensor, fresh.x.tensor)


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("version", (1, 2, 3))
def test_every_version_passes_a_corner_of_the_grid_and_the_special_inputs(
    version: int, what: str
) -> None:
    launch, explain = KINDS[what]
    made = [(draw(place, CPU), draw(place, CPU, fresh=True)) for place in sample()]
    beside = specials(CPU) + (wider(CPU) if version > 1 else [])
    for inputs in (*made, *((special,) for special in beside)):
        case = checks.judge(VERSIONS[version], launch, explain, *inputs)
        assert case.verdict is Verdict.PASSED, case
        assert case.what == what


def test_a_check_reports_each_case_as_it_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "places", lambda seed: sample())
    said = run("rmsnorm.check-forward", tmp_path, version=2)
    assert said.end.outcome is Outcome.PASSED
    assert [case.place for case in said.cases if case.place] == [p.place for p in sample()]
    beside = [case.labels["input"] for case in said.cases if case.place is None]
    assert beside == [case.special for case in (*specials(CPU), *wider(CPU))]
    progress = [event for event in said.events if isinstance(event, Progress)]
    assert progress[-1].done == progress[-1].total == said.end.passed
    for case in said.cases:
        assert case.max_abs_error is not None and case.atol is not None
        assert case.worst is not None or case.labels["rows"] == 0


def test_dx_of_a_zero_row_overflows_fp16_exactly_where_the_oracle_does() -> None:
    case = next(s for s in specials(CPU) if s.special == "dx-beyond-fp16")
    with np.errstate(over="ignore"):
        (attempt,) = checks.run_backward(VERSIONS[1], case)
    infinite = attempt.got.isinf()
    assert infinite.any() and not infinite.all()
    assert torch.equal(infinite, attempt.expected.abs() > 65_520)
    assert attempt.comparison.passed
