"""The panel of a Run: what a page needs to draw it, with or without a script.

Two kinds of page have one: a step, which offers to start a Procedure, and the pages of Runs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.utils.translation import get_language

from kernels.procedure import Procedure
from runner import api
from runner.api import Origin, RunView, Snapshot, UnknownProcedure
from runner.before import before
from runner.cases import Bank, bank_columns, banks
from runner.curves import Earlier
from runner.making import made
from runner.offers import Offer, offer
from runner.packing import Told, as_data, events_of
from runner.procedures import find
from runner.story import Story, tell
from runner.training import SampleView, Training, look, sample
from runner.wording import Wording

OUTCOME_SIGNS = {"passed": "✓", "failed": "✗", "error_in_code": "✗"}


@dataclass(frozen=True)
class Panel:
    """Once drawn it does not change; what is asked of it more than once is made once."""

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
    told: Told = field(default_factory=Told)

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
    def provable(self) -> bool:
        """Whether the person may have it proved that stopping it changes nothing."""
        return self.steerable and self.trains

    @property
    def trains(self) -> bool:
        """Whether it trains a language model: what can be resumed has a proof that it can."""
        return bool(self.procedure.proof)

    @cached_property
    def training(self) -> Training | None:
        """The Run as a training, where it is one and has told of itself."""
        if self.snapshot is None or not self.trains:
            return None
        return look(self.story, self.snapshot.run.artifacts, self.wording)

    @property
    def checkpoint_asked(self) -> bool:
        """Asked for, and no file has come since."""
        if self.run is None or self.state != "running" or not self.run.checkpoint_asked_at:
            return False
        asked_at = self.run.checkpoint_asked_at.isoformat(timespec="milliseconds")
        return self.story.filed_at < asked_at.replace("+00:00", "Z")  # as Events are dated

    @property
    def samples(self) -> list[SampleView]:
        """What a Run that is no training wrote."""
        return [sample(data, self.wording) for data in self.story.samples]

    @property
    def stop_word(self) -> str:
        return self.wording.say("stop_save" if self.trains else "stop")

    @property
    def goes_on(self) -> str:
        start = self.run.resumes if self.run else None
        return self.wording.say("continues", step=start.step) if start else ""

    @property
    def cut_short(self) -> str:
        """Where the Run told more than a page is drawn from; a script fetches the rest."""
        shown, last = self.told.seq, self.run.last_seq if self.run else 0
        return self.wording.say("cut_short", shown=shown, total=last) if shown < last else ""

    @property
    def let_go(self) -> str:
        count = len(self.training.let_go) if self.training else 0
        return self.wording.say("let_go", n=count) if count else ""

    @property
    def longer(self) -> int:
        """Up to which step a Run goes that resumes this one, unless told otherwise."""
        done, total = self.story.progress or (0, 0)
        return total if done < total else 2 * total

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
        if self.training and self.story.progress and not run.stopping:
            done, total = self.story.progress
            return self.wording.say("step_of", done=done, total=total)
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
        return elapsed(self.run, self.wording) if self.run else ""

    @property
    def banks(self) -> list[Bank]:
        grid = self.procedure.grid
        return banks(grid, self.story.rows, self.wording) if grid else []

    @property
    def grid_classes(self) -> str:
        """Classes in place of style attributes, which the page's policy refuses."""
        if (grid := self.procedure.grid) is None:
            return ""
        return f"cols-{bank_columns(grid) * len(grid.slots)} slots-{len(grid.slots)}"

    @property
    def data(self) -> dict[str, Any]:
        """What the live view starts from."""
        grid = self.procedure.grid
        return {
            "run": self.snapshot and as_data(self.snapshot, self.steerable, self.checkpoint_asked),
            "told": self.told.packed(self.story.curves),
            "before": {
                "whole": self.story.before.is_whole,
                "curves": [curve.data() for curve in self.story.before.curves],
                "phases": [{"phase": name, "step": at} for name, at in self.story.before.phases],
            },
            "grid": grid
            and {
                "rows": grid.rows,
                "columns": grid.columns,
                "slots": grid.slots,
                "bank": bank_columns(grid),
            },
            "training": self.trains,
        }


def step_panel(
    person: Any, name: str, origin: Origin, action: str, *, locked: bool = False
) -> Panel:
    """The panel of a step: its latest Run, if it has one, and what can be started."""
    procedure = find(name)
    found = api.latest(person, origin, name) if person.is_authenticated else None
    offered = offer(person, procedure, action, locked=locked)
    if found is None or locked:
        return draw(procedure, None, offered, [], Earlier(), steerable=True)
    events, earlier = events_of(procedure, found, person), before(found.run, person)
    return draw(procedure, found, offered, events, earlier, steerable=True)


def run_panel(snapshot: Snapshot, viewer: Any, level: int = 1) -> Panel:
    """The panel of a Run on a page of its own, also of a Procedure that is no longer there."""
    steerable = api.may_steer(viewer, snapshot.run)
    name, gone = snapshot.run.procedure, False
    try:
        procedure = find(name)
    except UnknownProcedure:
        procedure, gone = Procedure(name, entry=""), True
    events, earlier = events_of(procedure, snapshot, viewer), before(snapshot.run, viewer)
    return draw(
        procedure, snapshot, None, events, earlier, steerable=steerable, level=level, gone=gone
    )


def draw(
    procedure: Procedure,
    snapshot: Snapshot | None,
    offered: Offer | None,
    events: Iterable[Mapping[str, Any]],
    earlier: Earlier,
    *,
    steerable: bool,
    level: int = 2,
    gone: bool = False,
) -> Panel:
    wording = Wording(language := get_language() or "en", api.messages(language))
    told = Told()
    story = tell(told.passing(events), procedure.grid, wording)
    story.before = earlier
    return Panel(
        procedure=procedure,
        title=title(procedure.name, wording),
        about=wording.named(f"procedure.{procedure.name}.about", ""),
        wording=wording,
        story=story,
        snapshot=snapshot,
        offer=offered,
        steerable=steerable,
        level=level,
        gone=gone,
        made=made(snapshot.run.made, wording) if snapshot else [],
        told=told,
    )


def elapsed(run: RunView, wording: Wording) -> str:
    """What it took, from its first attempt on; and the last one, where that is not the first."""
    whole, last = run.elapsed, run.attempt_elapsed
    if whole is None or last is None:
        return ""
    if run.attempt < 2:
        return wording.seconds(whole)
    seconds = wording.seconds(last)
    return wording.say(
        "elapsed_attempt", whole=wording.seconds(whole), seconds=seconds, attempt=run.attempt
    )


def title(name: str, wording: Wording) -> str:
    return wording.named(f"procedure.{name}.title", name)
