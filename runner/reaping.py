"""What nobody claimed is rung for again; what nobody leases any more is queued again or ended.

Every change is conditional on what was seen, so any number of reapers may run.
"""

import logging
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from kernels.events import Note, Outcome
from runner import doorbell, ending, limits
from runner.models import Queue, Run, State, WorkerNode
from runner.waiting import alive

log = logging.getLogger(__name__)

_RING_AGAIN_AFTER = timedelta(seconds=10)
_FIRST_RING_AFTER = timedelta(seconds=1)  # the request that made the Run rings by itself
_GIVEN_UP_AFTER = timedelta(hours=6)
_FORGOTTEN_AFTER = timedelta(days=1)


def sweep() -> None:
    reclaim()
    give_up()
    for queue in Queue:
        ring_again(queue)
    WorkerNode.objects.filter(heartbeat_at__lt=timezone.now() - _FORGOTTEN_AFTER).delete()


def reclaim() -> None:
    """Runs whose worker stopped renewing its lease: once more, but not for ever. A training that
    stored a checkpoint got somewhere, and is taken up again."""
    expired = Run.objects.filter(state=State.RUNNING, lease_until__lt=timezone.now())
    for run in expired:
        same = expired.filter(attempt=run.attempt)
        if run.stop_requested_at is not None:
            ending.end(same, run.id, Outcome.CANCELLED, Note("end.killed"))
        elif run.tries >= limits.MAX_TRIES or run.attempt >= limits.MAX_ATTEMPTS:
            ending.end(same, run.id, Outcome.INFRASTRUCTURE_FAILURE, Note("end.worker-lost"))
        elif same.filter(id=run.id).update(
            state=State.QUEUED, lease_until=None, worker="", enqueued_at=None
        ):
            log.warning("Run %s lost its worker %s and is queued again.", run.id, run.worker)


def give_up() -> None:
    """Runs that waited too long: since they were made, or since the last attempt began, which a
    training may have left to another worker after hours."""
    queued, old = Run.objects.filter(state=State.QUEUED), timezone.now() - _GIVEN_UP_AFTER
    too_old = queued.filter(Q(started_at=None, created_at__lt=old) | Q(started_at__lt=old))
    for run in too_old:
        ending.end(too_old, run.id, Outcome.INFRASTRUCTURE_FAILURE, Note("end.nobody-came"))
    stopped = queued.exclude(stop_requested_at=None)  # while its worker handed it back
    for run in stopped:
        ending.end(stopped, run.id, Outcome.CANCELLED, Note("outcome.cancelled"))


def ring_again(queue: Queue) -> None:
    """Rings that were lost: never sent, or sent long ago although a slot is free."""
    now = timezone.now()
    queued = Run.objects.filter(state=State.QUEUED, device=queue)
    settled = Q(created_at__lt=now - _FIRST_RING_AFTER) | Q(attempt__gt=0)
    unsent = Q(enqueued_at=None) & settled
    lost = Q(enqueued_at__lt=now - _RING_AGAIN_AFTER)
    due = queued.filter(unsent | lost if has_free_slot(queue) else unsent)
    for run in due.order_by("created_at")[:20]:
        if not doorbell.ring(run.id, queue):
            return  # the broker is away: the next sweep tries again


def has_free_slot(queue: Queue) -> bool:
    slots = sum(alive().filter(queue=queue).values_list("slots", flat=True))
    return Run.objects.filter(state=State.RUNNING, device=queue).count() < slots
