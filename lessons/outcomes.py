"""What a step's latest Run measured, to be set beside a hypothesis."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kernels.events import Kind
from lessons.content.structure import RunSpec
from runner import api as runner

_READ_AT_MOST = 2000  # Events; what a hypothesis is about comes early
_CAME_TO_AN_END = ("passed", "failed")


@dataclass(frozen=True)
class Measured:
    """The last value of each metric of a Run that came to an end."""

    asked_at: datetime
    metrics: Mapping[str, Any]


def measured(
    person: Any, run: RunSpec, origin: runner.Origin, latest: runner.Snapshot | None
) -> Measured | None:
    """Of the person's latest finished Run on this step, mostly the `latest` one of all."""
    if latest is None:
        return None
    if latest.run.outcome in _CAME_TO_AN_END:
        return _measured(latest.run, latest.events)
    for view in runner.history(person, origin, 5):
        if view.outcome in _CAME_TO_AN_END and view.procedure == run.procedure:
            return _measured(view, runner.events_after(view.id, person, 0, _READ_AT_MOST))
    return None


def _measured(run: runner.RunView, events: Iterable[Mapping[str, Any]]) -> Measured:
    metrics = {e["data"]["name"]: e["data"]["value"] for e in events if e["kind"] == Kind.METRIC}
    return Measured(run.created_at, metrics)
