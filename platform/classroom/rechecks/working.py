"""One slice of every re-check that is open, done under a lease, again and again.

Killed at any place it goes on from the items that are still open: an item is written with what
it says, and new verdicts with the mark that they are written.
"""

import logging
import uuid
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from classroom.models import Recheck, RecheckKind, RecheckState
from classroom.rechecks import answers, runs, targets

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=15)  # far more than a slice takes
AT_WORK = (RecheckState.PREVIEWING, RecheckState.APPLYING)
KEY_CHANGED, GONE, BROKE_OFF = "key-changed", "gone", "broke-off"


def work() -> bool:
    """A slice of each. Whether there is more to do at once."""
    busy = False
    for pk in list(Recheck.objects.filter(state__in=AT_WORK).values_list("pk", flat=True)):
        job = _claim(pk)
        if job is None:
            continue
        try:
            busy = _slice(job) or busy
        except Exception:  # ours: logged, shown, and no reason to stop the others
            log.exception("Re-check %s broke off.", pk)
            _move(job, RecheckState.STOPPED, BROKE_OFF)
        finally:
            Recheck.objects.filter(pk=pk).update(lease_until=None)
    return busy


def _claim(pk: uuid.UUID) -> Recheck | None:
    now = timezone.now()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    if not Recheck.objects.filter(free, pk=pk, state__in=AT_WORK).update(lease_until=now + LEASE):
        return None
    return Recheck.objects.select_related("cohort").get(pk=pk)


def _slice(job: Recheck) -> bool:
    target = targets.of(job)
    if target is None:
        _move(job, RecheckState.STOPPED, GONE)
        return False
    if target.key != job.key_hash:
        return _key_changed(job, target.key)
    kind = answers if job.kind == RecheckKind.ANSWERS else runs
    if job.state == RecheckState.PREVIEWING:
        more = kind.look(job, target)
        if more is False:
            Recheck.objects.filter(pk=job.pk).update(total=job.items.count())
            _move(job, RecheckState.READY)
        return bool(more)
    if not kind.write(job, target):
        Recheck.objects.filter(pk=job.pk).update(total=job.items.count())
        _move(job, RecheckState.DONE)
        return False
    return True


def _key_changed(job: Recheck, key: str) -> bool:
    """Before anything was written it simply begins anew; half-way it stops and says so."""
    if job.state == RecheckState.APPLYING:
        _move(job, RecheckState.STOPPED, KEY_CHANGED)
        return False
    if job.kind == RecheckKind.ANSWERS:
        job.items.all().delete()
    Recheck.objects.filter(pk=job.pk).update(key_hash=key)
    return True


def _move(job: Recheck, state: RecheckState, obstacle: str = "") -> None:
    """On, unless somebody has stopped it meanwhile."""
    done = {"applied_at": timezone.now()} if state == RecheckState.DONE else {}
    Recheck.objects.filter(pk=job.pk, state=job.state).update(
        state=state, obstacle=obstacle, **done
    )
