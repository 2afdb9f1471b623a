"""Telling a worker that a Run waits. The row is the outbox: a lost ring only costs time."""

import logging
import uuid
from datetime import datetime

from celery import current_app
from django.utils import timezone
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from runner.models import Run, State

log = logging.getLogger(__name__)

TASK = "runner.execute_run"
_PATIENCE = 1.0  # seconds: a frozen broker must not hang the request that rings


def ring(run_id: uuid.UUID, queue: str) -> bool:
    """Send the Run's id to its device's queue. False: the broker did not take it in time."""
    timeouts = {"socket_timeout": _PATIENCE, "socket_connect_timeout": _PATIENCE}
    try:
        with current_app.connection_for_write(
            connect_timeout=_PATIENCE, transport_options=timeouts
        ) as connection:
            current_app.send_task(
                TASK, args=[str(run_id)], queue=queue, connection=connection, retry=False
            )
    except (KombuError, RedisError, OSError) as away:
        log.warning("The broker did not take Run %s: %s", run_id, away)
        return False
    noted_at(run_id, timezone.now())
    return True


def noted_at(run_id: uuid.UUID, at: datetime) -> None:
    Run.objects.filter(id=run_id, state=State.QUEUED).update(enqueued_at=at)
