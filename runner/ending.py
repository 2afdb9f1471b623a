"""Ending a Run that no worker holds: cancelled while queued, or given up."""

import json
import logging
import uuid
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from redis.exceptions import RedisError

from kernels.events import End, Kind, Note, Outcome, to_data
from runner import streams
from runner.models import Run, RunSet, State, StoredEvent

log = logging.getLogger(__name__)


def now_text() -> str:
    return timezone.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_json(envelope: dict[str, Any]) -> str:
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def end(candidates: RunSet, run_id: uuid.UUID, outcome: Outcome, note: Note) -> bool:
    """End that Run if it is among the candidates, with its last Event in the same transaction."""
    event = End(outcome, note)
    data = to_data(event)
    with transaction.atomic():
        changed = candidates.filter(id=run_id).update(
            state=State.ENDED,
            outcome=outcome,
            note=data["note"],
            ended_at=timezone.now(),
            lease_until=None,
            last_seq=F("last_seq") + 1,
        )
        if not changed:
            return False
        seq = Run.objects.values_list("last_seq", flat=True).get(id=run_id)
        stored = StoredEvent(run_id=run_id, seq=seq, kind=Kind.OUTCOME, at=now_text(), data=data)
        stored.save(force_insert=True)
        transaction.on_commit(lambda: announce(run_id, stored.envelope()))
    return True


def announce(run_id: uuid.UUID, envelope: dict[str, Any]) -> None:
    """Publish one stored Event; without Redis its readers find it in the log a little later."""
    try:
        connection = streams.client()
        streams.publish(connection, run_id, [(envelope["seq"], as_json(envelope))])
        streams.expire(connection, run_id)
    except RedisError as away:
        log.warning("The end of Run %s was stored but not published: %s", run_id, away)
