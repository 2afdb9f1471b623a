"""Ended Runs that no worker executed, written down for a demonstration.

Their first Event says how they were made like that of any Run: whoever writes one says there,
in `device_name`, that it is a demonstration.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from kernels.events import Kind
from runner.models import Run, State, StoredEvent, stored
from runner.recorder import changes_by
from runner.shapes import Origin, RunView


def stage(
    person: Any,
    procedure: str,
    events: Sequence[tuple[str, dict[str, Any]]],
    *,
    version: int = 1,
    device: str = "cpu",
    origin: Origin,
    at: datetime,
    seconds: float,
) -> RunView:
    """A Run of that person from `at` on, with these Events (kind and data) evenly over so many
    seconds."""
    if not events or events[-1][0] != Kind.OUTCOME:
        raise ValueError("A Run ends with its outcome.")
    pause = timedelta(seconds=seconds / len(events))
    envelopes = [
        {"seq": seq, "kind": str(kind), "at": _text(at + seq * pause), "data": data}
        for seq, (kind, data) in enumerate(events, start=1)
    ]
    changes: dict[str, Any] = {}
    for envelope in envelopes:
        changes |= changes_by(envelope)
    changes |= {"ended_at": at + timedelta(seconds=seconds), "state": State.ENDED}
    with transaction.atomic():
        row: Run = Run.objects.create(
            owner=person, procedure=procedure, version=version, device=device,
            course=origin.course, lesson=origin.lesson, step=origin.step, created_at=at,
            began_at=at, started_at=at, last_seq=len(envelopes), attempt=1, **changes,
        )  # fmt: skip
        StoredEvent.objects.bulk_create(stored(row.id, envelopes), batch_size=500)
    return row.view()


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
