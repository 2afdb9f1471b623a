"""The door to Runs. Whoever stands above `runner` calls this and nothing else."""

import uuid
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.core.files import File
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext

from kernels.events import Note, Outcome
from kernels.marking import Counted, counted
from kernels.messages import MESSAGES
from kernels.names import NAMES
from kernels.procedure import BadParameter
from kernels.registry import UnknownProcedure
from runner import ending, limits, resuming, stored, submission
from runner.access import may_steer, may_view, steerable, visible
from runner.endings import Ending, endings, outcome_word
from runner.models import Queue, Run, RunArtifact, RunSet, State
from runner.personal import adopt, erase_person, export_person
from runner.quotas import quota
from runner.rerunning import (
    discard_reruns,
    give_reruns,
    has_room_for_rerun,
    repeatable,
    rerun,
    reruns,
)
from runner.shapes import (
    ActiveRun,
    ArtifactView,
    DeviceStatus,
    NotResumable,
    NoWorker,
    Origin,
    Quota,
    QuotaSpent,
    Resumes,
    RunNotFound,
    RunRefused,
    RunView,
    Snapshot,
)
from runner.staging import stage
from runner.stored import Reach, stored_after, stored_within
from runner.waiting import alive, queue_position, wait_range

__all__ = [
    "ActiveRun", "ArtifactView", "BadParameter", "DeviceStatus", "Ending", "NoWorker",
    "NotResumable", "Origin", "Quota", "QuotaSpent", "Reach", "Resumes", "RunNotFound",
    "RunRefused", "RunView", "Snapshot", "UnknownProcedure", "adopt", "artifact", "checkpoint",
    "devices", "discard_reruns", "endings", "erase_person", "events_after", "events_within",
    "export_person", "get", "give_reruns", "has_room_for_rerun", "history", "latest",
    "losses_within", "may_steer", "may_view", "messages", "outcome_word", "prove", "quota",
    "recordings", "repeatable", "rerun", "reruns", "resume", "snapshot", "stage", "stop",
    "submit",
]  # fmt: skip


def submit(
    person: Any,
    procedure: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    version: int | None = None,
    device: str,
    origin: Origin | None = None,
) -> RunView:
    """Queue a Run of `procedure` on `device` ("gpu" or "cpu") for this person.

    Raises UnknownProcedure, BadParameter, QuotaSpent, ActiveRun, or NoWorker, which names the
    devices that could run it instead. With the broker away the Run is queued all the same.
    """
    row = submission.submit(
        person, procedure, parameters or {}, version, device, origin or Origin()
    )
    return row.view()


def get(run_id: uuid.UUID | str, viewer: Any) -> RunView:
    """Raises RunNotFound, also for somebody who may not see it."""
    return visible(run_id, viewer).view(artifacts=True)


def snapshot(run_id: uuid.UUID | str, viewer: Any) -> Snapshot:
    """The Run and its first Events; a socket opened after the last of them misses nothing."""
    return _snapshot(visible(run_id, viewer))


def latest(person: Any, origin: Origin, procedure: str) -> Snapshot | None:
    """The newest of this person's own Runs of a step; None: there is none."""
    row = _of(person, origin, procedure).first()
    return _snapshot(row) if row else None


def events_after(
    run_id: uuid.UUID | str, viewer: Any, after: int, limit: int = 1000
) -> list[dict[str, Any]]:
    """Envelopes with a larger `seq`, in order."""
    return stored_after(visible(run_id, viewer).id, after, limit)


def events_within(
    reach: Reach, run_id: uuid.UUID | str, viewer: Any, after: int
) -> Iterator[dict[str, Any]]:
    """The same, as many as are in reach."""
    return stored_within(reach, visible(run_id, viewer).id, after)


def losses_within(
    reach: Reach, run_id: uuid.UUID | str, viewer: Any, until: int
) -> Iterator[dict[str, Any]]:
    """Of those, what tells of a training's loss up to that step."""
    return stored.losses_within(reach, visible(run_id, viewer).id, until)


def stop(run_id: uuid.UUID | str, viewer: Any) -> RunView:
    """Cancel a queued Run at once; ask a running one to end (again is harmless)."""
    row = steerable(run_id, viewer)
    queued = Run.objects.filter(state=State.QUEUED)
    if not ending.end(queued, row.id, Outcome.CANCELLED, Note("end.cancelled-in-queue")):
        running = Run.objects.filter(id=row.id, state=State.RUNNING, stop_requested_at=None)
        running.update(stop_requested_at=timezone.now())
    row.refresh_from_db()
    return row.view()


def checkpoint(run_id: uuid.UUID | str, viewer: Any) -> RunView:
    """Ask a running Run to write a checkpoint and go on."""
    row = steerable(run_id, viewer)
    running = Run.objects.filter(id=row.id, state=State.RUNNING)
    running.update(checkpoint_requested_at=timezone.now())
    row.refresh_from_db()
    return row.view()


def resume(
    run_id: uuid.UUID | str,
    viewer: Any,
    file: str,
    steps: int | str | None = None,
    device: str | None = None,
) -> RunView:
    """Queue a Run that goes on from the checkpoint `file` of one of this person's own.

    `steps` is the whole length: by default that of the Run before, or twice it where the
    checkpoint stands at its end; at most twice. With another length the learning rate follows
    another schedule, so the Run is a polish. Raises RunNotFound, NotResumable, which says why,
    and whatever `submit` raises.
    """
    return resuming.resume(run_id, viewer, file, steps, device).view()


def prove(run_id: uuid.UUID | str, viewer: Any) -> RunView:
    """Queue a Run that proves, with this one's model and corpus, that stopping and resuming
    changes no bit. Raises RunNotFound, NotResumable, and whatever `submit` raises."""
    return resuming.prove(run_id, viewer).view()


def history(
    person: Any, origin: Origin | None = None, limit: int = 20, procedure: str = ""
) -> list[RunView]:
    """This person's Runs, latest first; of one step, or one Procedure, when that is named."""
    return [row.view() for row in _of(person, origin, procedure)[:limit]]


def artifact(run_id: uuid.UUID | str, viewer: Any, name: str) -> tuple[ArtifactView, File]:
    """A file of the Run, opened. Raises RunNotFound, also where it was let go."""
    found = RunArtifact.objects.filter(run=visible(run_id, viewer), name=name).first()
    if found is None or not found.file:
        raise RunNotFound(name)
    return found.view(), found.file.open("rb")


def devices() -> list[DeviceStatus]:
    """The gpu and the cpu, each with one worker that is online, or as offline."""
    online = {node.queue: node for node in alive().order_by("-name")}
    return [
        DeviceStatus(queue, True, node.device_name, node.sandbox, node.triton)
        if (node := online.get(queue))
        else DeviceStatus(queue, False)
        for queue in Queue.values
    ]


def recordings(procedure: str) -> list[RunView]:
    """Recorded Runs that everybody may see, latest first."""
    rows = Run.objects.filter(is_recording=True, procedure=procedure)
    return [row.view() for row in rows.order_by("-created_at")]


@cache
def messages(language: str) -> dict[str, str]:
    """Every sentence a Procedure may say, by code, in that language; {placeholders} unfilled.

    One that depends on a number is a `kernels.marking.Counted`.
    """
    with translation.override(language):
        return {code: _translated(text) for code, text in (MESSAGES | NAMES).items()}


def _translated(text: str) -> str:
    if not isinstance(text, Counted):
        return gettext(text)
    one, many = (ngettext(text.one, str(text), n) for n in (1, 2))
    return counted(text.by, one, many)


def _snapshot(row: Run) -> Snapshot:
    return Snapshot(
        run=row.view(artifacts=True),
        events=stored_after(row.id, 0, limits.PAGE_EVENTS),
        queue_position=queue_position(row),
        wait_range=wait_range(row),
    )


def _of(person: Any, origin: Origin | None, procedure: str) -> RunSet:
    """This person's Runs, latest first."""
    runs: RunSet = Run.objects.filter(owner_id=person.pk) if person.pk else Run.objects.none()
    if origin is not None:
        named = {"course": origin.course, "lesson": origin.lesson, "step": origin.step}
        runs = runs.filter(**{name: slug for name, slug in named.items() if slug})
    if procedure:
        runs = runs.filter(procedure=procedure)
    return runs.order_by("-created_at")
