"""A Run is run again for nobody, then given to its owner, and costs them nothing."""

from typing import Any

import pytest
from django.utils import timezone

from kernels.procedure import BadParameter
from runner import api
from runner.models import Run, State
from runner.shapes import Origin
from tests.runner import rows

HERE = Origin("rmsnorm", "forward", "two-sizes")
PLACE: dict[str, Any] = {"course": "rmsnorm", "lesson": "forward", "step": "two-sizes"}
pytestmark = pytest.mark.django_db


def ended(row: Run, outcome: str = "passed") -> None:
    Run.objects.filter(id=row.id).update(
        state=State.ENDED, outcome=outcome, started_at=timezone.now(), ended_at=timezone.now()
    )


def test_a_rerun_asks_for_the_same_and_belongs_to_nobody() -> None:
    rows.a_worker()
    owner = rows.an_account()
    old = rows.an_ended_run(owner, outcome="failed", **PLACE)
    view = api.rerun(old.id)
    assert (view.owner_id, view.procedure, view.origin) == (None, old.procedure, HERE)
    assert list(api.reruns([view.id, old.id])) == [view.id]
    assert api.history(owner)[0].id == old.id
    with pytest.raises(api.RunNotFound):
        api.get(view.id, owner)


def test_a_rerun_stands_in_nobody_s_way_and_counts_in_no_quota() -> None:
    rows.a_worker()
    owner = rows.an_account()
    old = rows.an_ended_run(owner, **PLACE)
    view = api.rerun(old.id)
    api.submit(owner, "rmsnorm.check-forward", device="cpu")
    assert api.quota(owner).used == 2
    ended(Run.objects.get(id=view.id))
    api.give_reruns([view.id])
    assert api.get(view.id, owner).owner_id == owner.pk
    assert api.quota(owner).used == 2


def test_only_what_has_ended_is_given() -> None:
    rows.a_worker()
    old = rows.an_ended_run(**PLACE)
    view = api.rerun(old.id)
    api.give_reruns([view.id])
    assert Run.objects.get(id=view.id).owner_id is None


def test_of_a_run_that_was_run_again_only_the_latest_is_repeated() -> None:
    rows.a_worker()
    owner = rows.an_account()
    old = rows.an_ended_run(owner, **PLACE)
    rows.an_ended_run(owner, outcome="cancelled", **PLACE)
    rows.an_ended_run(owner, **PLACE | {"step": "another"})
    assert [view.id for view in api.repeatable([owner.pk], HERE)] == [old.id]
    view = api.rerun(old.id)
    ended(Run.objects.get(id=view.id))
    assert [view.id for view in api.repeatable([owner.pk], HERE)] == [old.id]
    api.give_reruns([view.id])
    assert [found.id for found in api.repeatable([owner.pk], HERE)] == [view.id]


def test_a_rerun_waits_for_people() -> None:
    rows.a_worker()
    assert api.has_room_for_rerun("cpu")
    waiting = rows.a_run()
    assert not api.has_room_for_rerun("cpu")
    assert api.has_room_for_rerun("gpu")
    ended(waiting)
    api.rerun(waiting.id)
    assert not api.has_room_for_rerun("cpu")


def test_a_rerun_that_cannot_be_says_why() -> None:
    old = rows.an_ended_run(**PLACE)
    with pytest.raises(api.NoWorker):
        api.rerun(old.id)
    rows.a_worker()
    Run.objects.filter(id=old.id).update(parameters={"no-longer": 1})
    with pytest.raises(BadParameter):
        api.rerun(old.id)


def test_reruns_that_nobody_was_given_go_and_so_do_those_of_who_is_erased() -> None:
    rows.a_worker()
    owner = rows.an_account()
    old = rows.an_ended_run(owner, **PLACE)
    api.discard_reruns([api.rerun(old.id).id, old.id])
    assert list(Run.objects.values_list("id", flat=True)) == [old.id]
    api.rerun(old.id)
    api.erase_person(owner)
    assert not Run.objects.exists()


def test_a_staged_run_reads_as_any_other() -> None:
    owner = rows.an_account()
    note = {"code": "made", "params": {"device_name": "demonstration"}}
    said = [
        ("log", {"note": note}),
        ("outcome", {"outcome": "failed", "note": {"code": "end.cases"}, "passed": 1, "failed": 2}),
    ]
    view = api.stage(
        owner, "rmsnorm.check-forward", said, origin=HERE, at=timezone.now(), seconds=4
    )
    snapshot = api.snapshot(view.id, owner)
    assert (snapshot.run.outcome, snapshot.run.failed, snapshot.run.elapsed) == ("failed", 2, 4.0)
    assert snapshot.run.made["device_name"] == "demonstration"
    assert [event["seq"] for event in snapshot.events] == [1, 2]
