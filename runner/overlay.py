"""Two trainings laid over each other: each metric once with two curves, and what sets them apart.

static/js/run/overlay.js draws the same in the browser, and follows both while they go on.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kernels.procedure import BadParameter
from kernels.procedures.andrea.configuring import config_of
from runner.api import RunView
from runner.before import joined
from runner.charts import Chart, chart
from runner.curves import Curve
from runner.panel import Panel
from runner.stored import LOSSES
from runner.training import GAUGES, readable
from runner.wording import Wording

LETTERS = ("A", "B")
NAMES = {
    "warmup": gettext_lazy("warm-up, in steps"),
    "clip": gettext_lazy("threshold of clipping"),
    "decay": gettext_lazy("weight decay"),
    "learning_rate": gettext_lazy("peak of the learning rate"),
    "floor": gettext_lazy("lowest learning rate, as a share of the peak"),
    "steps": gettext_lazy("steps"),
    "seed": gettext_lazy("seed"),
    "precision": gettext_lazy("precision"),
    "device": gettext_lazy("device"),
    "version": gettext_lazy("version"),
    "goes_on": gettext_lazy("goes on after step"),
}
NONE_AT_ZERO = {"warmup", "clip", "decay"}


@dataclass(frozen=True)
class Difference:
    name: str
    values: tuple[str, str]


@dataclass(frozen=True)
class Overlay:
    charts: tuple[Chart, ...]
    differences: tuple[Difference, ...]
    runs: tuple[tuple[str, RunView], ...]
    words: Mapping[str, Any]


def overlay(panels: list[Panel]) -> Overlay | None:
    """Of two trainings; of any other Runs there is none."""
    if len(panels) != 2 or not all(panel.training for panel in panels):
        return None
    wording = panels[0].wording
    drawn = [losses(panels, wording), *(gauge(name, panels, wording) for name in GAUGES)]
    runs = [panel.run for panel in panels if panel.run]
    return Overlay(
        charts=tuple(filter(None, drawn)),
        differences=differences(runs, wording),
        runs=tuple(zip(LETTERS, runs, strict=True)),
        words=wording.words,
    )


def losses(panels: list[Panel], wording: Wording) -> Chart | None:
    named = [
        (wording.say("overlay_smoothed", run=letter) if smooth else letter, tone, curve)
        for metric, smooth in (("loss", False), ("ema", True))
        for letter, tone, curve in pair(metric, panels, "s" if smooth else "a")
    ]
    title = wording.named("metric.loss", "loss")
    return chart(title, named, wording, tall=True) if named else None


def gauge(name: str, panels: list[Panel], wording: Wording) -> Chart | None:
    named = [
        (letter, tone, readable(curve, wording)) for letter, tone, curve in pair(name, panels, "s")
    ]
    title = wording.named(f"metric.{name}", name)
    return chart(title, named, wording) if named else None


def pair(metric: str, panels: list[Panel], tone: str) -> list[tuple[str, str, Curve]]:
    """The curves of that metric, of those that have it."""
    return [
        (letter, f"{tone}{index}", curve)
        for index, (letter, panel) in enumerate(zip(LETTERS, panels, strict=True))
        if (curve := whole(metric, panel))
    ]


def whole(metric: str, panel: Panel) -> Curve | None:
    """Of the loss, with what the Runs before told."""
    if metric in LOSSES:
        return joined(panel.story.before.curves, panel.story.curves).get(metric)
    return panel.story.curves.get(metric)


def differences(runs: list[RunView], wording: Wording) -> tuple[Difference, ...]:
    one, other = (settings_of(run) for run in runs)
    return tuple(
        Difference(
            str(NAMES.get(name, name)),
            (value_said(name, one.get(name), wording), value_said(name, other.get(name), wording)),
        )
        for name in dict.fromkeys([*NAMES, *one, *other])
        if one.get(name) != other.get(name)
    )


def settings_of(run: RunView) -> dict[str, Any]:
    """What made the Run, with presets and defaults resolved where they can be."""
    try:
        config = config_of(run.parameters)
        made = asdict(config) | {"warmup": config.warmup_steps}
    except BadParameter:
        made = dict(run.parameters)
    start = {"goes_on": run.resumes.step} if run.resumes else {}
    return made | {"device": run.device, "version": run.version} | start


def value_said(name: str, value: Any, wording: Wording) -> str:
    if name in NONE_AT_ZERO and value == 0:
        return _("none")
    return wording.cell(str(value) if isinstance(value, bool) else value)
