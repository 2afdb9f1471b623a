"""Taking a file that a child wrote into the storage. The child's word is not believed."""

import hashlib
import logging
import os
import re
import stat
import tempfile
import uuid
from collections.abc import Iterable
from contextlib import suppress
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import DatabaseError

from kernels.artifacts import checkpoint_step
from runner import limits
from runner.claims import Claim
from runner.models import RunArtifact

log = logging.getLogger(__name__)

_SAFE = re.compile(r"[^A-Za-z0-9._-]+")
_PIECE = 1024 * 1024
LOG_NAME = "log.txt"  # all that the child printed, up to a limit
_MEDIA = re.compile(r"[a-z]+/[a-z0-9.+-]+")


class Refused(Exception):
    """The file is missing, too large, one too many, or no plain file; the code says which."""


class Files:
    """The Artifacts of one Run, as its worker takes them in, from a folder opened before its
    child could put another in that place.

    A training announces the same names again and again: the last file of a name counts, and a
    checkpoint that was taken is removed from the child's folder.
    """

    def __init__(
        self, claim: Claim, outputs: Path, copies: Path | None = None, *, training: bool = False
    ) -> None:
        self.claim = claim
        self.copies = copies
        self.training = training
        self.folder = os.open(outputs, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        self.sizes: dict[str, int] = {}  # of what is kept, by name
        self.stored = 0

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.folder)

    def remember(self) -> None:
        """What earlier attempts stored and this one goes on with."""
        rows = RunArtifact.objects.filter(run_id=self.claim.run_id).exclude(name=LOG_NAME)
        self.sizes = {row.name: row.bytes for row in rows if row.file}

    def take(self, data: dict[str, Any]) -> tuple[dict[str, Any], RunArtifact]:
        """Store the file an Artifact Event names; the Event's data as measured, and its row."""
        name, media = str(data.get("name", "")), str(data.get("media", ""))
        if name == LOG_NAME or (name in self.sizes and not self.training):
            raise Refused("twice")
        others = sum(size for other, size in self.sizes.items() if other != name)
        if name not in self.sizes and len(self.sizes) >= limits.MAX_ARTIFACTS:
            raise Refused("too-many")
        room = limits.artifact_bytes(training=self.training) - others
        with (
            open_inside(self.folder, name) as source,
            tempfile.TemporaryFile(dir=self.copies) as copy,
        ):
            # Copied first: the child could write on while it is measured.
            size = copy_at_most(source, copy, room)
            row = self.store(copy, name, media, size)
        self.sizes[name] = size
        if self.training and checkpoint_step(name) is not None:
            with suppress(OSError):  # only to spare the disk
                os.unlink(name, dir_fd=self.folder)
        return row.view().data(), row

    def let_go(self, name: str) -> None:
        """It no longer counts."""
        self.sizes.pop(name, None)

    def keep_log(self, file: Path) -> RunArtifact:
        with file.open("rb") as source:
            return self.store(source, LOG_NAME, "text/plain", file.stat().st_size)

    def store(
        self, source: BufferedReader | BufferedRandom, name: str, media: str, size: int
    ) -> RunArtifact:
        source.seek(0)
        digest = hashlib.file_digest(source, "sha256").hexdigest()
        source.seek(0)
        safe = _SAFE.sub("-", name).strip(".-") or "file"
        self.stored += 1
        file = f"{self.claim.attempt}-{self.stored}-{safe[-100:]}"
        path = f"{folder_of(self.claim.run_id)}/{file}"
        return RunArtifact(
            run_id=self.claim.run_id,
            name=name,
            media=media if _MEDIA.fullmatch(media) else "application/octet-stream",
            bytes=size,
            sha256=digest,
            file=default_storage.save(path, File(source)),
        )


def folder_of(run_id: uuid.UUID) -> str:
    return f"runs/{run_id}"


def discard(names: Iterable[str]) -> None:
    """Delete these from the storage. What it refuses is logged and stays; the rest goes."""
    for name in names:
        try:
            default_storage.delete(name)
        except Exception:  # each storage has errors of its own
            log.exception("The file %s could not be deleted and stays in the storage.", name)


def discard_all(run_id: uuid.UUID) -> None:
    """Every file of that Run, recorded or not."""
    if names := list_of(run_id):
        discard([*names, folder_of(run_id)])


def discard_unrecorded(claim: Claim, attempts: range) -> None:
    """What these attempts stored and never recorded, being stopped in between."""
    files = RunArtifact.objects.filter(run_id=claim.run_id).values_list("file", flat=True)
    try:
        recorded = set(files)
    except DatabaseError:
        log.exception("What Run %s left unrecorded stays in the storage.", claim.run_id)
        return
    left = set(list_of(claim.run_id)) - recorded
    theirs = tuple(f"{folder_of(claim.run_id)}/{attempt}-" for attempt in attempts)
    discard(sorted(name for name in left if name.startswith(theirs)))


def list_of(run_id: uuid.UUID) -> list[str]:
    folder = folder_of(run_id)
    try:
        _, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return []
    except Exception:
        log.exception("The files of Run %s cannot be listed and stay in the storage.", run_id)
        return []
    return [f"{folder}/{file}" for file in files]


def copy_at_most(source: BinaryIO, copy: BinaryIO, room: int) -> int:
    size = 0
    while piece := source.read(_PIECE):
        size += len(piece)
        if size > room:
            raise Refused("too-large")
        copy.write(piece)
    return size


def open_inside(folder: int, name: str) -> BufferedReader:
    """A plain file below the open folder, reached through no link, which could lead to a secret."""
    if not name or len(name) > 200 or not name.isprintable():
        raise Refused("bad-name")
    directory = os.dup(folder)
    try:
        *folders, last = Path(name).parts
        for part in folders:
            deeper = os.open(
                plain(part), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=directory
            )
            os.close(directory)
            directory = deeper
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a named pipe must not hold us
        descriptor = os.open(plain(last), flags, dir_fd=directory)
    except (OSError, ValueError) as error:
        raise Refused("missing") from error
    finally:
        os.close(directory)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Refused("missing")
    return os.fdopen(descriptor, "rb")


def plain(part: str) -> str:
    if part in ("..", "/", ""):
        raise ValueError(part)
    return part
