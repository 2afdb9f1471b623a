"""Events as they were stored, read in pages and up to a limit: every attempt of a training has as
many as a Run."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from runner import limits
from runner.budget import Room
from runner.models import StoredEvent

LOSSES = ("loss", "ema")
# What the log says of a loss: its phases, and where it was cut back or begun anew.
TURNS = ("log.andrea.phase", "log.resumed-after-restart", "log.restarted")
_PAGE = 1000


def _room() -> Room:
    return Room(limits.TRAINING_EVENTS, limits.MAX_EVENTS_BYTES)


@dataclass
class Reach:
    """How much a page reads, of however many Runs. `ended`: there was more."""

    room: Room = field(default_factory=_room)
    ended: bool = False

    def takes(self, size: int) -> bool:
        self.ended = self.ended or not self.room.take(size)
        return not self.ended


def stored_after(run_id: uuid.UUID, after: int, limit: int) -> list[dict[str, Any]]:
    """So many, in order."""
    return [envelope for envelope, _ in _page(_after(run_id, after), limit)]


def stored_within(reach: Reach, run_id: uuid.UUID, after: int = 0) -> Iterator[dict[str, Any]]:
    """As many as are in reach, in order."""
    return _within(reach, _after(run_id, after))


def losses_within(reach: Reach, run_id: uuid.UUID, until: int) -> Iterator[dict[str, Any]]:
    """What tells of the loss up to that step, and nothing else."""
    points = Q(kind="metric", data__name__in=LOSSES, data__step__lte=until)
    turns = Q(kind="log", data__note__code__in=TURNS)
    return _within(reach, _after(run_id, 0).filter(points | turns))


def _after(run_id: uuid.UUID, after: int) -> "QuerySet[StoredEvent]":
    return StoredEvent.objects.filter(run_id=run_id, seq__gt=after).order_by("seq")


def _within(reach: Reach, rows: "QuerySet[StoredEvent]") -> Iterator[dict[str, Any]]:
    after = 0
    while not reach.ended and (page := _page(rows.filter(seq__gt=after), _PAGE)):
        for envelope, size in page:
            if not reach.takes(size):
                return
            yield envelope
        after = page[-1][0]["seq"]


def _page(rows: "QuerySet[StoredEvent]", limit: int) -> list[tuple[dict[str, Any], int]]:
    """Each with the size of its data, which are read as one text: there are thousands of them."""
    text = Cast("data", TextField())
    found = list(rows.values_list("seq", "kind", "at", text)[:limit])
    told = json.loads(f"[{','.join(row[3] for row in found)}]")
    return [
        ({"seq": seq, "kind": kind, "at": at, "data": data}, len(size))
        for (seq, kind, at, size), data in zip(found, told, strict=True)
    ]
