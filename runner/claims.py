"""A worker's hold on a Run: taken by a conditional update, kept by a lease, watched by a thread."""

import logging
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connections
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from kernels.artifacts import checkpoint_step
from kernels.events import Kind
from runner import closing, limits
from runner.models import Run, State
from runner.shapes import Resumes

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claim:
    run_id: uuid.UUID
    attempt: int
    procedure: str
    parameters: dict[str, Any]
    version: int
    device: str
    last_seq: int
    resumes: Resumes | None = None


def claim(run_id: uuid.UUID, worker: str) -> Claim | None:
    """Take the Run, or None: another worker has it, or it is over."""
    most = (limits.MAX_TRIES, limits.MAX_ATTEMPTS)
    if not Run.objects.claim(run_id, worker, *most, limits.LEASE):
        return None
    run = Run.objects.get(id=run_id)
    if run.attempt > 1:
        forget_answered(run)
    return Claim(
        run_id=run.id,
        attempt=run.attempt,
        procedure=run.procedure,
        parameters=run.parameters,
        version=run.version,
        device=run.device,
        last_seq=run.last_seq,
        resumes=run.start(),
    )


def forget_answered(run: Run) -> None:
    """A checkpoint that an earlier attempt wrote when it was asked for is not asked for again."""
    asked = run.checkpoint_requested_at
    if asked is None:
        return
    at = asked.isoformat(timespec="milliseconds").replace("+00:00", "Z")  # as Events are dated
    since = run.events.filter(kind=Kind.ARTIFACT, at__gte=at).values_list("data", flat=True)
    if any(checkpoint_step(data["name"]) is not None for data in since):
        # One that was asked for in the meantime stays.
        same = Run.objects.filter(id=run.id, checkpoint_requested_at=asked)
        same.update(checkpoint_requested_at=None)


def hand_back(claimed: Claim, *, in_order: bool) -> None:
    """Queue the Run again for another worker. One that was stopped in good order took no try."""
    Run.objects.held(claimed.run_id, claimed.attempt).update(
        state=State.QUEUED,
        lease_until=None,
        worker="",
        enqueued_at=None,
        tries=Greatest(F("tries") - int(in_order), 0),
    )


class Hold:
    """Renews the lease and looks for requests, in a thread of its own: whatever the child or the
    broker does, the Run stays ours; and once it is not, `lost` says so."""

    def __init__(self, claimed: Claim) -> None:
        self.lost = threading.Event()
        self.stop = threading.Event()
        self.checkpoints = 0  # how often one was asked for
        self.closing = False  # the worker is being stopped
        self._rows = Run.objects.held(claimed.run_id, claimed.attempt)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="hold", daemon=True)

    def __enter__(self) -> "Hold":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=5)

    def _keep(self) -> None:
        renewed = time.monotonic()
        seen_checkpoint = None
        try:
            while not self._over.wait(limits.CONTROL_SECONDS) and not self.lost.is_set():
                self.closing = closing.begun()
                try:
                    seen_checkpoint = self._look(seen_checkpoint)
                    if time.monotonic() - renewed >= limits.HEARTBEAT_SECONDS:
                        self._renew()
                        renewed = time.monotonic()
                except DatabaseError as away:
                    log.warning("The database did not answer a heartbeat: %s", away)
                    connections.close_all()
                if time.monotonic() - renewed > limits.LEASE.total_seconds():
                    self.lost.set()  # somebody else may hold it by now
        finally:
            connections.close_all()

    def _look(self, seen_checkpoint: Any) -> Any:
        asked = self._rows.values_list("stop_requested_at", "checkpoint_requested_at").first()
        if asked is None:
            self.lost.set()
            return seen_checkpoint
        stop, checkpoint = asked
        if stop:
            self.stop.set()
        if checkpoint and checkpoint != seen_checkpoint:
            self.checkpoints += 1
        return checkpoint

    def _renew(self) -> None:
        if not self._rows.update(lease_until=timezone.now() + limits.LEASE):
            self.lost.set()
