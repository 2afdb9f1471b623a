"""What a Run may tell, and what is told beyond that."""

import pytest

from kernels.events import Kind
from runner import limits
from runner.budget import Budget

FAILED = (Kind.CASE, {"verdict": "failed"})
PASSED = (Kind.CASE, {"verdict": "passed"})
ERROR = (Kind.LOG, {"level": "error"})
LINE = (Kind.LOG, {"level": "info"})
POINT = (Kind.METRIC, {})
FILE = (Kind.ARTIFACT, {})
PICTURE = (Kind.FIGURE, {})


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> Budget:
    """One that has recorded all it may of any kind."""
    monkeypatch.setattr(limits, "MAX_EVENTS", 3)
    budget = Budget()
    assert [budget.takes(*POINT, 10) for _ in range(4)] == [True, True, True, False]
    return budget


@pytest.mark.parametrize("event", [FILE, PICTURE, FAILED, ERROR])
def test_files_and_failures_are_always_recorded(spent: Budget, event: tuple[Kind, dict]) -> None:
    assert spent.takes(*event, 100)
    assert spent.dropped == 1


@pytest.mark.parametrize("event", [POINT, LINE, PASSED, (Kind.TABLE, {}), (Kind.PROGRESS, {})])
def test_the_rest_is_counted(spent: Budget, event: tuple[Kind, dict]) -> None:
    assert not spent.takes(*event, 100)
    assert spent.dropped == 2


def test_a_flood_of_failures_takes_no_room_from_files(spent: Budget) -> None:
    most, _ = limits.ROOM_FOR_FAILURES
    assert sum(spent.takes(*FAILED, 1) for _ in range(most + 50)) == most
    assert spent.takes(*FILE, 1)


def test_what_is_too_large_for_the_rest_of_the_bytes_leaves_room_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_EVENTS_BYTES", 100)
    budget = Budget()
    assert [budget.takes(*POINT, size) for size in (60, 60, 40, 1)] == [True, False, True, False]
    assert budget.takes(*FILE, 200)
