"""Celery's side of a Run: a doorbell that carries an id, rung for the slot of this process."""

import os
import uuid
from typing import Any

from billiard import current_process
from celery import shared_task
from celery.signals import (
    celeryd_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutting_down,
)
from django.db import close_old_connections

from runner import closing
from runner.doorbell import TASK
from runner.models import Queue
from runner.processes import die_with_parent
from runner.slot import Slot

_worker = "worker"
_slot: Slot | None = None


@celeryd_init.connect
def remember_name(sender: str, **_: Any) -> None:
    """In the worker's main process, before it forks its slot."""
    global _worker
    _worker = sender


@worker_shutting_down.connect
def tell_slots(**_: Any) -> None:
    """In the main process, which waits for its slots to finish."""
    closing.begin()


@worker_process_init.connect
def open_slot(**_: Any) -> None:
    """Must return within 4 seconds, so the slot warms up in a thread."""
    global _slot
    die_with_parent(os.getppid())
    queue = Queue(os.environ.get("CHAINRULE_QUEUE", Queue.CPU))
    _slot = Slot(_worker, queue, current_process().index, slots=1)
    _slot.start()


@worker_process_shutdown.connect
def close_slot(**_: Any) -> None:
    if _slot is not None:
        _slot.end()


@shared_task(name=TASK)
def execute_run(run_id: str) -> None:
    if _slot is None:
        raise RuntimeError("Runs need a prefork worker: start Celery with -P prefork.")
    close_old_connections()
    _slot.execute(uuid.UUID(run_id))
