"""Answers checked again, a slice at a time. What a revision had is kept in its item's `before`."""

import json
from collections import defaultdict
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from classroom.models import Cohort, Recheck, RecheckItem, Role
from classroom.rechecks.targets import Target
from lessons.checking import Verdict
from lessons.models import Revision, State
from lessons.rechecking import Rechecked, Verdicts, recheck

SLICE = 500  # revisions at once: a tenth of a second, and a transaction no longer than that


def submitted(cohort: Cohort, activity: str) -> QuerySet[Revision]:
    """Everything that the cohort's learners handed in to that Activity, earlier tries too."""
    return Revision.objects.filter(
        state=State.SUBMITTED,
        answer__course=cohort.course,
        answer__activity=activity,
        answer__person__memberships__cohort=cohort,
        answer__person__memberships__role=Role.LEARNER,
    )


def look(job: Recheck, target: Target) -> bool:
    """Work out the next revisions. False: all of them are."""
    return _work_out(job, target, _open(job))


def write(job: Recheck, target: Target) -> bool:
    """Write the next new verdicts. False: all of them are written."""
    items = list(job.items.filter(applied_at=None).order_by("id")[:SLICE])
    if items:
        with transaction.atomic():
            _write(items, target)
        return True
    # What was handed in meanwhile, and checked with the old key by a page that still had it.
    return _work_out(job, target, _open(job).exclude(checked_as=target.key))


def _open(job: Recheck) -> QuerySet[Revision]:
    done = RecheckItem.objects.filter(recheck=job, subject=OuterRef("pk"))
    return submitted(job.cohort, job.activity).exclude(Exists(done))


def _work_out(job: Recheck, target: Target, revisions: QuerySet[Revision]) -> bool:
    later = Revision.objects.filter(
        answer=OuterRef("answer"), state=State.SUBMITTED, number__gt=OuterRef("number")
    )
    rows = list(
        revisions.select_related("answer")
        .annotate(is_replaced=Exists(later))
        .order_by("pk")[:SLICE]
    )
    items = []
    checked: dict[str, Rechecked] = {}  # most people type what others have typed
    for row in rows:
        item = RecheckItem(
            recheck=job,
            subject=row.pk,
            person_id=row.answer.person_id,
            counts=not row.is_replaced,
        )
        typed = f"{row.language} {json.dumps(row.content, sort_keys=True)}"
        if typed not in checked:
            checked[typed] = recheck(target.activity, row.content, row.language)
        _fill(item, row, checked[typed])
        items.append(item)
    RecheckItem.objects.bulk_create(items, ignore_conflicts=True)
    return bool(rows)


def _fill(item: RecheckItem, row: Revision, found: Rechecked) -> None:
    item.before = _had(row)
    item.after = {"verdicts": found.verdicts}
    if found.content != row.content:
        item.before["content"], item.after["content"] = row.content, found.content
    item.is_changed = _words(row.verdicts) != _words(found.verdicts)
    item.gained, item.lost = _moved(row.verdicts, found)


def _had(row: Revision) -> dict[str, Any]:
    return {"verdicts": row.verdicts, "checked_as": row.checked_as, "number": row.number}


def _words(verdicts: Verdicts) -> dict[str, str]:
    return {name: given["verdict"] for name, given in verdicts.items()}


def _moved(before: Verdicts, found: Rechecked) -> tuple[int, int]:
    """How many fields become right, and how many no longer are."""
    was = {name for name, word in _words(before).items() if word == Verdict.RIGHT}
    now = {name for name, word in _words(found.verdicts).items() if word == Verdict.RIGHT}
    return len(now - was), len(was - now)


def _write(items: list[RecheckItem], target: Target) -> None:
    """A few statements for many revisions: most of them share a few verdicts."""
    subjects = [item.subject for item in items]
    rows = {row.pk: row for row in Revision.objects.select_for_update().filter(pk__in=subjects)}
    alike: dict[str, list[RecheckItem]] = defaultdict(list)
    for item in items:
        row = rows.get(item.subject)
        if row is None:
            continue  # erased with its person, or about to be
        if (row.verdicts, row.checked_as) != (item.before["verdicts"], item.before["checked_as"]):
            # Another cohort's re-check was here in between.
            _fill(item, row, recheck(target.activity, row.content, row.language))
            item.save()
        assert item.after is not None
        if "content" in item.after:
            Revision.objects.filter(pk=row.pk).update(content=item.after["content"])
        alike[json.dumps(item.after["verdicts"], sort_keys=True)].append(item)
    for verdicts, same in alike.items():
        Revision.objects.filter(pk__in=[item.subject for item in same]).update(
            verdicts=json.loads(verdicts), checked_as=target.key
        )
    RecheckItem.objects.filter(pk__in=[item.pk for item in items]).update(applied_at=timezone.now())
