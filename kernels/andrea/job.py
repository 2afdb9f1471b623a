"""What a training is to do, and what it begins with: looked at whole before anything is made."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernels.andrea import checkpoint
from kernels.andrea.checkpoint import Checkpoint, CheckpointError
from kernels.andrea.config import Config
from kernels.andrea.corpus import Text
from kernels.andrea.layout import parameter_count
from kernels.andrea.origin import require_same
from kernels.andrea.runfiles import RunFiles
from kernels.andrea.scoring import SAMPLE_TOKENS
from kernels.andrea.state import State
from kernels.procedure import BadParameter

WHOLE = "accepted: a whole checkpoint of this model"


@dataclass(frozen=True)
class Job:
    """One training run. Files go to `folder`; `resume` is a checkpoint to continue from."""

    config: Config
    model: str
    folder: Path
    text: Text
    version: int = 1
    resume: Path | None = None
    polish: bool = False  # continue with another corpus or schedule: archive what was
    sample_every: int = 100
    checkpoint_every: int = 100
    sample_tokens: int = SAMPLE_TOKENS

    @property
    def elsewhere(self) -> bool:
        """Whether it goes on from a checkpoint in another folder."""
        return self.resume is not None and self.resume.parent.resolve() != self.folder.resolve()


@dataclass(frozen=True)
class Start:
    """A point to go on from, and the files that belong to it."""

    checkpoint: Checkpoint
    state: State
    files: RunFiles
    card: str  # it was trained on; "" where that is not known
    tiles: Any  # the kernel choices it was trained with; None where they are not known


def read_start(job: Job, about: dict[str, Any]) -> Start | None:
    """None where a training begins anew. Looks at everything that the run will meet: checkpoint,
    state, losses and samples, there and in the output folder. Makes nothing.

    Raises BadParameter for what does not go together, or is not what a run writes.
    """
    own = RunFiles(job.folder, job.model)
    own.require_whole()
    if job.resume is None:
        require_same(own.content(), about, "output")
        return None
    try:
        point = checkpoint.load(job.resume, parameter_count(job.config))
    except CheckpointError as error:
        raise BadParameter(f"resume: {error}; {WHOLE}.") from None
    if point.step >= job.config.steps:
        raise BadParameter(
            f"steps = {job.config.steps} is not accepted: {job.resume.name} has made "
            f"{point.step} already; accepted: more than that."
        )
    files = RunFiles(job.resume.parent, job.model, key="resume").of_step(point.step)
    files.require_whole()
    if not job.polish:
        require_same(files.content(), about, "resume")
        require_same(own.content(), about, "output")
    state = files.load_state(point.step)
    if job.polish:
        state = replace(state, failures=0, sources={})
    content = files.content()
    return Start(point, state, files, content.get("card", ""), content.get("tiles"))
