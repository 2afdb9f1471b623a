"""A Run as one file: exported where it was made, shown elsewhere as a recording.

Gzipped JSON lines: the Run, then its files (base64), then its Events as they were told. Of a
checkpoint, which may have hundreds of megabytes, only its name, size and digest are kept.
"""

import gzip
import hashlib
import json
import uuid
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.dateparse import parse_datetime

from kernels.artifacts import checkpoint_step
from runner.models import Run, RunArtifact, State, StoredEvent, stored

_FIELDS = (
    *("procedure", "parameters", "version", "device", "course", "lesson", "step"),
    *("outcome", "made", "note", "passed", "failed"),
)
_TIMES = ("created_at", "began_at", "started_at", "ended_at")


class NotExportable(ValueError):
    """The Run has not ended."""


def export(run_id: uuid.UUID, path: Path) -> None:
    """Write the ended Run to `path`. Nothing of its owner is in it. Raises NotExportable."""
    run = Run.objects.get(id=run_id)
    if run.state != State.ENDED:
        raise NotExportable(f"Run {run_id} is {run.state}.")
    # Neither name nor time inside: the same Run makes the same bytes.
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        for record in records(run):
            file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")


def records(run: Run) -> Iterator[dict[str, Any]]:
    times = {name: getattr(run, name).isoformat() for name in _TIMES if getattr(run, name)}
    yield {"run": {"id": str(run.id)} | {name: getattr(run, name) for name in _FIELDS} | times}
    for artifact in run.artifacts.order_by("name"):
        yield {"artifact": {"name": artifact.name, "media": artifact.media} | body(artifact)}
    for event in StoredEvent.objects.filter(run=run).order_by("seq").iterator(500):
        yield event.envelope()


def body(artifact: RunArtifact) -> dict[str, Any]:
    if not artifact.file or checkpoint_step(artifact.name) is not None:
        return {"bytes": artifact.bytes, "sha256": artifact.sha256}
    with artifact.file.open("rb") as content:
        return {"base64": b64encode(content.read()).decode()}


def load(path: Path) -> Run | None:
    """The recording in that file as a Run that everybody may see; None if it is there already."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        head, *rest = (json.loads(line) for line in file)
    values = head["run"]
    if Run.objects.filter(id=values["id"]).exists():
        return None
    events = [record for record in rest if "seq" in record]
    with transaction.atomic():
        run: Run = Run.objects.create(
            id=values["id"],
            owner=None,
            state=State.ENDED,
            is_recording=True,
            last_seq=events[-1]["seq"] if events else 0,
            **{name: values[name] for name in _FIELDS},
            **{name: parse_datetime(values[name]) for name in _TIMES if name in values},
        )
        StoredEvent.objects.bulk_create(stored(run.id, events), batch_size=500)
        for record in rest:
            if "artifact" in record:
                keep(run, **record["artifact"])
    return run


def keep(run: Run, name: str, media: str, base64: str = "", **left: Any) -> None:
    """The file; or, of one that was let go, `left`: its size and digest."""
    if left:
        RunArtifact.objects.create(run=run, name=name, media=media, file="", **left)
        return
    content = b64decode(base64)
    path = f"recordings/{run.id}/{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    RunArtifact.objects.create(
        run=run,
        name=name,
        media=media,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        file=default_storage.save(path, ContentFile(content)),
    )
