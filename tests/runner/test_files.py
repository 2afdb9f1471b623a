"""Which of a child's files are taken, and as what."""

import os
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from pytest_django import DjangoCaptureOnCommitCallbacks

from runner import limits
from runner.claims import Claim
from runner.files import Files, Refused, discard_unrecorded
from runner.models import Run
from runner.recorder import Entry, store
from tests.runner import rows


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    with Files(Claim(uuid.uuid4(), 1, "test.artifacts", {}, 1, "cpu", 0), tmp_path) as files:
        yield files


def announce(files: Files, name: str, content: bytes = b"x", media: str = "text/plain") -> None:
    path = folder_of(files) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    files.take({"name": name, "media": media})


def folder_of(files: Files) -> Path:
    return Path(os.readlink(f"/proc/self/fd/{files.folder}"))


def refusal(files: Files, name: str, content: bytes | None = b"x") -> str:
    with pytest.raises(Refused) as refused:
        if content is None:
            files.take({"name": name})
        else:
            announce(files, name, content)
    return str(refused.value)


def test_what_is_kept_is_what_was_measured_under_a_tame_name(files: Files) -> None:
    name = "figures/weird ＜name＞ 'x'.svg"
    (folder_of(files) / "figures").mkdir()
    (folder_of(files) / name).write_bytes(b"<svg/>")
    said = {"name": name, "media": "image/svg+xml", "bytes": 1, "sha256": "a lie"}
    data, row = files.take(said)
    assert (data["name"], data["bytes"], data["media"]) == (name, 6, "image/svg+xml")
    assert data["sha256"] != "a lie"
    stored = row.file.name or ""
    assert stored.startswith(f"runs/{files.claim.run_id}/1-")
    assert set(stored) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")
    assert default_storage.open(stored).read() == b"<svg/>"


def test_a_media_type_that_is_none_becomes_a_download(files: Files) -> None:
    announce(files, "a", media="text/html; charset=<script>")
    (folder_of(files) / "b").write_bytes(b"x")
    assert files.take({"name": "b", "media": 'x"y'})[1].media == "application/octet-stream"


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../up", "a/../../up", "folder", "nobody", "n" * 201, "a\nb"]
)
def test_a_name_that_leads_nowhere_good_is_refused(files: Files, name: str) -> None:
    (folder_of(files) / "folder").mkdir()
    assert refusal(files, name, None) in ("missing", "bad-name")


def test_a_link_is_refused_also_on_the_way(files: Files) -> None:
    (folder_of(files) / "link").symlink_to("/etc/passwd")
    (folder_of(files) / "folder").symlink_to("/etc")
    assert refusal(files, "link", None) == "missing"
    assert refusal(files, "folder/passwd", None) == "missing"


def test_number_and_size_are_limited(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "artifact_bytes", lambda training: 100)
    monkeypatch.setattr(limits, "MAX_ARTIFACTS", 3)
    announce(files, "a", b"x" * 60)
    assert refusal(files, "b", b"x" * 60) == "too-large"
    assert refusal(files, "a") == "twice"
    announce(files, "c", b"x" * 30)
    announce(files, "d", b"x")
    assert refusal(files, "e") == "too-many"


def a_claim(run: Run) -> Claim:
    return Claim(run.id, run.attempt, run.procedure, {}, 1, run.device, run.last_seq)


@pytest.mark.django_db
def test_what_an_attempt_stored_and_never_recorded_is_discarded(tmp_path: Path) -> None:
    claim = a_claim(rows.a_running_run(attempt=2))
    first, second = Files(replace(claim, attempt=1), tmp_path), Files(claim, tmp_path)
    for name in ("recorded", "lost"):
        (tmp_path / name).write_bytes(b"x")
    recorded, lost = (first.take({"name": name})[1] for name in ("recorded", "lost"))
    mine = second.take({"name": "lost"})[1]
    recorded.save()
    discard_unrecorded(claim, range(1, 2))
    kept = [default_storage.exists(row.file.name or "") for row in (recorded, lost, mine)]
    assert kept == [True, False, True]
    discard_unrecorded(claim, range(2, 3))
    assert not default_storage.exists(mine.file.name or "")


@pytest.mark.django_db
def test_the_file_of_a_second_attempt_replaces_that_of_the_first(
    tmp_path: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    run = rows.a_running_run()
    (tmp_path / "loss.svg").write_bytes(b"x")
    taken = []
    with django_capture_on_commit_callbacks(execute=True):
        for attempt in (1, 2):
            Run.objects.filter(id=run.id).update(attempt=attempt)
            claim = replace(a_claim(run), attempt=attempt)
            data, row = Files(claim, tmp_path).take({"name": "loss.svg"})
            event = {"seq": attempt, "kind": "artifact", "at": rows.AT, "data": data}
            store(claim, [Entry(event, row)])
            taken.append(row.file.name or "")
    assert [artifact.file.name for artifact in run.artifacts.all()] == taken[1:]
    assert [default_storage.exists(name) for name in taken] == [False, True]


def test_the_name_of_the_log_is_ours(files: Files) -> None:
    assert refusal(files, "log.txt") == "twice"
