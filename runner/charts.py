"""Curves as small pictures that need no script: lines in a box of 600 by 200, words around it.

The live view draws the same data finer, on a canvas: static/js/run/training/chart.js.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner.curves import Curve
from runner.wording import Wording, digits

WIDTH, HEIGHT = 600, 200
PIXELS, LETTER = 300, 7  # how wide the picture is on a phone, and a letter of a name
MOST_POINTS = 240  # of a line; each column of the picture keeps its lowest and its highest


@dataclass(frozen=True)
class Key:
    """One curve in words: what it is called and the value it has come to."""

    name: str
    value: str
    tone: str
    points: str  # of its line


@dataclass(frozen=True)
class Band:
    """A piece of the picture, from one phase's first step to the next one's."""

    name: str
    x: int
    width: int
    shaded: bool

    @property
    def named_at(self) -> str:
        """Where its name stands; nowhere if there is no room for it."""
        wide = self.width * PIXELS / WIDTH >= len(self.name) * LETTER + 8
        return f"{100 * self.x / WIDTH:.2f}%" if wide else ""


@dataclass(frozen=True)
class Chart:
    title: str
    unit: str
    keys: tuple[Key, ...]
    low: str
    high: str
    first: str
    last: str
    level: int | None = None  # the height of the threshold, where it is in sight
    level_word: str = ""
    marks: tuple[int, ...] = ()  # where a Run went on from a checkpoint
    bands: tuple[Band, ...] = ()
    over: str = ""  # the line of dots above the threshold
    tall: bool = False

    @property
    def says(self) -> str:
        """The caption in one line, for whoever cannot see the picture."""
        unit = f" ({self.unit})" if self.unit else ""
        keys = [f"{key.name} {key.value}".strip() for key in self.keys]
        return " ".join(filter(None, [self.title + unit, *keys, self.level_word]))


@dataclass(frozen=True)
class Frame:
    """From steps and values to places in the picture."""

    first: int
    last: int
    low: float
    high: float

    def x(self, step: float) -> int:
        return round(WIDTH * (step - self.first) / max(1, self.last - self.first))

    def y(self, value: float) -> int:
        return round(HEIGHT * (1 - (value - self.low) / ((self.high - self.low) or 1)))

    def line(self, curve: Curve) -> str:
        return " ".join(f"{self.x(s)},{self.y(v)}" for s, v in thinned(list(curve.points)))


def frame(curves: Iterable[Curve], level: float | None = None) -> Frame | None:
    """What holds all of them; a threshold too, unless it lies far above."""
    drawn = [list(curve.points) for curve in curves]
    values = [value for points in drawn for _, value in points]
    if not values:
        return None
    low, high = min(values), max(values)
    if level is not None and level <= high + 2 * ((high - low) or high or 1):
        low, high = min(low, level), max(high, level)
    room = (high - low) * 0.04 or abs(high) * 0.04 or 1
    below = low - room if low < 0 else max(0.0, low - room)
    steps = [points[end][0] for points in drawn if points for end in (0, -1)]
    return Frame(min(steps), max(steps), below, high + room)


def thinned(points: Sequence[tuple[int, float]]) -> Sequence[tuple[int, float]]:
    """The lowest and the highest point of each of so many pieces, in their order."""
    if len(points) <= MOST_POINTS:
        return points
    piece = math.ceil(len(points) / (MOST_POINTS / 2))
    kept = []
    for start in range(0, len(points), piece):
        part = points[start : start + piece]
        ends = {min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])}
        kept += sorted(ends)
    return kept


def chart(
    title: str,
    named: Sequence[tuple[str, str, Curve]],
    wording: Wording,
    *,
    level: float | None = None,
    level_word: str = "",
    marks: Sequence[int] = (),
    bands: Sequence[tuple[str, int]] = (),
    tall: bool = False,
    dots: bool = False,
) -> Chart | None:
    """The picture of these curves, each with its name and tone; None without a point."""
    place = frame([curve for _, _, curve in named], level)
    if place is None:
        return None
    keys = tuple(
        Key(name, wording.cell(rounded(curve.last)), tone, place.line(curve))
        for name, tone, curve in named
        if curve.steps
    )
    seen = level is not None and place.low <= level <= place.high
    over = [p for p in named[0][2].points if level is not None and p[1] > level] if dots else []
    return Chart(
        title=title,
        unit=wording.unit(named[0][2].unit),
        keys=keys,
        low=wording.number(place.low, 3),
        high=wording.number(place.high, 3),
        first=wording.number(place.first),
        last=wording.number(place.last),
        level=place.y(level) if seen and level is not None else None,
        level_word=level_word,
        marks=tuple(place.x(step) for step in marks if place.first <= step <= place.last),
        bands=banded(bands, place),
        over=" ".join(f"M{place.x(s)},{place.y(v)}h0" for s, v in thinned(over)),
        tall=tall,
    )


def rounded(value: float | None) -> float | None:
    """To five digits, as the live view has it; a whole number stays whole."""
    if value is None or float(value).is_integer():
        return value
    return digits(value, 5)


def banded(bands: Sequence[tuple[str, int]], place: Frame) -> tuple[Band, ...]:
    """Each from its first step to the first of the next one."""
    ends = [*(step for _, step in bands[1:]), place.last][: len(bands)]
    return tuple(
        Band(name, x, max(0, place.x(end) - x), index % 2 == 1)
        for index, ((name, start), end) in enumerate(zip(bands, ends, strict=True))
        for x in [max(0, place.x(start))]
    )
