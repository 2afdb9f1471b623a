"""The panel of a Run: what a page needs to draw it, with or without a script.

Two kinds of page have one: a step, which offers to start a Procedure, and the pages of Runs.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language

from kernels.procedure import Procedure
from runner import api
from runner.api import Origin, RunView, Snapshot, UnknownProcedure
from runner.making import made
from runner.offers import Offer, offer
from runner.procedures import find
from runner.story import Story, tell
from runner.wording import Wording

EMBEDDED_EVENTS = 1500  # the socket brings the rest
ANY_RUN = uuid.UUID(int=0)
OUTCOME_SIGNS = {"passed": "✓", "failed": "✗", "error_in_code": "✗"}


@dataclass(frozen=True)
class Panel:
    procedure: Procedure
    title: str
    about: str
    wording: Wording
    story: Story
    snapshot: Snapshot | None = None
    offer: Offer | None = None
    steerable: bool = False
    level: int = 2
    gone: bool = False  # the Procedure: what it said is all there is
    made: list[str] = field(default_factory=list)

    @property
    def run(self) -> RunView | None:
        return self.snapshot.run if self.snapshot else None

    @property
    def state(self) -> str:
        return self.run.state if self.run else "blank"

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def checkpoints(self) -> bool:
        """Whether the person may ask for one, now or once it runs."""
        return self.steerable and self.procedure.checkpoints

    @property
    def checkpoint_asked(self) -> bool:
        """Asked for, and no file has come since."""
        if self.run is None or self.state != "running" or not self.run.checkpoint_asked_at:
            return False
        asked_at = self.run.checkpoint_asked_at.isoformat(timespec="milliseconds")
        return self.story.filed_at < asked_at.replace("+00:00", "Z")  # as Events are dated

    @property
    def runs_left(self) -> str:
        left = self.offer.left if self.offer else None
        return self.wording.say("runs_left", **left) if left else ""

    @property
    def key(self) -> str:
        """Tells the forms of two panels on one page apart."""
        return self.run.id.hex[:12] if self.run else "first"

    @property
    def words(self) -> Mapping[str, Any]:
        return self.wording.words

    @property
    def sign(self) -> str:
        return OUTCOME_SIGNS.get(self.run.outcome, "") if self.run else ""

    @property
    def verdict(self) -> str:
        run = self.run
        if run is None:
            return ""
        if run.state == "ended":
            return self.wording.say(f"outcome.{run.outcome}")
        if run.state == "queued":
            place = self.snapshot.queue_position if self.snapshot else None
            return self.wording.say("queue_place", place=place or 1)
        if self.story.judged:
            return ", ".join(self.counts)
        return self.wording.say("stopping" if run.stopping else "running")

    @property
    def counts(self) -> list[str]:
        story = self.story
        total = story.progress[1] if story.progress else story.judged
        left = max(0, total - story.judged)
        parts = [self.wording.say("count_passed", n=story.passed)]
        if story.failed:
            parts.append(self.wording.say("count_failed", n=story.failed))
        if left:
            parts.append(self.wording.say("count_left", n=left))
        return parts

    @property
    def said(self) -> str:
        """The sentence below the verdict."""
        run = self.run
        if run is None or self.snapshot is None:
            return ""
        if run.state == "queued":
            if wait := self.snapshot.wait_range:
                return self.wording.say("queue_range", low=wait[0], high=wait[1])
            return self.wording.say("queue_unknown")
        if run.state == "running":
            return self.story.doing
        advice = self.wording.words.get(f"advice.{run.outcome}", "")
        ended = self.wording.note(run.note or {"code": f"outcome.{run.outcome}"})
        return " ".join(filter(None, [ended, str(advice)]))

    @property
    def elapsed(self) -> str:
        seconds = self.run.elapsed if self.run else None
        return "" if seconds is None else self.wording.seconds(seconds)

    @property
    def grid_classes(self) -> str:
        """Classes in place of style attributes, which the page's policy refuses."""
        if (grid := self.procedure.grid) is None:
            return ""
        return f"cols-{len(grid.columns) * len(grid.slots)} slots-{len(grid.slots)}"

    @property
    def live(self) -> dict[str, Any] | None:
        """The Run as the live view knows it; frames of the socket update the same fields."""
        if self.snapshot is None:
            return None
        run = self.snapshot.run
        return {
            "id": str(run.id),
            "state": run.state,
            "outcome": run.outcome,
            "note": run.note,
            "device": run.device,
            "stopping": run.stopping,
            "checkpoint_after": run.last_seq if self.checkpoint_asked else None,
            "recording": run.is_recording,
            "steerable": self.steerable,
            "elapsed": (timezone.now() - run.started_at).total_seconds() if run.started_at else 0,
            "duration": run.elapsed,
            "queue_position": self.snapshot.queue_position,
            "wait": self.snapshot.wait_range,
            "last_seq": run.last_seq,
        }

    @property
    def data(self) -> dict[str, Any]:
        """What the live view starts from."""
        grid = self.procedure.grid
        return {
            "run": self.live,
            "events": self.snapshot.events[:EMBEDDED_EVENTS] if self.snapshot else [],
            "grid": grid and {"rows": grid.rows, "columns": grid.columns, "slots": grid.slots},
        }


def step_panel(
    person: Any, name: str, origin: Origin, action: str, *, locked: bool = False
) -> Panel:
    """The panel of a step: its latest Run, if it has one, and what can be started."""
    procedure = find(name)
    latest = api.history(person, origin, 1) if person.is_authenticated else []
    found = next((run for run in latest if run.procedure == name), None)
    snapshot = api.snapshot(found.id, person) if found and not locked else None
    offered = offer(person, procedure, action, locked=locked, has_run=found is not None)
    return draw(procedure, snapshot, offered, steerable=True)


def run_panel(snapshot: Snapshot, viewer: Any, level: int = 1) -> Panel:
    """The panel of a Run on a page of its own, also of a Procedure that is no longer there."""
    steerable = api.may_steer(viewer, snapshot.run)
    name, gone = snapshot.run.procedure, False
    try:
        procedure = find(name)
    except UnknownProcedure:
        procedure, gone = Procedure(name, entry=""), True
    return draw(procedure, snapshot, None, steerable=steerable, level=level, gone=gone)


def draw(
    procedure: Procedure,
    snapshot: Snapshot | None,
    offered: Offer | None,
    *,
    steerable: bool,
    level: int = 2,
    gone: bool = False,
) -> Panel:
    wording = Wording(language := get_language() or "en", api.messages(language))
    return Panel(
        procedure=procedure,
        title=title(procedure.name, wording),
        about=wording.named(f"procedure.{procedure.name}.about", ""),
        wording=wording,
        story=tell(snapshot.events if snapshot else [], procedure.grid, wording),
        snapshot=snapshot,
        offer=offered,
        steerable=steerable,
        level=level,
        gone=gone,
        made=made(snapshot.run.made, wording) if snapshot else [],
    )


def title(name: str, wording: Wording) -> str:
    return wording.named(f"procedure.{name}.title", name)


def shared_data() -> dict[str, Any]:
    """What every panel of a page shares: words, messages and addresses."""
    language = get_language() or "en"
    return {
        "language": language,
        "words": Wording(language, {}).words,
        "messages": api.messages(language),
        "run_url": reverse("runner:run", args=[ANY_RUN]),
        "any_run": str(ANY_RUN),
        "socket": f"/ws/runs/{ANY_RUN}/",
        "plot": plot_files(),
    }


@cache
def plot_files() -> dict[str, str]:
    return {
        "script": static("vendor/uplot/uPlot.iife.min.js"),
        "style": static("vendor/uplot/uPlot.min.css"),
    }
