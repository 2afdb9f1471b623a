"""Taking a Run: what a person may ask for, and the row that asks for it."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from kernels.procedure import BadParameter, Procedure
from runner import doorbell, procedures
from runner.models import Queue, Run
from runner.quotas import quota
from runner.shapes import ActiveRun, NoWorker, Origin, QuotaSpent, Resumes
from runner.waiting import alive


def submit(
    person: Any,
    procedure: str,
    parameters: Mapping[str, Any],
    version: int | None,
    device: str,
    origin: Origin,
    resumes: Resumes | None = None,
) -> Run:
    """A queued Run, whose id is on its way to the device's queue once this is committed."""
    found = procedures.find(procedure)
    version = version if version is not None else found.versions[0]
    require_possible(found, version, device)
    values = read(found, parameters, resumes)
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
        resumes=resumes and resumes.data(),
    )
    insert(person, row)
    return row


def read(procedure: Procedure, given: Mapping[str, Any], resumes: Resumes | None) -> dict[str, Any]:
    """The Procedure's parameters. No path is taken from a person: that of the checkpoint to go on
    from is put there by the worker, which knows where it lies. Raises BadParameter."""
    paths = {parameter.name for parameter in procedure.parameters if parameter.path}
    for name in paths & set(given):
        if given[name]:
            raise BadParameter(
                f"{name} = {given[name]!r} is not accepted here: it would name a file of this "
                "machine; accepted: nothing."
            )
    # Parsed with a name in its place: other parameters may need that there is one.
    start = {"resume": resumes.file} if resumes else {}
    values: dict[str, Any] = procedures.registry().parse(procedure, {**given, **start})
    return {**values, **dict.fromkeys(start, "")}


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
