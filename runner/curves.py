"""The curves of a Run: points by step, cut back where a Run went on from a checkpoint."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Curve:
    """One series of one metric. A value that is no number (nan, inf) is a gap."""

    name: str
    series: str = ""
    unit: str | None = None
    steps: list[int] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)

    def add(self, step: int, value: Any) -> None:
        self.steps.append(step)
        self.values.append(value if isinstance(value, int | float) else None)

    def cut(self, after: int) -> None:
        """Forget the points beyond that step: they are made once more."""
        keep = bisect_right(self.steps, after)
        del self.steps[keep:], self.values[keep:]

    def at(self, step: int) -> float | None:
        """The value there, or the last one before."""
        place = bisect_right(self.steps, step)
        return self.values[place - 1] if place else None

    @property
    def last(self) -> float | None:
        return self.values[-1] if self.values else None

    @property
    def points(self) -> Iterator[tuple[int, float]]:
        return (
            (step, value)
            for step, value in zip(self.steps, self.values, strict=True)
            if value is not None
        )

    def data(self) -> dict[str, Any]:
        """As the live view takes it, far smaller than the Events it was made of."""
        return {
            "name": self.name,
            "series": self.series,
            "unit": self.unit,
            "steps": self.steps,
            "values": self.values,
        }


Phases = list[tuple[str, int]]  # each phase of the loss with its first step


class Curves:
    """Every curve of a Run, in the order of their first points."""

    def __init__(self) -> None:
        self.all: dict[tuple[str, str], Curve] = {}

    def add(self, data: Mapping[str, Any]) -> None:
        """One Metric with a step."""
        key = data["name"], data.get("series") or ""
        if key not in self.all:
            self.all[key] = Curve(*key, data.get("unit"))
        self.all[key].add(data["step"], data["value"])

    def cut(self, after: int) -> None:
        for curve in self.all.values():
            curve.cut(after)
        self.all = {key: curve for key, curve in self.all.items() if curve.steps}

    def get(self, name: str, series: str = "") -> Curve | None:
        return self.all.get((name, series))

    def __iter__(self) -> Iterator[Curve]:
        return iter(self.all.values())


@dataclass
class Earlier:
    """What the Runs that a Run goes on from told of the loss, up to where it starts."""

    curves: Curves = field(default_factory=Curves)
    phases: Phases = field(default_factory=list)
    is_whole: bool = True  # False: they told more than a page reads

    def cut(self, after: int) -> None:
        self.curves.cut(after)
        self.phases = [phase for phase in self.phases if phase[1] <= after]


def following(first: Phases, then: Phases) -> Phases:
    """Both, one after the other. Who goes on says once more in which phase it is: that is none
    of its own."""
    same = bool(first and then) and first[-1][0] == then[0][0]
    return [*first, *then[same:]]
