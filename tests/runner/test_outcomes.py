"""Which outcome each way of ending has, and which wins when several are true."""

import signal
from typing import Any

import pytest

from kernels.events import Outcome, Verdict
from runner.orders import Exited
from runner.outcomes import Ended, outcome_of


def ended(**known: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "last": None, "exited": Exited(None, 0), "stopped": False, "timed_out": False,
        "wall_seconds": 60, "memory_mb": 512, "tally": {Verdict.PASSED: 0, Verdict.FAILED: 0},
    } | known  # fmt: skip
    return outcome_of(Ended(**facts))


@pytest.mark.parametrize(
    ("known", "outcome", "note"),
    [
        ({"exited": None}, Outcome.INFRASTRUCTURE_FAILURE, "end.worker-lost"),
        ({"exited": Exited(None, 0)}, Outcome.INFRASTRUCTURE_FAILURE, "end.vanished"),
        ({"exited": Exited(signal.SIGKILL, None)}, Outcome.INFRASTRUCTURE_FAILURE, "end.vanished"),
        ({"exited": Exited(signal.SIGBUS, None)}, Outcome.ERROR_IN_CODE, "end.crashed"),
        ({"exited": Exited(signal.SIGABRT, None)}, Outcome.ERROR_IN_CODE, "end.crashed"),
        ({"exited": Exited(signal.SIGXCPU, None)}, Outcome.TIMED_OUT, "end.timed-out"),
        ({"exited": Exited(signal.SIGXFSZ, None)}, Outcome.ERROR_IN_CODE, "end.file-too-large"),
        ({"exited": Exited(signal.SIGKILL, None, True)}, Outcome.OUT_OF_MEMORY, "end.memory-limit"),
        (
            {"exited": Exited(signal.SIGKILL, None), "timed_out": True},
            Outcome.TIMED_OUT,
            "end.timed-out",
        ),
        (
            {"exited": Exited(signal.SIGKILL, None), "stopped": True},
            Outcome.CANCELLED,
            "end.killed",
        ),
        (
            {"exited": Exited(signal.SIGSEGV, None), "stopped": True},
            Outcome.ERROR_IN_CODE,
            "end.crashed",
        ),
    ],
)
def test_a_child_that_said_nothing(known: dict[str, Any], outcome: Outcome, note: str) -> None:
    data = ended(**known)
    assert (data["outcome"], data["note"]["code"]) == (outcome, note)


def test_the_childs_own_outcome_counts_even_if_it_crashed_while_leaving() -> None:
    last = {"outcome": "passed", "passed": 72, "failed": 0}
    assert ended(last=last, exited=Exited(signal.SIGSEGV, None)) == last


def test_a_clean_end_after_the_time_limit_is_a_time_out_with_its_counts() -> None:
    last = {"outcome": "cancelled", "note": {"code": "end.stopped"}, "passed": 5, "failed": 1}
    data = ended(last=last, timed_out=True)
    assert (data["outcome"], data["note"]["code"]) == ("timed_out", "end.timed-out")
    assert (data["passed"], data["failed"]) == (5, 1)


def test_a_run_that_finished_while_it_was_timed_out_has_passed() -> None:
    assert ended(last={"outcome": "passed"}, timed_out=True)["outcome"] == "passed"


def test_the_cases_seen_before_a_crash_are_counted() -> None:
    tally = {Verdict.PASSED: 3, Verdict.FAILED: 1}
    data = ended(exited=Exited(signal.SIGSEGV, None), tally=tally)
    assert (data["passed"], data["failed"]) == (3, 1)
