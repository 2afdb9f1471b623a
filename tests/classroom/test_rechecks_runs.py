"""Every Run of a step is run again, behind everybody's own, and given once it is applied."""

from typing import Any

import pytest
from django.utils import timezone

from classroom.models import Recheck, RecheckState
from classroom.rechecks import asking, learners, targets, working
from classroom.rechecks.reading import Choices, changed, rows, summary
from lessons.models import Revision
from runner import api as runner
from runner.models import Run, State
from tests.classroom import factories
from tests.classroom.factories import Room
from tests.runner.rows import a_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def room() -> Room:
    """Two learners with a failed Run each; the second one's answer rests on it."""
    room = factories.a_room(learners=2)
    first, second = room.learners
    factories.a_run(first, step="verdict", outcome="failed")
    run = factories.a_run(second, step="verdict", outcome="failed")
    factories.submit(second, "forward-verdict", run=run)
    return room


def start(room: Room) -> Recheck:
    target = targets.find(room.cohort, "runs", "forward", "verdict")
    assert target is not None
    return asking.start(room.cohort, room.instructor, target)


def end(outcome: str = "passed") -> None:
    """What the worker does with the one that is on its way."""
    Run.objects.active().update(
        state=State.ENDED, outcome=outcome, started_at=timezone.now(), ended_at=timezone.now()
    )


def ready(room: Room, *outcomes: str) -> Recheck:
    a_worker()
    job = start(room)
    for outcome in outcomes:
        working.work()
        end(outcome)
    working.work()
    job.refresh_from_db()
    return job


def test_one_at_a_time_and_each_learner_s_own_run_goes_first(room: Room) -> None:
    a_worker()
    start(room)
    assert not working.work()  # nothing more to do at once: one is on its way
    working.work()
    assert Run.objects.active().count() == 1
    end()
    own = runner.submit(room.learner, "rmsnorm.check-forward", device="cpu")
    working.work()
    assert Run.objects.active().count() == 1
    Run.objects.filter(id=own.id).update(state=State.RUNNING)
    working.work()
    assert Run.objects.active().filter(owner=None).count() == 1


def test_what_would_change_is_shown_and_then_given(room: Room) -> None:
    first, second = room.learners
    job = ready(room, "passed", "failed")
    assert job.state == RecheckState.READY
    found = summary(job)
    assert (found.total, found.done, found.changed, found.gained) == (2, 2, 1, 1)
    shown = rows(job, list(changed(job)))
    assert [(row.ref, row.points) for row in shown] == [(room.ref(first), 1)]
    assert shown[0].run is not None and shown[0].rerun is None  # nobody may open it yet
    assert len(runner.history(first)) == 1
    asking.apply(job, room.instructor)
    while working.work():
        pass
    job.refresh_from_db()
    assert job.state == RecheckState.DONE
    assert [run.outcome for run in runner.history(first)] == ["passed", "failed"]
    new = runner.history(second)[0]
    assert Revision.objects.get(answer__person=second).run == new.id
    assert runner.quota(first).used == 1
    rerun = rows(job, list(changed(job)))[0].rerun
    assert rerun is not None and runner.get(rerun, room.instructor).owner_id == first.pk
    told = [learners.notes(p, "rmsnorm", "forward", "verdict", "") for p in room.learners]
    assert [[note.kind for note in notes] for notes in told] == [["runs"], []]


def test_without_a_worker_it_waits_and_says_so(room: Room) -> None:
    job = start(room)
    working.work()
    job.refresh_from_db()
    assert (job.state, job.obstacle) == (RecheckState.PREVIEWING, "no-worker-cpu")
    a_worker()
    working.work()
    job.refresh_from_db()
    assert job.obstacle == "" and Run.objects.active().count() == 1


def test_a_fault_of_ours_changes_nothing(room: Room) -> None:
    job = ready(room, "infrastructure_failure", "passed")
    assert summary(job).changed == 1
    asking.apply(job, room.instructor)
    while working.work():
        pass
    assert len(runner.history(room.learners[0])) == 1
    assert len(runner.history(room.learners[1])) == 2
    assert not Run.objects.filter(owner=None).exists()


def test_a_run_that_the_check_no_longer_takes_is_left_as_it_is(room: Room) -> None:
    Run.objects.update(parameters={"no-longer": 1})
    job = ready(room, "passed", "passed")
    assert (job.state, summary(job).changed) == (RecheckState.READY, 0)


def test_given_up_it_leaves_nothing_behind(room: Room) -> None:
    job = ready(room, "passed", "passed")
    asking.drop(job, room.instructor)
    assert Run.objects.count() == 2
    assert not working.work()


def test_worked_out_again_it_runs_everything_again(room: Room) -> None:
    job = ready(room, "passed", "passed")
    asking.again(job, room.instructor)
    assert Run.objects.count() == 2
    working.work()
    assert Run.objects.active().count() == 1


def test_a_run_deleted_with_its_learner_is_left_out(room: Room) -> None:
    a_worker()
    job = start(room)
    working.work()
    room.learners[0].delete()
    working.work()
    end("passed")
    working.work()
    job.refresh_from_db()
    assert (job.state, job.total) == (RecheckState.READY, 1)


def test_the_page_offers_the_steps_that_were_run(room: Room) -> None:
    offered: list[Any] = [c for c in Choices(room.cohort).all if c.target.kind == "runs"]
    assert [(choice.value, choice.many) for choice in offered] == [("runs/forward/verdict", 2)]
