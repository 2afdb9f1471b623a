"""The learners' Runs, in every outcome. What passed says what a recording of that Procedure says;
what did not is made up; each names itself a demonstration where it says how it was made."""

import random
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from classroom.demonstration.work import COURSE, Moment
from kernels.events import End, Kind, Note, Outcome, to_data
from lessons.content.structure import RunSpec
from runner import api as runner
from runner.api import Origin

Said = tuple[str, dict[str, Any]]
KEPT = ("case", "metric", "table")  # files are not copied, nor the ticks of progress
NAMED = "Demonstration (not executed)"
LOST = 1.41  # what dividing by BLOCK = 512 in place of N = 257 does to an output
ENDS: Mapping[Outcome, Note] = {
    Outcome.ERROR_IN_CODE: Note("end.error-in-code", {"error": "CompilationError"}),
    Outcome.OUT_OF_MEMORY: Note("end.out-of-memory"),
    Outcome.TIMED_OUT: Note("end.timed-out", {"seconds": 120}),
    Outcome.CANCELLED: Note("end.stopped", {"done": 12}),
    Outcome.INFRASTRUCTURE_FAILURE: Note("end.worker-lost"),
}
OTHERS = (Outcome.FAILED, *ENDS)


class Theatre:
    """Stages Runs; each outcome comes up again and again."""

    def __init__(self, viewer: Any, chance: random.Random) -> None:
        self.viewer, self.chance = viewer, chance
        self.turn = 0
        self.staged = 0
        self.told: dict[str, list[Said]] = {}

    def run(self, moment: Moment) -> uuid.UUID | None:
        """The Run (or Runs) of a learner on a step, before they answer. None: they ran nothing."""
        spec = moment.step.run
        if spec is None or self.chance.random() < 0.2:
            return None
        at = moment.at - timedelta(minutes=self.chance.uniform(0.5, 1.4))
        if moment.learner.fails and moment.step.id == "verdict" and moment.lesson.id == "forward":
            for back in range(5, 0, -1):
                early = at - timedelta(minutes=7 * back)
                last = self.stage(moment, spec, Outcome.FAILED, early)
            return last
        if self.chance.random() < 0.3:
            early = at - timedelta(minutes=self.chance.uniform(3, 9))
            self.stage(moment, spec, OTHERS[self.turn % len(OTHERS)], early)
            self.turn += 1
        return self.stage(moment, spec, Outcome.PASSED, at)

    def stage(self, moment: Moment, spec: RunSpec, outcome: Outcome, at: datetime) -> uuid.UUID:
        said = list(self._said(spec, outcome))
        view = runner.stage(
            moment.learner.person, spec.procedure, said, version=spec.version, device="cpu",
            origin=Origin(COURSE, moment.lesson.id, moment.step.id), at=at,
            seconds=self.chance.uniform(2, 40),
        )  # fmt: skip
        self.staged += 1
        return view.id

    def _said(self, spec: RunSpec, outcome: Outcome) -> Iterator[Said]:
        yield "log", _made(spec)
        recorded = self._recorded(spec)
        if outcome == Outcome.FAILED:
            recorded = [_failed(kind, data) for kind, data in recorded]
        elif outcome != Outcome.PASSED:
            recorded = recorded[: self.chance.randrange(1, 13)]
        yield from recorded
        verdicts = [data["verdict"] for kind, data in recorded if kind == Kind.CASE]
        passed, total = verdicts.count("passed"), len(verdicts)
        note = ENDS.get(outcome) or Note("end.cases", {"passed": passed, "total": total})
        if not verdicts and outcome in (Outcome.PASSED, Outcome.FAILED):
            note = Note(f"outcome.{outcome}")
        counts = (passed, total - passed) if verdicts else (None, None)
        yield str(Kind.OUTCOME), to_data(End(outcome, note, *counts))

    def _recorded(self, spec: RunSpec) -> list[Said]:
        """What a recording of the Procedure says; nothing where there is none."""
        key = f"{spec.procedure} {spec.version}"
        if key not in self.told:
            views = [v for v in runner.recordings(spec.procedure) if v.version == spec.version]
            events = runner.events_after(views[0].id, self.viewer, 0, 2000) if views else []
            self.told[key] = [(e["kind"], e["data"]) for e in events if e["kind"] in KEPT]
        return self.told[key]


def _made(spec: RunSpec) -> dict[str, Any]:
    params = {"procedure": spec.procedure, "version": spec.version, "device": "cpu",
              "device_name": NAMED, "interpreter": 1, "seed": 1, "sandbox": "none"}  # fmt: skip
    return {"note": {"code": "made", "params": params}, "level": "info"}


def _failed(kind: str, data: dict[str, Any]) -> Said:
    """The case as it comes out where the kernel divides by BLOCK in place of N."""
    columns = data.get("labels", {}).get("columns")
    worst = data.get("worst")
    if kind != Kind.CASE or not worst or not isinstance(columns, int) or columns != 257:
        return kind, data
    wrong = worst | {"got": worst["expected"] * LOST}
    why = {"code": "why.by-block", "params": {"factor": LOST, "block": 512, "columns": columns}}
    error = abs(worst["expected"]) * (LOST - 1)
    return kind, data | {"verdict": "failed", "worst": wrong, "max_abs_error": error, "why": why}
