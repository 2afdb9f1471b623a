"""The sweeper: what nobody claims or leases any more."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runner import doorbell, limits
from runner.management.commands import reaper
from runner.models import Run, State, WorkerNode
from runner.reaping import sweep
from tests.runner import rows

pytestmark = pytest.mark.django_db


def ago(seconds: float) -> Any:
    return timezone.now() - timedelta(seconds=seconds)


@pytest.fixture(autouse=True)
def rings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    heard: list[Any] = []

    def ring(run_id: Any, queue: str) -> bool:
        heard.append(run_id)
        doorbell.noted_at(run_id, timezone.now())
        return True

    monkeypatch.setattr(doorbell, "ring", ring)
    return heard


@pytest.mark.parametrize(
    ("age", "rung_before", "worker", "rung"),
    [
        (0, None, True, False),  # the request rings by itself
        (5, None, True, True),
        (5, None, False, True),  # a broker that is back shall know
        (60, 5, True, False),
        (60, 30, True, True),
        (60, 30, False, False),
    ],
)
def test_when_a_queued_run_is_rung_for(
    rings: list[Any], age: int, rung_before: int | None, worker: bool, rung: bool
) -> None:
    if worker:
        rows.a_worker()
    run = rows.a_run(created_at=ago(age), enqueued_at=rung_before and ago(rung_before))
    sweep()
    assert rings == ([run.id] if rung else [])


def test_while_every_slot_is_taken_nobody_rings_again(rings: list[Any]) -> None:
    rows.a_worker()
    rows.a_running_run()
    rows.a_run(created_at=ago(60), enqueued_at=ago(30))
    sweep()
    assert rings == []


def test_a_run_whose_lease_expired_is_queued_again_once(rings: list[Any]) -> None:
    run = rows.a_running_run(lease_seconds=-1)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.worker) == (State.QUEUED, 1, "")
    assert rings == [run.id]


def test_after_its_last_attempt_it_ends_as_a_fault_of_ours() -> None:
    run = rows.a_running_run(lease_seconds=-1, tries=limits.MAX_TRIES)
    rows.tell(run, 1, 2)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.outcome) == (State.ENDED, "infrastructure_failure")
    assert run.note["code"] == "end.worker-lost"
    last = run.events.get(seq=3)
    assert (last.kind, last.data["outcome"], run.last_seq) == ("outcome", run.outcome, 3)


def test_a_run_that_was_told_to_stop_is_not_started_again() -> None:
    run = rows.a_running_run(lease_seconds=-1, stop_requested_at=ago(20))
    sweep()
    run.refresh_from_db()
    assert (run.state, run.outcome) == (State.ENDED, "cancelled")


@pytest.mark.parametrize(
    ("made", "begun", "waits"),
    [(5, None, True), (7, None, False), (20, 4, True), (20, 7, False)],
)
def test_a_run_is_given_up_by_how_long_it_waits_and_not_by_its_age(
    made: int, begun: int | None, waits: bool
) -> None:
    hours = 3600
    run = rows.a_run(
        created_at=ago(made * hours),
        started_at=begun and ago(begun * hours),
        attempt=1 if begun else 0,
    )
    sweep()
    run.refresh_from_db()
    assert run.state == (State.QUEUED if waits else State.ENDED)
    assert run.note.get("code", "") == ("" if waits else "end.nobody-came")


def test_a_run_that_was_stopped_while_it_was_handed_back_ends() -> None:
    run = rows.a_run(attempt=1, started_at=ago(30), stop_requested_at=ago(1))
    sweep()
    run.refresh_from_db()
    assert (run.state, run.outcome) == (State.ENDED, "cancelled")
    assert run.note["code"] == "outcome.cancelled"


def test_a_lease_that_holds_is_left_alone(rings: list[Any]) -> None:
    run = rows.a_running_run(lease_seconds=5)
    sweep()
    run.refresh_from_db()
    assert (run.state, rings) == (State.RUNNING, [])


def test_what_no_worker_takes_for_hours_is_ended() -> None:
    run = rows.a_run(created_at=ago(7 * 3600))
    sweep()
    run.refresh_from_db()
    assert (run.outcome, run.note["code"]) == ("infrastructure_failure", "end.nobody-came")


def test_a_second_sweep_and_a_second_reaper_change_nothing_more() -> None:
    run = rows.a_running_run(lease_seconds=-1, tries=limits.MAX_TRIES)
    sweep()
    sweep()
    assert Run.objects.get(id=run.id).events.count() == 1


def test_a_lost_worker_is_noticed_within_twelve_seconds_by_the_sum_of_the_waits() -> None:
    parser = reaper.Command().create_parser("manage.py", "reaper")
    between_sweeps = parser.parse_args([]).every
    assert limits.HEARTBEAT_SECONDS < limits.LEASE.total_seconds() / 2
    assert limits.LEASE.total_seconds() + between_sweeps < 12


def test_a_worker_gone_for_a_day_is_forgotten() -> None:
    rows.a_worker(seconds_ago=100_000)
    kept = rows.a_worker(seconds_ago=60)
    sweep()
    assert [node.name for node in WorkerNode.objects.all()] == [kept.name]
