"""Run a Procedure in this process and look at what it said."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.events import Artifact, Case, End, Event, Log, Metric, Table
from kernels.execution import execute
from kernels.procedure import Context, Device
from kernels.registry import get, parse


@dataclass(frozen=True)
class Said:
    events: list[Event]

    @property
    def end(self) -> End:
        ends = [event for event in self.events if isinstance(event, End)]
        assert len(ends) == 1 and self.events[-1] is ends[0]
        return ends[0]

    @property
    def cases(self) -> list[Case]:
        return [event for event in self.events if isinstance(event, Case)]

    @property
    def tables(self) -> dict[str, Table]:
        return {event.name: event for event in self.events if isinstance(event, Table)}

    @property
    def artifacts(self) -> list[Artifact]:
        return [event for event in self.events if isinstance(event, Artifact)]

    @property
    def made(self) -> dict[str, Any]:
        first = self.events[0]
        assert isinstance(first, Log) and first.note is not None
        return dict(first.note.params)

    def metric(self, name: str, series: str | None = None) -> float:
        """The last value of a metric."""
        found = [
            event.value
            for event in self.events
            if isinstance(event, Metric) and event.name == name and event.series == series
        ]
        return found[-1]


def context(name: str, folder: Path, version: int = 1, **parameters: Any) -> Context:
    return Context(Device.CPU, version, parse(get(name), parameters), folder)


def run(name: str, folder: Path, version: int = 1, **parameters: Any) -> Said:
    made = context(name, folder, version, **parameters)
    return Said(list(execute(get(name), made, sandbox="none")))
