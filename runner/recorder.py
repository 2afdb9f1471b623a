"""Numbering a Run's Events, storing them in batches, and only then publishing them.

What is published is stored already, so a worker that dies between the two loses nothing that
anybody saw, and numbers go on from the row. Two threads, because a slow broker must not hold up
the log, nor a slow database the child's pipe.
"""

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import DatabaseError, close_old_connections, connections, transaction
from django.utils import timezone

from kernels.events import Kind
from runner.claims import Claim
from runner.ending import as_json, now_text
from runner.files import discard
from runner.models import Run, RunArtifact, State, StoredEvent
from runner.publisher import Publisher

log = logging.getLogger(__name__)

_BATCH = 200
_PAUSE_SECONDS = 0.01  # between commits: what arrives meanwhile shares the next one
_ENOUGH_WAITING = 2000
_RETRY_SECONDS = 0.2


@dataclass(frozen=True)
class Entry:
    envelope: dict[str, Any]
    artifact: RunArtifact | None = None
    progress: bool = False  # a checkpoint: the next attempt goes on from there

    @property
    def seq(self) -> int:
        return int(self.envelope["seq"])


class Stale(Exception):
    """This attempt no longer owns the Run: nothing of it may be written any more."""


class Recorder:
    """Takes Events in the order they happened. `lost` is set once writing is refused."""

    def __init__(self, claimed: Claim, lost: threading.Event) -> None:
        self.claimed = claimed
        self.lost = lost
        self.seq = claimed.last_seq
        self._waiting: deque[Entry] = deque()
        self._news = threading.Condition()
        self._closed = False
        self._publisher = Publisher(claimed.run_id, claimed.last_seq)
        self._thread = threading.Thread(target=self._store_all, name="recorder", daemon=True)

    def __enter__(self) -> "Recorder":
        self._publisher.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until all is stored, and published if the broker is there."""
        with self._news:
            self._closed = True
            self._news.notify()
        self._thread.join()
        self._publisher.finish()

    @property
    def full(self) -> bool:
        """Whether the child should wait: its pipe is then left unread."""
        return len(self._waiting) >= _ENOUGH_WAITING

    def add(
        self,
        kind: str,
        data: dict[str, Any],
        at: str | None = None,
        artifact: RunArtifact | None = None,
        *,
        progress: bool = False,
    ) -> None:
        with self._news:
            self.seq += 1
            envelope = {"seq": self.seq, "kind": str(kind), "at": at or now_text(), "data": data}
            self._waiting.append(Entry(envelope, artifact, progress))
            self._news.notify()

    def _store_all(self) -> None:
        try:
            while batch := self._next_batch():
                self._store_stubbornly(batch)
                self._publisher.add([(entry.seq, as_json(entry.envelope)) for entry in batch])
                time.sleep(_PAUSE_SECONDS)
        except Stale:
            log.warning("Attempt %s of Run %s is over.", self.claimed.attempt, self.claimed.run_id)
            self.lost.set()
        except Exception:
            log.exception("Run %s cannot be recorded.", self.claimed.run_id)
            self.lost.set()
        finally:
            connections.close_all()

    def _next_batch(self) -> list[Entry]:
        with self._news:
            self._news.wait_for(lambda: self._waiting or self._closed)
            return [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]

    def _store_stubbornly(self, batch: list[Entry]) -> None:
        while not self.lost.is_set():
            try:
                return store(self.claimed, batch)
            except DatabaseError as away:
                log.warning("Events of Run %s wait for the database: %s", self.claimed.run_id, away)
                close_old_connections()
                time.sleep(_RETRY_SECONDS)
        raise Stale


def store(claimed: Claim, batch: list[Entry]) -> None:
    """One transaction: the attempt's right to write, the Events, their files, the final state.

    Done again after an error whose commit had come through, it changes nothing.
    """
    first, last = batch[0].seq, batch[-1].seq
    changes: dict[str, Any] = {"last_seq": last}
    for entry in batch:
        changes |= changes_by(entry.envelope)
        if entry.progress:
            changes["tries"] = 0
    with transaction.atomic():
        rows = Run.objects.held(claimed.run_id, claimed.attempt).filter(last_seq=first - 1)
        if not rows.update(**changes):
            require_stored_already(claimed, last)
            return
        StoredEvent.objects.bulk_create(
            StoredEvent(run_id=claimed.run_id, **entry.envelope) for entry in batch
        )
        keep([entry.artifact for entry in batch if entry.artifact is not None])


def keep(artifacts: list[RunArtifact]) -> None:
    """A file of that name from before gives way; a row without a file has let it go."""
    for artifact in artifacts:
        same = RunArtifact.objects.filter(run_id=artifact.run_id, name=artifact.name)
        replaced = [name for name in same.values_list("file", flat=True) if name]
        same.delete()
        artifact.save(force_insert=True)
        transaction.on_commit(partial(discard, replaced))


def changes_by(envelope: dict[str, Any]) -> dict[str, Any]:
    """What an Event changes in its Run's row."""
    data = envelope["data"]
    if envelope["kind"] == Kind.OUTCOME:
        return {
            "state": State.ENDED,
            "outcome": data["outcome"],
            "note": data.get("note", {}),
            "passed": data.get("passed"),
            "failed": data.get("failed"),
            "ended_at": timezone.now(),
            "lease_until": None,
        }
    note = data.get("note") if envelope["kind"] == Kind.LOG else None
    if isinstance(note, dict) and note.get("code") == "made":
        return {"made": note.get("params", {})}
    return {}


def require_stored_already(claimed: Claim, last: int) -> None:
    same = Run.objects.filter(id=claimed.run_id, attempt=claimed.attempt, last_seq=last)
    if not same.exists():
        raise Stale
