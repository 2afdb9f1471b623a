"""Rows for tests that need no process."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.utils import timezone

from runner.models import Queue, Run, State, StoredEvent, WorkerNode

AT = "2026-11-30T12:00:00.000Z"


def a_guest() -> Any:
    return get_user_model().objects.create_guest("en")


def an_account(address: str = "ada@example.org") -> Any:
    return get_user_model().objects.create_user(address, "correct horse battery")


def a_worker(queue: str = Queue.CPU, seconds_ago: float = 0, **fields: Any) -> WorkerNode:
    return WorkerNode.objects.create(
        name=f"{queue}{WorkerNode.objects.count()}@here",
        queue=queue,
        heartbeat_at=timezone.now() - timedelta(seconds=seconds_ago),
        **fields,
    )


def a_run(owner: Any = None, **fields: Any) -> Run:
    fields = {"procedure": "rmsnorm.check-forward", "device": Queue.CPU} | fields
    run: Run = Run.objects.create(owner=owner or a_guest(), **fields)
    return run


def a_running_run(owner: Any = None, lease_seconds: float = 9, **fields: Any) -> Run:
    now = timezone.now()
    running = {
        "state": State.RUNNING,
        "attempt": 1,
        "tries": 1,
        "worker": "cpu0@here",
        "started_at": now,
        "lease_until": now + timedelta(seconds=lease_seconds),
    }
    return a_run(owner, **running | fields)


def an_ended_run(owner: Any = None, seconds: float = 10, **fields: Any) -> Run:
    now = timezone.now()
    ended = {
        "state": State.ENDED,
        "outcome": "passed",
        "started_at": now - timedelta(seconds=seconds),
        "ended_at": now,
    }
    return a_run(owner, **ended | fields)


def tell(run: Run, *numbers: int) -> list[dict[str, Any]]:
    """Store Events of these numbers, as a worker would have."""
    events = [
        {"seq": seq, "kind": "metric", "at": AT, "data": {"name": "loss", "value": 1.0 / seq}}
        for seq in numbers
    ]
    StoredEvent.objects.bulk_create(StoredEvent(run=run, **event) for event in events)
    Run.objects.filter(id=run.id).update(last_seq=max(numbers))
    run.refresh_from_db()
    return events
