"""The learning rate over a run: its curve, and its value at the steps that matter."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from kernels.andrea.config import Config
from kernels.andrea.schedule import learning_rate
from lessons.calculators import models
from lessons.calculators.entries import Entry, Refused
from lessons.numbers import show_number, show_quantity

MOST_STEPS = 10_000_000
WIDE, HIGH = 1000, 300  # of the drawing; its labels stand beside it
POINTS = 240  # of the curve; a few more where it climbs
CLIMBING = 12

ENTRIES = (
    Entry("steps", gettext_lazy("Steps T"), "200000", high=MOST_STEPS),
    Entry(
        "warmup",
        gettext_lazy("Warm-up steps"),
        low=0,
        high=MOST_STEPS,
        optional=True,
    ),
    Entry("peak", gettext_lazy("Peak"), "3e-4", low=1e-9, high=1, whole=False),
    Entry(
        "floor", gettext_lazy("Floor, as a share of the peak"), "0.1", low=0, high=1, whole=False
    ),
    Entry(
        "at",
        gettext_lazy("A step t to look at"),
        low=0,
        high=MOST_STEPS,
        optional=True,
        hint=gettext_lazy("from 0 to T − 1"),
    ),
)


@dataclass(frozen=True)
class Row:
    place: str
    step: str
    rate: str
    share: str
    asked: bool = False


@dataclass(frozen=True)
class Schedule:
    sentence: str
    rows: tuple[Row, ...]
    curve: str  # points of the polyline
    wave: str  # the same without warm-up
    dot: tuple[str, str] | None  # where the step asked for lies
    top: str
    steps: int
    last: str
    wide: int = WIDE
    high: int = HIGH


def compute(values: Mapping[str, Any], language: str) -> Schedule:
    """Raises Refused where warm-up or the step asked for lies outside the run."""
    config = config_of(values, language)
    asked = values["at"]
    highest = max(range_around(config), key=lambda t: learning_rate(config, t))
    return Schedule(
        sentence=sentence(config, highest, language),
        rows=tuple(rows(config, highest, asked, language)),
        curve=polyline(config, config),
        wave=polyline(without_warmup(config), config),
        dot=None if asked is None else point(config, asked, learning_rate(config, asked)),
        top=show_number(config.learning_rate, language),
        steps=config.steps,
        last=show_number(config.steps, language),
    )


def hints(values: Mapping[str, Any], language: str) -> dict[str, str]:
    steps = values.get("steps")
    return {"warmup": models.empty(Config(steps=steps).warmup_steps, language)} if steps else {}


def config_of(values: Mapping[str, Any], language: str) -> Config:
    steps, warmup, asked = values["steps"], values["warmup"], values["at"]
    if warmup is not None and warmup > steps:
        raise Refused("warmup", _("The warm-up is longer than the run: the peak never comes."))
    if asked is not None and asked >= steps:
        last = show_number(steps - 1, language)
        raise Refused("at", _("The last step of this run is t = %(last)s.") % {"last": last})
    return Config(steps=steps, warmup=warmup, learning_rate=values["peak"], floor=values["floor"])


def without_warmup(config: Config) -> Config:
    return Config(
        steps=config.steps, warmup=0, learning_rate=config.learning_rate, floor=config.floor
    )


def range_around(config: Config) -> Iterable[int]:
    """Steps among which the highest rate is: the end of the warm-up, or a little before it
    where the wave already falls faster than the warm-up rises."""
    end = max(config.warmup_steps - 1, 0)
    return sampled(min(end, config.steps - 1), POINTS)


def sampled(last: int, points: int) -> list[int]:
    """Whole steps from 0 to `last`, both included, as even as they can be."""
    return sorted({last * n // points for n in range(points + 1)})


def rows(config: Config, highest: int, asked: int | None, language: str) -> Iterable[Row]:
    last = config.steps - 1
    places = {
        pgettext("calculator", "first step"): 0,
        pgettext("calculator", "highest"): highest,
        pgettext("calculator", "a quarter of the way"): config.steps // 4,
        pgettext("calculator", "half-way"): config.steps // 2,
        pgettext("calculator", "three quarters"): 3 * config.steps // 4,
        pgettext("calculator", "last step"): last,
    }
    found = [(min(step, last), place, False) for place, step in places.items()]
    if asked is not None:
        found.append((asked, pgettext("calculator", "asked for"), True))
    for step, place, is_asked in sorted(found, key=lambda item: item[0]):
        rate = learning_rate(config, step)
        yield Row(
            place=place,
            step=show_number(step, language),
            rate=show_number(float(f"{rate:.6g}"), language),
            share=show_quantity(100 * rate / config.learning_rate, "percent", language, 2),
            asked=is_asked,
        )


def sentence(config: Config, highest: int, language: str) -> str:
    rate = learning_rate(config, highest)
    return _(
        "Steps: %(steps)s, of them warm-up: %(warmup)s. The rate is highest at t = %(t)s: "
        "%(rate)s, which is %(share)s of the peak."
    ) % {
        "warmup": show_number(config.warmup_steps, language),
        "steps": show_number(config.steps, language),
        "t": show_number(highest, language),
        "rate": show_number(float(f"{rate:.6g}"), language),
        "share": show_quantity(100 * rate / config.learning_rate, "percent", language, 2),
    }


def polyline(config: Config, frame: Config) -> str:
    """The curve of one schedule in the frame of another; every corner of it is a point."""
    last = config.steps - 1
    corner = min(max(config.warmup_steps - 1, 0), last)
    steps = sorted({*sampled(last, POINTS), *sampled(corner, CLIMBING)})
    return " ".join(",".join(point(frame, t, learning_rate(config, t))) for t in steps)


def point(frame: Config, step: int, rate: float) -> tuple[str, str]:
    x = WIDE * step / max(frame.steps - 1, 1)
    return f"{x:.2f}", f"{HIGH - HIGH * rate / frame.learning_rate:.2f}"
