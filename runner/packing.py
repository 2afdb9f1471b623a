"""A Run as a page embeds it for the live view: what its row says, and what it has told.

Points become columns, a tenth of the size of their Events; static/js/run/reducer.js takes them
with `restored`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from runner.api import Snapshot
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


def packed(events: Sequence[Mapping[str, Any]], curves: Curves) -> dict[str, Any]:
    """Up to which Event, the Events that are no points of a curve, and the curves, which the
    story has cut already where a Run went on."""
    progress = max((e["seq"] for e in events if e["kind"] == "progress"), default=0)
    return {
        "seq": events[-1]["seq"] if events else 0,
        "events": [event for event in events if stands_alone(event, progress)],
        "curves": [curve.data() for curve in curves],
    }


def stands_alone(event: Mapping[str, Any], progress: int) -> bool:
    """No point of a curve; and of all that tell how far it is, the last."""
    if event["kind"] == "metric":
        return event["data"].get("step") is None
    return event["kind"] != "progress" or event["seq"] == progress
