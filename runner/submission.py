"""Taking a Run: what a person may ask for, and the row that asks for it."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from kernels.procedure import BadParameter, Procedure
from runner import doorbell, procedures
from runner.models import Queue, Run
from runner.quotas import quota
from runner.shapes import ActiveRun, NoWorker, Origin, QuotaSpent
from runner.waiting import alive


def submit(
    person: Any,
    procedure: str,
    parameters: Mapping[str, Any],
    version: int | None,
    device: str,
    origin: Origin,
) -> Run:
    """A queued Run, whose id is on its way to the device's queue once this is committed."""
    found = procedures.find(procedure)
    version = version if version is not None else found.versions[0]
    require_possible(found, version, device)
    values = procedures.registry().parse(found, parameters)
    require_worker(found, device)
    row = Run(
        owner=person,
        procedure=found.name,
        parameters=values,
        version=version,
        device=device,
        course=origin.course,
        lesson=origin.lesson,
        step=origin.step,
    )
    insert(person, row)
    return row


def require_possible(procedure: Procedure, version: int, device: str) -> None:
    if version not in procedure.versions:
        accepted = ", ".join(map(str, procedure.versions))
        raise BadParameter(f"version = {version} is not accepted; accepted: {accepted}.")
    possible = procedures.queues_of(procedure)
    if device not in possible:
        raise BadParameter(f"device = {device!r} is not accepted; accepted: {', '.join(possible)}.")


def require_worker(procedure: Procedure, device: str) -> None:
    """Never falls back by itself: what else could run it is named, and chosen by the person."""
    online = set(alive().values_list("queue", flat=True))
    if device not in online:
        others = tuple(name for name in procedures.queues_of(procedure) if name in online)
        raise NoWorker(device, others)


def insert(person: Any, row: Run) -> None:
    try:
        with transaction.atomic():
            require_quota(person)
            row.save(force_insert=True)
            transaction.on_commit(lambda: doorbell.ring(row.id, Queue(row.device)))
    except IntegrityError as error:
        active = Run.objects.active().filter(owner_id=person.pk).first()
        if active is None:
            raise
        raise ActiveRun(active.id) from error


def require_quota(person: Any) -> None:
    today = quota(person)
    if today.left == 0:
        raise QuotaSpent(today.limit, today.resets_at)
