"""What the runner holds of a person: to export, to erase, to hand from a guest to an account."""

from typing import Any

from django.db import transaction

from kernels.events import Note, Outcome
from runner import ending
from runner.models import Run, RunArtifact, StoredEvent


def export_person(person: Any) -> dict[str, Any]:
    """Every Run of this person with its Events and the names of its files, as plain data."""
    runs = Run.objects.filter(owner_id=person.pk).order_by("created_at")
    return {"runs": [export_run(run) for run in runs.prefetch_related("artifacts").iterator(50)]}


def export_run(run: Run) -> dict[str, Any]:
    return {
        "id": str(run.id),
        "procedure": run.procedure,
        "parameters": run.parameters,
        "version": run.version,
        "device": run.device,
        "page": "/".join(filter(None, (run.course, run.lesson, run.step))),
        "state": run.state,
        "outcome": run.outcome,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "made": run.made,
        "artifacts": [artifact.name for artifact in run.artifacts.all()],
        "events": list(
            StoredEvent.objects.filter(run=run).order_by("seq").values("seq", "kind", "at", "data")
        ),
    }


def erase_person(person: Any) -> None:
    """Delete this person's Runs, Events and files. A child that still runs is ended by its
    worker, whose next write finds no row."""
    artifacts = RunArtifact.objects.filter(run__owner_id=person.pk)
    files = [(row.file.storage, row.file.name or "") for row in artifacts]
    Run.objects.filter(owner_id=person.pk).delete()

    def delete_files() -> None:
        for storage, name in files:
            storage.delete(name)

    transaction.on_commit(delete_files)


def adopt(guest: Any, person: Any) -> None:
    """The guest's Runs become this person's. Two active ones cannot be: the guest's is ended."""
    with transaction.atomic():
        if Run.objects.active().filter(owner_id=person.pk).exists():
            for run in Run.objects.active().filter(owner_id=guest.pk):
                note = Note("end.cancelled-by-sign-in")
                ending.end(Run.objects.active(), run.id, Outcome.CANCELLED, note)
        Run.objects.filter(owner_id=guest.pk).update(owner_id=person.pk)
