"""A Run kept as a file, and shown as a recording."""

import gzip
from base64 import b64encode
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from runner import api, recordings
from runner.models import Run, RunArtifact
from runner.panel import step_panel
from tests.runner import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def exported(tmp_path: Path) -> tuple[Run, Path]:
    run = rows.an_ended_run(rows.an_account(), made={"device_name": "NVIDIA H200"}, passed=3)
    rows.tell(run, 1, 2, 3)
    artifact = RunArtifact(run=run, name="loss.svg", media="image/svg+xml", bytes=6, sha256="0")
    artifact.file.save("loss.svg", ContentFile(b"<svg/>"))
    file = tmp_path / "one.jsonl.gz"
    call_command("recording", "export", str(run.id), str(file), verbosity=0)
    return run, file


def test_what_was_exported_is_shown_to_everybody_as_it_was(exported: tuple[Run, Path]) -> None:
    run, file = exported
    before = api.snapshot(run.id, run.owner)
    Run.objects.all().delete()
    call_command("recording", "load", str(file), verbosity=0)
    after = api.snapshot(run.id, AnonymousUser())
    assert after.events == before.events
    assert after.run.is_recording and after.run.owner_id is None
    for name in ("id", "procedure", "outcome", "made", "passed", "elapsed", "created_at"):
        assert getattr(after.run, name) == getattr(before.run, name)
    _, content = api.artifact(run.id, AnonymousUser(), "loss.svg")
    assert content.read() == b"<svg/>"
    assert [r.id for r in api.recordings("rmsnorm.check-forward")] == [run.id]


def test_it_is_offered_where_no_gpu_is_online_also_beside_a_run_of_ones_own(
    exported: tuple[Run, Path],
) -> None:
    run, file = exported
    Run.objects.all().delete()
    recordings.load(file)
    rows.a_worker("cpu")
    reader = rows.a_guest()
    rows.an_ended_run(reader, course="rmsnorm", lesson="forward", step="two-sizes")
    panel = step_panel(
        reader, run.procedure, api.Origin("rmsnorm", "forward", "two-sizes"), "/run/"
    )
    assert panel.run is not None
    assert panel.offer is not None and panel.offer.recording is not None
    assert panel.offer.recording.id == run.id


def test_a_checkpoint_keeps_its_name_and_not_its_bytes(tmp_path: Path) -> None:
    run = rows.an_ended_run(rows.an_account(), procedure="andrea.train")
    for name, content in (("step_000010.bin", b"weights"), ("micro.loss.json", b"[10, 5.5]\n")):
        row = RunArtifact(run=run, name=name, media="x/y", bytes=len(content), sha256="d1")
        row.file.save(name, ContentFile(content))
    RunArtifact.objects.create(run=run, name="step_000005.bin", media="x/y", bytes=7, sha256="d0")
    file = tmp_path / "one.jsonl.gz"
    recordings.export(run.id, file)
    assert b64encode(b"weights")[:9] not in gzip.decompress(file.read_bytes())
    Run.objects.all().delete()
    recordings.load(file)
    shown = api.get(run.id, AnonymousUser()).artifacts
    assert sorted((a.name, a.bytes, a.kept) for a in shown) == [
        ("micro.loss.json", 10, True),
        ("step_000005.bin", 7, False),
        ("step_000010.bin", 7, False),
    ]
    assert {a.sha256 for a in shown if not a.kept} == {"d0", "d1"}
    with pytest.raises(api.RunNotFound):
        api.artifact(run.id, AnonymousUser(), "step_000010.bin")
    with pytest.raises(api.NotResumable, match="recording"):
        api.resume(run.id, rows.a_guest(), "step_000010.bin")


def test_loading_twice_shows_it_once(exported: tuple[Run, Path]) -> None:
    run, file = exported
    Run.objects.all().delete()
    assert recordings.load(file) is not None
    assert recordings.load(file) is None
    assert Run.objects.count() == 1


def test_nothing_of_its_owner_is_in_the_file(exported: tuple[Run, Path]) -> None:
    run, file = exported
    text = gzip.decompress(file.read_bytes()).decode()
    assert str(run.owner_id) not in text and "ada@example.org" not in text


def test_the_same_run_makes_the_same_bytes(exported: tuple[Run, Path], tmp_path: Path) -> None:
    run, file = exported
    recordings.export(run.id, tmp_path / "again.jsonl.gz")
    assert (tmp_path / "again.jsonl.gz").read_bytes() == file.read_bytes()


def test_a_run_that_has_not_ended_is_no_recording(tmp_path: Path) -> None:
    run = rows.a_running_run()
    with pytest.raises(CommandError, match="running"):
        call_command("recording", "export", str(run.id), str(tmp_path / "x.jsonl.gz"))


def test_nobody_can_stop_or_own_a_recording(exported: tuple[Run, Path]) -> None:
    run, file = exported
    Run.objects.all().delete()
    recordings.load(file)
    for viewer in (AnonymousUser(), rows.a_guest()):
        with pytest.raises(api.RunNotFound):
            api.stop(run.id, viewer)
        assert api.history(viewer) == []
