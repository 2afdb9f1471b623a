"""How long a queued Run will wait: its place, and an honest range from recent durations."""

from collections.abc import Sequence
from statistics import median

from django.db.models import QuerySet
from django.utils import timezone

from runner.limits import OFFLINE_AFTER
from runner.models import Run, RunSet, State, WorkerNode

_RECENT = 20
_UNKNOWN_SECONDS = (5.0, 60.0)  # said of a Procedure that never ran on that device


def ahead(run: Run) -> RunSet:
    """Those that its device takes before it."""
    waiting = Run.objects.active().filter(device=run.device)
    return waiting.filter(created_at__lt=run.created_at).exclude(id=run.id)


def queue_position(run: Run) -> int | None:
    """1 for the Run that starts next; None once it no longer waits."""
    if run.state != State.QUEUED:
        return None
    return ahead(run).filter(state=State.QUEUED).count() + 1


def wait_range(run: Run) -> tuple[int, int] | None:
    """Seconds until it starts, low and high; None when no worker for it is online."""
    if run.state != State.QUEUED:
        return None
    slots = sum(alive().filter(queue=run.device).values_list("slots", flat=True))
    if not slots:
        return None
    now = timezone.now()
    low = high = 0.0
    known: dict[str, tuple[float, float]] = {}
    for other in ahead(run).only("procedure", "device", "started_at"):
        if other.procedure not in known:
            known[other.procedure] = typical_seconds(other.procedure, other.device)
        middle, long = known[other.procedure]
        done = (now - other.started_at).total_seconds() if other.started_at else 0.0
        low += max(0.0, middle - done)
        high += max(1.0, long - done)
    return round(low / slots), round(high / slots) + 1


def alive() -> "QuerySet[WorkerNode]":
    return WorkerNode.objects.filter(heartbeat_at__gte=timezone.now() - OFFLINE_AFTER)


def typical_seconds(procedure: str, device: str) -> tuple[float, float]:
    """Median and 90th percentile of how long its last Runs took on that device."""
    ended = Run.objects.filter(
        procedure=procedure, device=device, state=State.ENDED, started_at__isnull=False
    )
    runs = ended.order_by("-ended_at").only("started_at", "ended_at")[:_RECENT]
    seconds = sorted(took for run in runs if (took := run.seconds()) is not None)
    if not seconds:
        return _UNKNOWN_SECONDS
    return median(seconds), percentile(seconds, 0.9)


def percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
