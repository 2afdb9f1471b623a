"""What a hub and a socket read from the database, off the event loop."""

import asyncio
import json
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any, ParamSpec, TypeVar

from django.db import close_old_connections
from django.utils import timezone

from runner.ending import as_json
from runner.models import Run, State, StoredEvent
from runner.shapes import seconds_between
from runner.streams import Numbered
from runner.waiting import queue_position, wait_range

P = ParamSpec("P")
T = TypeVar("T")

_PAGE = 1000
# Threads of our own: the one thread Django keeps for synchronous code must stay free for pages.
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="log-reader")


async def in_database(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    def call() -> T:
        close_old_connections()
        return read(*args, **kwargs)

    return await asyncio.get_running_loop().run_in_executor(_threads, call)


@dataclass(frozen=True)
class Status:
    """What a page shows of a Run besides its Events."""

    state: str
    outcome: str
    stopping: bool
    last_seq: int
    queue_position: int | None
    wait: tuple[int, int] | None
    attempt: int
    elapsed: float | None  # seconds since its first attempt started, at the time this was made
    attempt_elapsed: float | None  # and since its last
    made_at: float  # on the monotonic clock

    @property
    def ended(self) -> bool:
        return self.state == State.ENDED

    def same_as(self, other: "Status") -> bool:
        """Whether a page would show the same."""
        return self._shown == other._shown

    @property
    def _shown(self) -> tuple[Any, ...]:
        known = (self.state, self.outcome, self.stopping, self.attempt)
        return (*known, self.queue_position, self.wait)

    def now(self) -> "Status":
        """The same, told a while later."""
        if self.ended or self.elapsed is None or self.attempt_elapsed is None:
            return self
        now = time.monotonic()
        since = now - self.made_at
        return replace(
            self,
            elapsed=self.elapsed + since,
            attempt_elapsed=self.attempt_elapsed + since,
            made_at=now,
        )

    @property
    def text(self) -> str:
        shown = asdict(self)
        del shown["made_at"]
        return json.dumps({"run": shown}, separators=(",", ":"))


def status_of(run_id: uuid.UUID) -> Status | None:
    """None once the row is gone."""
    run = Run.objects.filter(id=run_id).first()
    if run is None:
        return None
    until = run.ended_at or timezone.now()
    return Status(
        state=run.state,
        outcome=run.outcome,
        stopping=run.stop_requested_at is not None and run.state != State.ENDED,
        last_seq=run.last_seq,
        queue_position=queue_position(run),
        wait=wait_range(run),
        attempt=run.attempt,
        elapsed=tenths(seconds_between(run.began_at or run.started_at, until)),
        attempt_elapsed=tenths(seconds_between(run.started_at, until)),
        made_at=time.monotonic(),
    )


def tenths(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


def numbered_after(run_id: uuid.UUID, after: int) -> list[Numbered]:
    rows: Any = StoredEvent.objects.filter(run_id=run_id, seq__gt=after).order_by("seq")
    return [
        (envelope["seq"], as_json(envelope))
        for envelope in rows.values("seq", "kind", "at", "data")[:_PAGE]
    ]
