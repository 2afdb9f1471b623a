"""What a run keeps beside its checkpoints, and how a polish archives it. Needs no torch.

    <model>.loss.json      every loss of the model's life: see `history`, never archived
    <model>.samples.json   what the model wrote, with its scores
    <model>.state.json     what a resumed run needs beyond the checkpoint, by step

State is written before the checkpoint it belongs to: a kill between the two leaves an entry
without a file, which harms nothing, and never a file without its entry.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from kernels.andrea.checkpoint import sync_folder
from kernels.andrea.history import Point, line, no_constant, points
from kernels.andrea.state import (
    LOSSES_BEFORE,
    Malformed,
    State,
    require_about,
    require_content,
    require_samples,
    state_of,
)
from kernels.artifacts import naming
from kernels.procedure import BadParameter


@dataclass(frozen=True)
class RunFiles:
    """The files of a model in a folder: the live ones, or those of an archive.

    Whatever reads raises BadParameter in one sentence for what no run writes.
    """

    folder: Path
    model: str
    key: str = "output"  # the parameter that led here, for the sentence
    number: int = 0  # of the archive; 0: the live files

    def file(self, kind: str) -> Path:
        archived = f".{self.number}" if self.number and kind in MOVED else ""
        return self.folder / f"{self.model}.{kind}{archived}.json"

    # Reading

    def require_whole(self) -> None:
        """Look at every file that is there, and change nothing."""
        if content := self.content():
            self.sound("state", lambda: require_about(content))
        self.samples()
        self.losses()

    def content(self) -> dict[str, Any]:
        return self.read("state", {}, require_content)

    def samples(self) -> list[dict[str, Any]]:
        return self.read("samples", [], require_samples)

    def losses(self) -> list[Point]:
        """Of an archive those that were on file when the polish after it began."""
        found: list[Point] = self.sound("loss", lambda: points(self.file("loss")))
        if not self.number:
            return found
        archives = self.archives()
        after = archives.index(self.number) - 1  # the newest comes first
        later = replace(self, number=archives[after] if after >= 0 else 0)
        return found[: later.content().get(LOSSES_BEFORE)]

    def read(self, kind: str, default: Any, require: Any) -> Any:
        def look() -> Any:
            content = read_json(self.file(kind), default)
            require(content)
            return content

        return self.sound(kind, look)

    def sound(self, kind: str, look: Any) -> Any:
        """What `look` gives. Raises BadParameter where it finds something malformed."""
        name = self.file(kind).name
        try:
            return look()
        except Malformed as wrong:
            said = f"{name} does not hold what a run writes: {wrong}"
        except OSError as error:
            said = f"{name} cannot be read ({error.strerror})"
        raise BadParameter(f"{self.key}: {said}; accepted: the files of a run as it wrote them.")

    def of_step(self, step: int) -> "RunFiles":
        """The files that know of that step's checkpoint: the live ones, or else those of the
        latest archive that does. Raises BadParameter when none do."""
        for number in (0, *self.archives()):
            found = replace(self, number=number)
            if str(step) in found.content().get("checkpoints", {}):
                return found
        raise BadParameter(
            f"{self.key}: {self.file('state').name} says nothing of step {step}, nor does an "
            "archive of it; accepted: a checkpoint with the state file that was written with it."
        )

    def load_state(self, step: int) -> State:
        """Raises BadParameter when the file has no entry for that step."""
        entry = self.of_step(step).content()["checkpoints"][str(step)]
        return state_of(str(step), entry)

    def archives(self) -> list[int]:
        """Numbers of the archives of the state, the newest first."""
        named = re.compile(re.escape(self.model) + r"\.state\.([1-9]\d*)\.json")
        names = (path.name for path in self.folder.glob("*.json"))
        return sorted(int(found[1]) for name in names if (found := named.fullmatch(name)))[::-1]

    # Writing: only ever the live files. Everything raises OSError.

    def save_state(self, about: dict[str, Any], step: int, state: State) -> None:
        """Add the entry of `step`; `about` says what made it (configuration, corpus, versions)."""
        content = self.content() | about
        content.setdefault("checkpoints", {})[str(step)] = asdict(state)
        write_json(self.file("state"), content)

    def add_samples(self, samples: Sequence[dict[str, Any]]) -> None:
        """Append the samples, or put each in the place of one of the same step."""
        steps = {sample["step"] for sample in samples}
        kept = [old for old in self.samples() if old["step"] not in steps]
        write_json(self.file("samples"), [*kept, *samples])

    def adopt(self, other: "RunFiles", step: int) -> None:
        """Begin with what the run in another folder had come to at that step.

        Files that are here already stay as they are.
        """
        losses = [point for point in other.losses() if point[0] <= step]
        if losses and not self.file("loss").exists():
            write_text(self.file("loss"), "".join(line(*point) for point in losses))
        samples = [sample for sample in other.samples() if sample["step"] <= step]
        if samples and not self.file("samples").exists():
            write_json(self.file("samples"), samples)
        content = other.content()
        content.pop(LOSSES_BEFORE, None)  # it counted the lines of the other folder
        entries = content.get("checkpoints", {})
        before = {number: entry for number, entry in entries.items() if int(number) <= step}
        if not self.file("state").exists():
            write_json(self.file("state"), {**content, "checkpoints": before})

    def archive(self) -> int:
        """Put samples and state aside under the next free number; `.loss.json` stays.

        An archive is never overwritten. The live files restart.
        """
        number = next(n for n in count(1) if not any(self.at(n, kind).exists() for kind in MOVED))
        for kind in MOVED:
            if self.file(kind).exists():
                self.file(kind).rename(self.at(number, kind))
        sync_folder(self.folder)
        return number

    def polish(self, about: dict[str, Any], step: int, state: State) -> int:
        """Archive what was and begin anew with that entry. The number of the archive."""
        number = self.archive()
        self.save_state(about | {LOSSES_BEFORE: len(self.losses())}, step, state)
        return number

    def at(self, number: int, kind: str) -> Path:
        return replace(self, number=number).file(kind)

    def sweep(self) -> None:
        """Remove what a killed process left half-written."""
        for part in self.folder.glob(".*.part"):
            part.unlink(missing_ok=True)


MOVED = ("samples", "state")
KINDS = ("loss", *MOVED)


def read_json(path: Path, default: Any) -> Any:
    """What the file holds, of the type of `default`. Raises Malformed, OSError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=no_constant)
    except FileNotFoundError:
        return default
    except (ValueError, RecursionError):
        raise Malformed("it is not valid JSON") from None
    if not isinstance(content, type(default)):
        raise Malformed(f"it holds no {type(default).__name__}")
    return content


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False))


def write_text(path: Path, text: str) -> None:
    """A whole new file, renamed into place once it is on the disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with naming(path):
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(path.parent)
