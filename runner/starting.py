"""Where a child goes on from: a checkpoint copied to a folder that it may read and not write.

A second attempt of a training goes on from the last checkpoint that its Run stored. A Run that
was asked to go on from an earlier one begins with that one's.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernels.events import Note
from kernels.procedure import Procedure
from runner.checkpoints import Checkpoint, kept
from runner.claims import Claim
from runner.models import RunArtifact

log = logging.getLogger(__name__)

_PIECE = 1024 * 1024


class Damaged(Exception):
    """A file is not there, or not what was stored."""


class Gone(Exception):
    """The checkpoint that the Run was asked to go on from cannot be had."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.note = Note("end.resume-gone", {"file": file})


@dataclass(frozen=True)
class Start:
    """What the child is given on top of its Run's parameters, and what is to be said of it."""

    parameters: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


def prepare(claimed: Claim, procedure: Procedure, folder: Path) -> Start:
    """Fill `folder` with what the child goes on from, if there is such a thing. Raises Gone."""
    notes: list[Note] = []
    if procedure.checkpoints and claimed.attempt > 1:
        for found, path in fetched(kept(claimed.run_id), folder, notes):
            params: dict[str, str | int | float] = {
                "attempt": claimed.attempt,
                "step": found.step,
                "file": path.name,
            }
            notes.append(Note("log.resumed-after-restart", params))
            # Its own checkpoint: whatever it polished, it polished then.
            return Start({"resume": str(path), "polish": False}, tuple(notes))
    if claimed.attempt > 1:
        notes.append(Note("log.restarted", {"attempt": claimed.attempt}))
    if claimed.resumes is None:
        return Start({}, tuple(notes))
    asked = claimed.resumes
    there = [one for one in kept(asked.run_id) if one.file.name == asked.file]
    for _, path in fetched(there, folder, []):
        return Start({"resume": str(path)}, tuple(notes))
    raise Gone(asked.file)


def fetched(
    checkpoints: Iterable[Checkpoint], folder: Path, notes: list[Note]
) -> Iterator[tuple[Checkpoint, Path]]:
    """Each copied there as it is asked for; one whose files are damaged is noted and passed
    over."""
    for checkpoint in checkpoints:
        if checkpoint.state() is None:
            continue
        try:
            path = fetch_all(checkpoint, folder)
        except Damaged as damaged:
            log.error("Run %s: %s is damaged.", checkpoint.file.run_id, damaged)
            notes.append(Note("log.checkpoint-damaged", {"file": str(damaged)}))
        else:
            yield checkpoint, path


def fetch_all(checkpoint: Checkpoint, folder: Path) -> Path:
    """The checkpoint and the files written with it. Raises Damaged."""
    for old in folder.iterdir():
        old.unlink()
    for row in (*checkpoint.beside, checkpoint.file):
        fetch(row, folder / row.name)
    return folder / checkpoint.file.name


def fetch(row: RunArtifact, path: Path) -> None:
    """Copy the file from the storage, read only, if it is what was stored. Raises Damaged."""
    digest, size = hashlib.sha256(), 0
    try:
        with row.file.open("rb") as source, path.open("xb") as copy:
            while size <= row.bytes and (piece := source.read(_PIECE)):
                size += len(piece)
                digest.update(piece)
                copy.write(piece)
    except FileNotFoundError as missing:
        raise Damaged(row.name) from missing
    if (size, digest.hexdigest()) != (row.bytes, row.sha256):
        raise Damaged(row.name)
    path.chmod(0o444)
