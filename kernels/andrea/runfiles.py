"""What a run keeps beside its checkpoints, and how a polish archives it. Needs no torch.

    <model>.loss.json      every loss of the model's life: see `history`, never archived
    <model>.samples.json   what the model wrote, with its scores
    <model>.state.json     what a resumed run needs beyond the checkpoint, by step

State is written before the checkpoint it belongs to: a kill between the two leaves an entry
without a file, which harms nothing, and never a file without its entry.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from kernels.andrea.checkpoint import sync_folder
from kernels.andrea.history import line, points
from kernels.procedure import BadParameter


@dataclass(frozen=True)
class Source:
    """What the run remembers of one source of text."""

    ema: float | None = None  # of its loss
    pulls: int = 0  # sequences drawn from it
    epochs: float = 0.0  # tokens drawn over tokens there are
    coverage: str = "0" * 64  # hexadecimal: which 256ths of the text were drawn from


@dataclass(frozen=True)
class State:
    """The state at one checkpoint. The loss scale counts: it decides what FP16 rounds."""

    scale: float
    good: int  # updates since the scale last changed
    applied: int  # updates made: what the bias correction counts
    skipped: int  # updates left out because the gradient's norm was not finite
    failures: int = 0  # samples in a row that scored too low
    sources: dict[str, Source] = field(default_factory=dict)


@dataclass(frozen=True)
class RunFiles:
    folder: Path
    model: str

    def live(self, kind: str) -> Path:
        return self.folder / f"{self.model}.{kind}.json"

    def save_state(self, about: dict[str, Any], step: int, state: State) -> None:
        """Add the entry of `step`; `about` says what made it (configuration, corpus, versions)."""
        content = self.content()
        content |= about
        content.setdefault("checkpoints", {})[str(step)] = asdict(state)
        write_json(self.live("state"), content)

    def load_state(self, step: int) -> State:
        """Raises BadParameter when the file has no entry for that step."""
        entry = self.content().get("checkpoints", {}).get(str(step))
        if entry is None:
            raise BadParameter(
                f"resume: {self.live('state').name} says nothing of step {step}; "
                "accepted: a checkpoint with the state file that was written with it."
            )
        sources = {name: Source(**source) for name, source in entry["sources"].items()}
        return replace(State(**{**entry, "sources": {}}), sources=sources)

    def content(self) -> dict[str, Any]:
        return read_json(self.live("state"), {})

    def samples(self) -> list[dict[str, Any]]:
        return read_json(self.live("samples"), [])

    def add_sample(self, sample: dict[str, Any]) -> None:
        """Append the sample, or put it in the place of one of the same step."""
        kept = [old for old in self.samples() if old["step"] != sample["step"]]
        write_json(self.live("samples"), [*kept, sample])

    def adopt(self, other: "RunFiles", step: int) -> None:
        """Begin with what the run in another folder had come to at that step.

        Files that are here already stay as they are.
        """
        losses = [point for point in points(other.live("loss")) if point[0] <= step]
        if losses and not self.live("loss").exists():
            write_text(self.live("loss"), "".join(line(*point) for point in losses))
        samples = [sample for sample in other.samples() if sample["step"] <= step]
        if samples and not self.live("samples").exists():
            write_json(self.live("samples"), samples)
        content = other.content()
        entries = content.get("checkpoints", {})
        before = {number: entry for number, entry in entries.items() if int(number) <= step}
        if not self.live("state").exists():
            write_json(self.live("state"), {**content, "checkpoints": before})

    def archive(self) -> int:
        """Put samples and state aside under the next free number; `.loss.json` stays.

        An archive is never overwritten. The live files restart.
        """
        number = next(n for n in numbers() if not any(self.archived(n, k).exists() for k in MOVED))
        for kind in MOVED:
            if self.live(kind).exists():
                self.live(kind).rename(self.archived(number, kind))
        sync_folder(self.folder)
        return number

    def archived(self, number: int, kind: str) -> Path:
        return self.folder / f"{self.model}.{kind}.{number}.json"

    def sweep(self) -> None:
        """Remove what a killed process left half-written."""
        for part in self.folder.glob(".*.part"):
            part.unlink(missing_ok=True)


MOVED = ("samples", "state")
KINDS = ("loss", *MOVED)


def numbers() -> Iterator[int]:
    number = 1
    while True:
        yield number
        number += 1


def read_json(path: Path, default: Any) -> Any:
    """What the file holds. Raises BadParameter if it is not the JSON that this module writes."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return default
    except ValueError:
        raise BadParameter(f"{path.name} is not valid JSON; accepted: the file of a run.") from None
    if not isinstance(content, type(default)):
        raise BadParameter(f"{path.name} does not hold what a run writes.")
    return content


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1))


def write_text(path: Path, text: str) -> None:
    """A whole new file, renamed into place once it is on the disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)
