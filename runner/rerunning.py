"""Running a Run again after its check was put right: for nobody yet, and at nobody's cost.

The new Run has no owner. So it stands in nobody's way (a person has one active Run), counts in
no quota, and is seen by nobody, until it is given to the owner of the Run that it repeats.
"""

import uuid
from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import OuterRef, Subquery

from kernels.events import Outcome
from runner import doorbell, procedures
from runner.models import Queue, Run, RunSet, State
from runner.personal import erase
from runner.shapes import Origin, RunNotFound, RunView
from runner.submission import read, require_possible, require_worker


def repeatable(owners: Collection[uuid.UUID], origin: Origin) -> list[RunView]:
    """Ended Runs of these people on that step, oldest first; of one that was run again already
    only the latest, and none that was cancelled or went on from a checkpoint."""
    runs = Run.objects.filter(
        owner__in=owners,
        course=origin.course,
        lesson=origin.lesson,
        step=origin.step,
        state=State.ENDED,
        resumes__isnull=True,
    )
    repeated = Run.objects.filter(owner__isnull=False, rerun_of__isnull=False).values("rerun_of")
    current = runs.exclude(outcome=Outcome.CANCELLED).exclude(id__in=repeated)
    return [row.view() for row in current.order_by("created_at", "id")]


def rerun(run_id: uuid.UUID) -> RunView:
    """Queue what that Run did once more, on the same kind of device.

    Raises RunNotFound, UnknownProcedure, BadParameter where the Procedure no longer takes what
    it was given, or NoWorker. Who calls has made sure that the Run is theirs to repeat.
    """
    old = Run.objects.filter(id=run_id).first()
    if old is None:
        raise RunNotFound(str(run_id))
    found = procedures.find(old.procedure)
    require_possible(found, old.version, old.device)
    values = read(found, old.parameters, None)
    require_worker(found, old.device)
    row = Run(
        owner=None, rerun_of=old, procedure=found.name, parameters=values, version=old.version,
        device=old.device, course=old.course, lesson=old.lesson, step=old.step,
    )  # fmt: skip
    with transaction.atomic():
        row.save(force_insert=True)
        transaction.on_commit(lambda: doorbell.ring(row.id, Queue(row.device)))
    return row.view()


def reruns(run_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, RunView]:
    """Those of these Runs that repeat another."""
    rows = Run.objects.filter(id__in=list(run_ids), rerun_of__isnull=False)
    return {row.id: row.view() for row in rows}


def has_room_for_rerun(device: str) -> bool:
    """Whether a Run that can wait may be queued: no person waits for that device, and no other
    such Run is on its way."""
    active: RunSet = Run.objects.active().filter(device=device)
    waiting = active.filter(state=State.QUEUED) | active.filter(rerun_of__isnull=False)
    return not waiting.exists()


def give_reruns(run_ids: Iterable[uuid.UUID]) -> None:
    """Each becomes its owner's whose Run it repeats; their quota does not count it."""
    owner = Run.objects.filter(id=OuterRef("rerun_of")).values("owner")[:1]
    runs = Run.objects.filter(id__in=list(run_ids), owner=None, rerun_of__isnull=False)
    runs.filter(state=State.ENDED).update(owner=Subquery(owner))


def discard_reruns(run_ids: Iterable[uuid.UUID]) -> None:
    """Delete those that were given to nobody; one that still runs is ended by its worker."""
    erase(Run.objects.filter(id__in=list(run_ids), owner=None, rerun_of__isnull=False))
