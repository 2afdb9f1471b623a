"""The checkpoints that a Run keeps, and what must stand beside one for another to go on from it."""

import json
import re
import uuid
from dataclasses import dataclass
from typing import Any

from kernels.artifacts import checkpoint_step
from runner.models import RunArtifact

BESIDE = (".state.json", ".loss.json", ".samples.json")  # <model>.state.json, and so on
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # a name that leads nowhere else
_MOST_BYTES = 32 * 1024 * 1024  # of a state file: an entry a checkpoint


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that is there, with the files written with it."""

    step: int
    file: RunArtifact
    beside: tuple[RunArtifact, ...]

    def state(self) -> dict[str, Any] | None:
        """What the state file says, if it says something of this step."""
        for row in self.beside:
            if row.name.endswith(BESIDE[0]):
                content = read_json(row)
                return content if str(self.step) in content.get("checkpoints", {}) else None
        return None


def kept(run_id: uuid.UUID) -> list[Checkpoint]:
    """Those whose files are still there, latest first."""
    rows = [row for row in RunArtifact.objects.filter(run_id=run_id) if row.file]
    beside = tuple(row for row in rows if row.name.endswith(BESIDE) and _PLAIN.fullmatch(row.name))
    found = [
        Checkpoint(step, row, beside)
        for row in rows
        if (step := checkpoint_step(row.name)) is not None
    ]
    return sorted(found, key=lambda checkpoint: -checkpoint.step)


def read_json(row: RunArtifact) -> dict[str, Any]:
    """The object in that file; an empty one where there is none."""
    if row.bytes > _MOST_BYTES:
        return {}
    try:
        with row.file.open("rb") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
