"""What the runner holds of a person: to export, to erase, to hand from a guest to an account."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Q

from kernels.events import Note, Outcome
from runner import ending
from runner.files import discard, discard_all
from runner.models import Run, RunArtifact, RunSet, State, StoredEvent

_PAGE = 50  # Events read at once: each may have 256 KiB


def export_person(person: Any) -> dict[str, Any]:
    """Every Run of this person with its Events and the names of its files, as plain data.

    Iterators stand for lists: together they may be larger than the memory.
    """
    return {"runs": map(export_run, runs_of(person))}


def runs_of(person: Any) -> Iterator[Run]:
    # No cursor stays open: who reads slowly would keep a connection for as long.
    runs = Run.objects.filter(owner_id=person.pk)
    for run_id in list(runs.order_by("created_at").values_list("id", flat=True)):
        yield from runs.filter(id=run_id).prefetch_related("artifacts")


def events_of(run: Run) -> Iterator[dict[str, Any]]:
    later: Any = StoredEvent.objects.filter(run=run).order_by("seq")
    after = 0
    while page := list(later.filter(seq__gt=after).values("seq", "kind", "at", "data")[:_PAGE]):
        yield from page
        after = page[-1]["seq"]


def export_run(run: Run) -> dict[str, Any]:
    return {
        "id": str(run.id),
        "procedure": run.procedure,
        "parameters": run.parameters,
        "version": run.version,
        "resumes": run.resumes,
        "device": run.device,
        "page": "/".join(filter(None, (run.course, run.lesson, run.step))),
        "state": run.state,
        "outcome": run.outcome,
        "created_at": run.created_at.isoformat(),
        "began_at": run.began_at.isoformat() if run.began_at else None,
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "made": run.made,
        "artifacts": [artifact.name for artifact in run.artifacts.all()],
        "events": events_of(run),
    }


def erase_person(person: Any) -> None:
    """Delete this person's Runs, Events and files. A child that still runs is ended by its
    worker, whose next write finds no row, and which deletes what it stored meanwhile."""
    erase(Run.objects.filter(Q(owner_id=person.pk) | Q(rerun_of__owner_id=person.pk)))


def erase(runs: RunSet) -> None:
    """Delete these Runs, and their files once that is committed."""
    runs = Run.objects.filter(id__in=list(runs.values_list("id", flat=True)))
    recorded = RunArtifact.objects.filter(run__in=runs)
    names = [name for name in recorded.values_list("file", flat=True) if name]
    # A listing each would take long; only these may have files that nobody recorded.
    cut_off = Q(attempt__gt=1) | Q(outcome=Outcome.INFRASTRUCTURE_FAILURE) | ~Q(state=State.ENDED)
    suspect = list(runs.filter(cut_off).values_list("id", flat=True))
    runs.delete()

    def delete_files() -> None:
        discard(names)
        for run_id in suspect:
            discard_all(run_id)

    transaction.on_commit(delete_files)


def adopt(guest: Any, person: Any) -> None:
    """The guest's Runs become this person's. Two active ones cannot be: the guest's is ended."""
    with transaction.atomic():
        if Run.objects.active().filter(owner_id=person.pk).exists():
            for run in Run.objects.active().filter(owner_id=guest.pk):
                note = Note("end.cancelled-by-sign-in")
                ending.end(Run.objects.active(), run.id, Outcome.CANCELLED, note)
        Run.objects.filter(owner_id=guest.pk).update(owner_id=person.pk)
