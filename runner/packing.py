"""A Run as a page embeds it for the live view: what its row says, and what it has told.

Points become columns, a tenth of the size of their Events; static/js/run/reducer.js takes them
with `restored`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any

from django.utils import timezone

from kernels.procedure import Procedure
from runner import api, limits
from runner.api import Reach, Snapshot
from runner.curves import Curves
from runner.shapes import seconds_between


def as_data(snapshot: Snapshot, steerable: bool, checkpoint_asked: bool) -> dict[str, Any]:
    """The Run as the live view knows it; frames of the socket update the same fields."""
    run, now = snapshot.run, timezone.now()
    return {
        "id": str(run.id),
        "state": run.state,
        "outcome": run.outcome,
        "note": run.note,
        "device": run.device,
        "stopping": run.stopping,
        "checkpoint_after": run.last_seq if checkpoint_asked else None,
        "recording": run.is_recording,
        "steerable": steerable,
        "attempt": run.attempt,
        "elapsed": seconds_between(run.began_at, now) or 0,
        "attempt_elapsed": seconds_between(run.started_at, now) or 0,
        "duration": run.elapsed,
        "attempt_duration": run.attempt_elapsed,
        "queue_position": snapshot.queue_position,
        "wait": snapshot.wait_range,
        "last_seq": run.last_seq,
        "resumes": run.resumes and run.resumes.data(),
        "kept": {file.name: file.kept for file in run.artifacts},
    }


def events_of(procedure: Procedure, snapshot: Snapshot, viewer: Any) -> Iterable[Mapping[str, Any]]:
    """Of a training as many as a page can read: its curves are drawn whole at once, also without
    a script. What they come to is small, unlike the Events of other Runs, which a socket brings.
    """
    events = snapshot.events
    if not procedure.proof or len(events) < limits.PAGE_EVENTS:
        return events
    rest = api.events_within(Reach(), snapshot.run.id, viewer, events[-1]["seq"])
    return chain(events, rest)


@dataclass
class Told:
    """Up to which Event, and the Events that are no points of a curve: what a page keeps of those
    that pass on their way to a story."""

    seq: int = 0
    alone: list[Mapping[str, Any]] = field(default_factory=list)
    progress: Mapping[str, Any] | None = None  # of all that tell how far it is, the last

    def passing(self, events: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        for event in events:
            self.seq = event["seq"]
            if event["kind"] == "progress":
                self.progress = event
            elif event["kind"] != "metric" or event["data"].get("step") is None:
                self.alone.append(event)
            yield event

    def packed(self, curves: Curves) -> dict[str, Any]:
        """With the curves, which the story has cut already where a Run went on."""
        events = [*self.alone, *filter(None, [self.progress])]
        return {
            "seq": self.seq,
            "events": sorted(events, key=itemgetter("seq")),
            "curves": [curve.data() for curve in curves],
        }
