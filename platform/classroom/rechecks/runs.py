"""Runs run again, one at a time, behind everybody's own. Each new Run stays nobody's until the
re-check is applied; then it is its learner's, and their answers rest on it."""

import uuid

from django.db import transaction
from django.utils import timezone

from classroom.models import Recheck, RecheckItem, Role
from classroom.rechecks.targets import Target
from lessons.models import Revision
from runner import api as runner
from runner.api import Origin, RunView

SLICE = 50
DEVICES = ("gpu", "cpu")
OURS = ("infrastructure_failure", "cancelled")  # says nothing about the check


def enumerate_runs(job: Recheck) -> int:
    """An item for every Run of the step. How many."""
    learners = job.cohort.memberships.filter(role=Role.LEARNER).values_list("person_id", flat=True)
    origin = Origin(job.cohort.course, job.lesson, job.activity)
    runs = runner.repeatable(list(learners), origin)
    last = {run.owner_id: run.id for run in runs}  # they come oldest first
    items = RecheckItem.objects.bulk_create(
        RecheckItem(
            recheck=job,
            subject=run.id,
            person_id=run.owner_id,
            before=_said(run) | {"device": run.device},
            counts=last[run.owner_id] == run.id,
        )
        for run in runs
        if run.owner_id is not None
    )
    return len(items)


def look(job: Recheck, target: Target) -> bool | None:
    """Take in what has ended, and queue the next one. False: all have run. None: one waits."""
    todo = job.items.filter(after__isnull=True)
    sent = list(todo.exclude(rerun=None))
    found = runner.reruns(item.rerun for item in sent if item.rerun)
    for item in sent:
        _take_in(item, found.get(item.rerun) if item.rerun else None)
    if not todo.exists():
        return False
    absent = ""
    for device in DEVICES:
        following = todo.filter(rerun=None, before__device=device).order_by("id").first()
        if following is None or not runner.has_room_for_rerun(device):
            continue
        try:
            _send(following)
        except runner.NoWorker:
            absent = absent or f"no-worker-{device}"
    Recheck.objects.filter(pk=job.pk).exclude(obstacle=absent).update(obstacle=absent)
    return None if todo.exists() else True


def write(job: Recheck, target: Target) -> bool:
    """Give the next new Runs to their learners. False: all are given."""
    items = list(job.items.filter(applied_at=None, after__isnull=False).order_by("id")[:SLICE])
    with transaction.atomic():
        good = [item for item in items if _is_good(item)]
        runner.give_reruns(item.rerun for item in good if item.rerun)
        for item in good:
            Revision.objects.filter(run=item.subject).update(run=item.rerun)
        runner.discard_reruns(i.rerun for i in items if i.rerun and not _is_good(i))
        job.items.filter(pk__in=[item.pk for item in items]).update(applied_at=timezone.now())
    return bool(items)


def discard(job: Recheck) -> None:
    """Delete the new Runs that were given to nobody."""
    rest: list[uuid.UUID | None] = list(
        job.items.filter(applied_at=None).exclude(rerun=None).values_list("rerun", flat=True)
    )
    runner.discard_reruns(run for run in rest if run)


def _said(run: RunView) -> dict[str, object]:
    return {"outcome": run.outcome, "passed": run.passed, "failed": run.failed}


def _take_in(item: RecheckItem, run: RunView | None) -> None:
    if run is None:  # deleted: once more
        item.rerun = None
    elif run.state == "ended":
        item.after = _said(run)
        had, has = item.before["outcome"], run.outcome
        item.is_changed = has not in OURS and had != has
        item.gained = int(item.is_changed and has == "passed")
        item.lost = int(item.is_changed and had == "passed")
    else:
        return
    item.save()


def _send(item: RecheckItem) -> None:
    """Raises NoWorker."""
    try:
        with transaction.atomic():
            item.rerun = runner.rerun(item.subject).id
            item.save(update_fields=["rerun"])
    except runner.RunNotFound:
        item.delete()
    except (runner.BadParameter, runner.UnknownProcedure):
        item.after = {"outcome": ""}  # the check no longer takes what that Run was given
        item.save()


def _is_good(item: RecheckItem) -> bool:
    return bool(item.after and item.after["outcome"] and item.after["outcome"] not in OURS)
