"""A training Run in words and small pictures: what its page shows with or without a script.

static/js/run/training/ says the same in the browser; a test holds both together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kernels.andrea.scoring import LOWEST_PASS, WEIGHTS
from kernels.artifacts import checkpoint_step
from runner.api import ArtifactView
from runner.before import joined
from runner.charts import Chart, chart
from runner.curves import Curve, Phases, following
from runner.story import Story
from runner.wording import Wording, digits, phase

# In this order, where they are told. The norm has its threshold, the power its limit.
GAUGES = (
    "learning-rate", "norm", "loss-scale", "tokens-per-second", "memory", "gpu-use", "gpu-power",
    "gpu-temperature", "host-load",
)  # fmt: skip
BYTES = {"B", "bytes"}
MEGA = 1e6


@dataclass(frozen=True)
class Checkpoint:
    step: int
    name: str
    size: str
    kept: bool
    best: bool
    label: str
    loss: str  # the sentence of its smoothed loss, or ""


@dataclass(frozen=True)
class Part:
    """One of the four parts of a score, as a piece of its bar."""

    tone: str
    said: str
    x: int
    width: str  # what was scored
    room: int  # what could have been


@dataclass(frozen=True)
class SampleView:
    label: str
    verdict: str  # a sentence, or "" where nothing was scored
    passed: bool
    parts: tuple[Part, ...]
    text: str


@dataclass(frozen=True)
class Training:
    loss: Chart | None
    gauges: tuple[Chart, ...]
    phases: tuple[tuple[str, str], ...]
    phases_hint: str
    marks: tuple[str, ...]
    clipped: str
    telemetry: str
    checkpoints: tuple[Checkpoint, ...]
    samples: tuple[SampleView, ...]
    lowest: int = round(LOWEST_PASS)

    @property
    def scored(self) -> bool:
        return any(sample.verdict for sample in self.samples)

    @property
    def shown(self) -> list[Checkpoint]:
        """The checkpoints with something to tell: those that are kept, and the best."""
        return [c for c in self.checkpoints if c.kept or c.best]

    @property
    def let_go(self) -> list[Checkpoint]:
        return [c for c in self.checkpoints if not (c.kept or c.best)]


def look(story: Story, files: Sequence[ArtifactView], wording: Wording) -> Training:
    kept = {file.name: file.kept for file in files}
    marks = [mark.step for mark in story.marks]
    return Training(
        loss=loss_chart(story, marks, wording),
        gauges=tuple(filter(None, (gauge(name, story, marks, wording) for name in GAUGES))),
        phases=phases(story, wording),
        phases_hint=wording.say("phases_hint") if whole_phases(story) else "",
        marks=tuple(
            wording.say(f"mark_{m.kind}", step=m.step, file=m.file, attempt=m.attempt)
            for m in story.marks
        ),
        clipped=clipped(story, wording),
        telemetry=wording.named("log.andrea.no-telemetry", "") if story.no_telemetry else "",
        checkpoints=checkpoints(story, kept, wording),
        samples=tuple(sample(data, wording) for data in story.samples),
    )


def loss_chart(story: Story, marks: list[int], wording: Wording) -> Chart | None:
    whole = joined(story.before.curves, story.curves)
    raw, smooth = (whole.get(name) or Curve(name) for name in ("loss", "ema"))
    return chart(
        wording.named("metric.loss", "loss"),
        [
            (wording.say("each_step"), "raw", raw),
            (wording.say("smoothed"), "ema", smooth),
        ],
        wording,
        marks=marks,
        bands=[(phase(name, wording), step) for name, step in whole_phases(story)],
        tall=True,
    )


def gauge(name: str, story: Story, marks: list[int], wording: Wording) -> Chart | None:
    if (curve := story.curves.get(name)) is None:
        return None
    level = level_of(name, story)
    word = wording.say(f"level_{name}", level=level) if level else ""
    if name == "learning-rate" and (warm := story.schedule.get("warmup")):
        word = wording.say("warm_up", step=warm)
    return chart(
        wording.named(f"metric.{name}", name),
        [("", "s0", readable(curve, wording))],
        wording,
        level=level,
        level_word=word,
        marks=marks,
        dots=name == "norm",
    )


def readable(curve: Curve, wording: Wording) -> Curve:
    """Bytes as megabytes: nine digits cannot be compared at a glance."""
    if curve.unit not in BYTES:
        return curve
    values = [None if value is None else value / MEGA for value in curve.values]
    return replace(curve, unit=wording.say("megabytes"), values=values)


def level_of(name: str, story: Story) -> float | None:
    """The line that a gauge is read against."""
    if name == "norm":
        return story.schedule.get("clip") or None
    return story.power_limit if name == "gpu-power" else None


def phases(story: Story, wording: Wording) -> tuple[tuple[str, str], ...]:
    return tuple(
        (phase(name, wording), wording.say("from_step", step=step))
        for name, step in whole_phases(story)
    )


def whole_phases(story: Story) -> Phases:
    """Those of the Runs that it goes on from as well."""
    return following(story.before.phases, story.phases)


def clipped(story: Story, wording: Wording) -> str:
    """In words how often the norm was above the threshold, of the steps that told it."""
    norm, clip = story.curves.get("norm"), story.schedule.get("clip")
    if norm is None or clip is None:
        return ""
    if not clip:
        return wording.say("no_clipping")
    over = sum(value > clip for _, value in norm.points)
    loss = story.curves.get("loss")
    every = loss is None or len(loss.steps) <= len(norm.steps)
    word = "clipped" if every else "clipped_of_told"
    return wording.say(word, over=over, n=len(norm.steps))


def checkpoints(story: Story, kept: Mapping[str, bool], wording: Wording) -> tuple[Checkpoint, ...]:
    """Every checkpoint by step; the best has the lowest smoothed loss, the later of two. That is
    the one that the worker keeps: see runner/keeping.py."""
    smooth = story.curves.get("ema")
    found: dict[int, dict[str, Any]] = {}
    for file in story.files:
        if (step := checkpoint_step(file["name"])) is not None:
            found[step] = file
    losses = {step: smooth.at(step) if smooth else None for step in found}
    known = {step: loss for step, loss in losses.items() if loss is not None}
    best = min(known, key=lambda step: (known[step], -step), default=None)
    return tuple(
        Checkpoint(
            step=step,
            name=found[step]["name"],
            size=size(found[step]["bytes"], wording),
            kept=kept.get(found[step]["name"], False),
            best=step == best,
            label=wording.say("step", step=step),
            loss=wording.say("smoothed_there", loss=digits(known[step], 5))
            if step in known
            else "",
        )
        for step in sorted(found)
    )


def size(count: int, wording: Wording) -> str:
    return f"{wording.number(digits(count / MEGA, 4))} {wording.say('megabytes')}"


def sample(data: Mapping[str, Any], wording: Wording) -> SampleView:
    scores = data.get("scores") or {}
    total = scores.get("score")
    passed = total is not None and total >= LOWEST_PASS
    verdict = ""
    if total is not None:
        word = "score_passes" if passed else "score_fails"
        verdict = wording.say(word, score=digits(total, 3), lowest=LOWEST_PASS)
    return SampleView(
        label=wording.say("step", step=data["step"]),
        verdict=verdict,
        passed=passed,
        parts=parts(scores, wording) if total is not None else (),
        text=data["text"],
    )


def parts(scores: Mapping[str, float], wording: Wording) -> tuple[Part, ...]:
    """The four parts side by side, each in the room that its weight gives it."""
    found, start = [], 0
    for index, (name, weight) in enumerate(WEIGHTS.items()):
        points = weight * scores.get(name, 0.0)
        said = wording.say(
            "score_part",
            name=wording.named(f"metric.{name}", name),
            points=digits(points, 3),
            weight=weight,
        )
        found.append(Part(f"p{index}", said, start, f"{points:.2f}", weight))
        start += weight
    return tuple(found)


def scoring() -> dict[str, Any]:
    """What the live view must know to draw a score."""
    return {"weights": list(WEIGHTS.items()), "lowest": LOWEST_PASS}
