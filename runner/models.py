"""The rows of a Run: itself, its event log, its files, and the workers that can take it."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from kernels.events import Outcome
from runner.shapes import ArtifactView, Origin, Resumes, RunView


class State(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"


class Queue(models.TextChoices):
    """A device as a person chooses it, which is also the name of the broker's queue."""

    GPU = "gpu"
    CPU = "cpu"


class RunSet(models.QuerySet["Run"]):
    def active(self) -> "RunSet":
        return self.exclude(state=State.ENDED)

    def held(self, run_id: uuid.UUID, attempt: int) -> "RunSet":
        """The Run, if this attempt still owns it. Every write of a worker goes through here."""
        return self.filter(id=run_id, state=State.RUNNING, attempt=attempt)

    def claim(
        self, run_id: uuid.UUID, worker: str, max_tries: int, max_attempts: int, lease: timedelta
    ) -> bool:
        """Take a Run nobody holds. False: somebody else has it, or it is over."""
        now = timezone.now()
        free = Q(state=State.QUEUED) | Q(state=State.RUNNING, lease_until__lt=now)
        left = self.filter(free, tries__lt=max_tries, attempt__lt=max_attempts)
        return bool(
            left.filter(id=run_id, is_recording=False).update(
                state=State.RUNNING,
                attempt=F("attempt") + 1,
                tries=F("tries") + 1,
                worker=worker,
                lease_until=now + lease,
                began_at=Coalesce("began_at", now),
                started_at=now,
            )
        )

    def charged(self, since: datetime) -> "RunSet":
        """Those that count against a quota: not our faults, not what never began, and not what
        we ran again."""
        theirs = self.filter(created_at__gte=since, is_recording=False, rerun_of=None)
        return theirs.exclude(
            Q(outcome=Outcome.INFRASTRUCTURE_FAILURE)
            | Q(outcome=Outcome.CANCELLED, started_at=None)
        )


class Run(models.Model):
    """One execution of one Procedure with its parameters, for one person."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="runs", null=True, blank=True
    )
    procedure = models.CharField(max_length=100)
    parameters = models.JSONField(default=dict)
    version = models.PositiveSmallIntegerField(default=1)
    device = models.CharField(max_length=8, choices=Queue)
    course = models.CharField(max_length=80, blank=True)
    lesson = models.CharField(max_length=80, blank=True)
    step = models.CharField(max_length=80, blank=True)

    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    outcome = models.CharField(
        max_length=24, choices=[(o.value, o.value) for o in Outcome], blank=True
    )
    attempt = models.PositiveSmallIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)  # attempts since the last checkpoint
    resumes = models.JSONField(null=True)  # {"run", "file", "step"}: where it goes on from
    rerun_of = models.ForeignKey(  # the Run it repeats, after a check was put right
        "self", models.CASCADE, related_name="reruns", null=True
    )
    worker = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True)
    enqueued_at = models.DateTimeField(null=True)  # when the broker was last told
    stop_requested_at = models.DateTimeField(null=True)
    checkpoint_requested_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    began_at = models.DateTimeField(null=True)  # its first attempt
    started_at = models.DateTimeField(null=True)  # the attempt that counts: its last
    ended_at = models.DateTimeField(null=True)

    last_seq = models.PositiveIntegerField(default=0)
    made = models.JSONField(default=dict)  # device, driver, torch, commit, seed, sandbox
    note = models.JSONField(default=dict)  # the outcome's sentence: {"code", "params"}
    passed = models.PositiveIntegerField(null=True)
    failed = models.PositiveIntegerField(null=True)
    is_recording = models.BooleanField(default=False)

    objects: ClassVar[Any] = RunSet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["owner"], condition=~Q(state="ended"), name="one_active_run_a_person"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "device", "created_at"], name="run_queue"),
            models.Index(fields=["owner", "-created_at"], name="run_history"),
            models.Index(fields=["procedure", "device", "-ended_at"], name="run_durations"),
        ]

    def __str__(self) -> str:
        return f"{self.procedure} {self.id}"

    def seconds(self) -> float | None:
        """What its last attempt took."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at).total_seconds()

    def start(self) -> Resumes | None:
        """The checkpoint of another Run that this one goes on from."""
        if self.resumes is None:
            return None
        return Resumes(uuid.UUID(self.resumes["run"]), self.resumes["file"], self.resumes["step"])

    def view(self, *, artifacts: bool = False) -> RunView:
        """What others see of this row; its files only when asked, for they cost a query."""
        return RunView(
            id=self.id,
            owner_id=self.owner_id,
            procedure=self.procedure,
            parameters=self.parameters,
            version=self.version,
            device=self.device,
            origin=Origin(self.course, self.lesson, self.step),
            state=self.state,
            outcome=self.outcome,
            note=self.note,
            created_at=self.created_at,
            began_at=self.began_at or self.started_at,
            started_at=self.started_at,
            ended_at=self.ended_at,
            last_seq=self.last_seq,
            made=self.made,
            passed=self.passed,
            failed=self.failed,
            stopping=self.stop_requested_at is not None and self.state != State.ENDED,
            is_recording=self.is_recording,
            attempt=self.attempt,
            resumes=self.start(),
            checkpoint_asked_at=self.checkpoint_requested_at,
            artifacts=tuple(file.view() for file in self.artifacts.all()) if artifacts else (),
        )


class StoredEvent(models.Model):
    """One numbered Event. `seq` counts from 1 without a gap."""

    # No index of its own: the constraint's serves, and every Event is an insert.
    run = models.ForeignKey(Run, models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=12)
    at = models.CharField(max_length=30)  # as the child wrote it: ISO 8601, UTC, ms
    data = models.JSONField()

    class Meta:
        ordering: ClassVar = ["seq"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "seq"], name="one_event_a_number"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}#{self.seq}"

    def envelope(self) -> dict[str, Any]:
        return {"seq": self.seq, "kind": self.kind, "at": self.at, "data": self.data}


def stored(run_id: uuid.UUID, envelopes: Iterable[dict[str, Any]]) -> list[StoredEvent]:
    return [StoredEvent(run_id=run_id, **envelope) for envelope in envelopes]


class RunArtifact(models.Model):
    run = models.ForeignKey(Run, models.CASCADE, related_name="artifacts", db_index=False)
    name = models.CharField(max_length=200)
    media = models.CharField(max_length=100)
    bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    file = models.FileField(max_length=300, blank=True)  # "" once it was let go

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "name"], name="one_artifact_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

    def view(self) -> ArtifactView:
        return ArtifactView(self.name, self.media, self.bytes, self.sha256, bool(self.file))


class WorkerNode(models.Model):
    """A Celery worker that owns a device, as it last reported."""

    name = models.CharField(max_length=120, primary_key=True)
    queue = models.CharField(max_length=8, choices=Queue)
    device_name = models.CharField(max_length=120, blank=True)
    driver = models.CharField(max_length=60, blank=True)
    torch = models.CharField(max_length=60, blank=True)
    triton = models.CharField(max_length=60, blank=True)
    sandbox = models.CharField(max_length=30, blank=True)
    slots = models.PositiveSmallIntegerField(default=1)
    heartbeat_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name
