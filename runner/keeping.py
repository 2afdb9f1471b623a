"""Which checkpoints of a training are kept: the newest three, and the best so far. And of whose:
those of a person's newest trainings, or many a long one would fill the disk.

The best is the one where the smoothed loss, which the training tells just before, is lowest.
"""

import math
import uuid
from typing import Any

from kernels.artifacts import checkpoint_step
from kernels.events import Kind
from runner import limits
from runner.checkpoints import kept
from runner.claims import Claim
from runner.files import discard
from runner.models import Run, RunArtifact, State, StoredEvent

NEWEST = 3
MEASURE = "ema"


class Keeper:
    """Hears the smoothed loss, is given each checkpoint, and gives back those to let go."""

    def __init__(self) -> None:
        self.rows: dict[int, RunArtifact] = {}
        self.measured: dict[int, float] = {}  # at each of their steps
        self.now: tuple[int, float] | None = None

    def remember(self, run_id: uuid.UUID) -> None:
        """Begin with what earlier attempts of the Run kept."""
        for checkpoint in kept(run_id):
            self.rows[checkpoint.step] = checkpoint.file
        metrics = StoredEvent.objects.filter(run_id=run_id, kind=Kind.METRIC)
        for data in metrics.filter(data__name=MEASURE).values_list("data", flat=True):
            if data.get("step") in self.rows:
                self.measured[data["step"]] = number(data)

    def hear(self, data: dict[str, Any]) -> None:
        """A Metric of the Run."""
        if data.get("name") == MEASURE and isinstance(data.get("step"), int):
            self.now = data["step"], number(data)

    def add(self, row: RunArtifact) -> list[RunArtifact]:
        """Keep this file, if it is a checkpoint; rows without files for those let go."""
        step = checkpoint_step(row.name)
        if step is None:
            return []
        self.rows[step] = row
        if self.now and self.now[0] == step:
            self.measured[step] = self.now[1]
        stay = {*sorted(self.rows)[-NEWEST:], self.best()}
        return [let_go(self.rows.pop(old)) for old in sorted(self.rows) if old not in stay]

    def best(self) -> int:
        return min(self.rows, key=lambda step: (self.measured.get(step, math.inf), -step))


def let_go(row: RunArtifact) -> RunArtifact:
    """What is left of a file: its name, its size, and no more."""
    return RunArtifact(
        run_id=row.run_id,
        name=row.name,
        media=row.media,
        bytes=row.bytes,
        sha256=row.sha256,
        file="",
    )


def make_room(claimed: Claim) -> None:
    """Let go the checkpoints of this person's older trainings, but for one it goes on from."""
    owner = Run.objects.values_list("owner_id", flat=True).filter(id=claimed.run_id).first()
    if owner is None:
        return
    trainings = Run.objects.filter(owner_id=owner, procedure=claimed.procedure, state=State.ENDED)
    if claimed.resumes:
        trainings = trainings.exclude(id=claimed.resumes.run_id)
    older = trainings.order_by("-created_at").values_list("id", flat=True)[limits.TRAININGS_KEPT :]
    rows = RunArtifact.objects.filter(run_id__in=list(older)).exclude(file="")
    gone = {row.pk: row.file.name for row in rows if checkpoint_step(row.name) is not None}
    RunArtifact.objects.filter(pk__in=gone).update(file="")
    discard(name for name in gone.values() if name)


def number(data: dict[str, Any]) -> float:
    value = data.get("value")
    return float(value) if isinstance(value, int | float) else math.inf
