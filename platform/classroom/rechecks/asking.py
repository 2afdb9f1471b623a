"""What an instructor does with a re-check. Each is one conditional change of its row, so that two
who press at once do it once; what it was not the time for is said by the page that comes back."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from classroom import audit
from classroom.models import Cohort, Recheck, RecheckKind, RecheckState
from classroom.rechecks import answers, runs, targets
from classroom.rechecks.reading import summary
from classroom.rechecks.targets import Target

OPEN = (
    RecheckState.PREVIEWING,
    RecheckState.READY,
    RecheckState.APPLYING,
    RecheckState.STOPPED,
)


class NotNow(Exception):
    """The re-check is in another state than the page showed."""


def start(cohort: Cohort, actor: Any, target: Target) -> Recheck:
    """Begin one, or come back to the one that is open."""
    about = {
        "cohort": cohort,
        "kind": target.kind,
        "lesson": target.lesson.id,
        "activity": target.name,
    }
    try:
        with transaction.atomic():
            job = Recheck.objects.create(**about, key_hash=target.key, asked_by=actor)
            if target.kind == RecheckKind.RUNS:
                job.total = runs.enumerate_runs(job)
            else:
                job.total = answers.submitted(cohort, target.name).count()
            job.save(update_fields=["total"])
    except IntegrityError:
        return Recheck.objects.get(**about, state__in=OPEN)
    return job


@transaction.atomic
def apply(job: Recheck, actor: Any) -> None:
    """Raises NotNow, also where the key has been edited since it was worked out."""
    target = targets.of(job)
    if target is None or target.key != job.key_hash:
        raise NotNow
    _move(job, (RecheckState.READY,), RecheckState.APPLYING)
    found = summary(job)
    audit.record(
        job.cohort, actor, "rechecked", job.activity, kind=job.kind, total=found.total,
        changed=found.changed, gained=found.gained, lost=found.lost,
    )  # fmt: skip


@transaction.atomic
def stop(job: Recheck, actor: Any) -> None:
    """Leave what is open for later."""
    was_applying = job.state == RecheckState.APPLYING
    _move(job, (RecheckState.PREVIEWING, RecheckState.APPLYING), RecheckState.STOPPED)
    if was_applying:
        audit.record(job.cohort, actor, "recheck-stopped", job.activity)


@transaction.atomic
def go_on(job: Recheck, actor: Any) -> None:
    """Where it was stopped."""
    if job.items.exclude(applied_at=None).exists():
        _move(job, (RecheckState.STOPPED,), RecheckState.APPLYING)
        audit.record(job.cohort, actor, "recheck-resumed", job.activity)
    else:
        _move(job, (RecheckState.STOPPED,), RecheckState.PREVIEWING)


@transaction.atomic
def again(job: Recheck, actor: Any) -> None:
    """Work it out anew, against the key as it is now."""
    target = targets.of(job)
    held = job.lease_until is not None and job.lease_until > timezone.now()
    if target is None or held or job.items.exclude(applied_at=None).exists():
        raise NotNow
    _move(job, (RecheckState.READY, RecheckState.STOPPED), RecheckState.PREVIEWING)
    runs.discard(job)
    job.items.all().delete()
    total = (
        runs.enumerate_runs(job)
        if job.kind == RecheckKind.RUNS
        else answers.submitted(job.cohort, job.activity).count()
    )
    Recheck.objects.filter(pk=job.pk).update(key_hash=target.key, total=total)


@transaction.atomic
def drop(job: Recheck, actor: Any) -> None:
    """Give it up; what was written already stays, and the audit knows it."""
    _move(job, (RecheckState.READY, RecheckState.STOPPED), RecheckState.DROPPED)
    runs.discard(job)


def _move(job: Recheck, before: tuple[RecheckState, ...], state: RecheckState) -> None:
    rows = Recheck.objects.filter(pk=job.pk, state__in=before)
    if not rows.update(state=state, obstacle=""):
        raise NotNow
    job.state = state
