"""A person's Runs: exported, erased, handed over."""

import json

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.exporting import pieces
from runner import api, personal
from runner.models import Run, RunArtifact, State, StoredEvent
from tests.runner import rows

pytestmark = pytest.mark.django_db


def test_an_export_holds_every_run_with_its_events_and_nobody_elses() -> None:
    person = rows.a_guest()
    run = rows.an_ended_run(person, course="rmsnorm", lesson="forward", step="masked")
    events = rows.tell(run, 1, 2)
    rows.an_ended_run()
    (exported,) = json.loads("".join(pieces(api.export_person(person))))["runs"]
    assert exported["id"] == str(run.id)
    assert exported["page"] == "rmsnorm/forward/masked"
    assert exported["events"] == events


def test_erasing_takes_runs_events_and_files(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    person, other = rows.a_guest(), rows.an_ended_run()
    run = rows.an_ended_run(person)
    rows.tell(run, 1)
    artifact = RunArtifact(run=run, name="a", media="text/plain", bytes=1, sha256="0")
    artifact.file.save("erased", ContentFile(b"x"))
    with django_capture_on_commit_callbacks(execute=True):
        api.erase_person(person)
    assert [row.id for row in Run.objects.all()] == [other.id]
    assert not StoredEvent.objects.exists()
    assert not default_storage.exists(artifact.file.name or "")


def test_an_export_reads_a_page_of_events_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal, "_PAGE", 3)
    person = rows.a_guest()
    events = rows.tell(rows.an_ended_run(person), *range(1, 8))
    (run,) = api.export_person(person)["runs"]
    assert list(run["events"]) == events


def a_file(run: Run, name: str) -> str:
    return default_storage.save(f"runs/{run.id}/{name}", ContentFile(b"x"))


def test_erasing_takes_the_files_that_a_lost_attempt_left_unrecorded(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    person = rows.a_guest()
    run = rows.an_ended_run(person, attempt=2)
    left = a_file(run, "1-1-loss.svg")
    with django_capture_on_commit_callbacks(execute=True):
        api.erase_person(person)
    assert not default_storage.exists(left)
    assert not default_storage.exists(f"runs/{run.id}")


def test_a_file_that_the_storage_refuses_to_delete_is_logged_and_the_others_go(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    person = rows.a_guest()
    run = rows.an_ended_run(person)
    names = [a_file(run, name) for name in ("1-1-a", "1-2-b")]
    for name in names:
        RunArtifact.objects.create(run=run, name=name, media="a/b", bytes=1, sha256="0", file=name)
    delete = default_storage.delete

    def refusing(name: str) -> None:
        if name == names[0]:
            raise RuntimeError("AccessDenied")
        delete(name)

    monkeypatch.setattr(default_storage, "delete", refusing)
    with django_capture_on_commit_callbacks(execute=True):
        api.erase_person(person)
    assert [default_storage.exists(name) for name in names] == [True, False]
    assert names[0] in caplog.text
    assert not Run.objects.exists()


def test_a_guests_runs_become_the_accounts() -> None:
    guest, account = rows.a_guest(), rows.an_account()
    rows.an_ended_run(guest)
    running = rows.a_running_run(guest)
    api.adopt(guest, account)
    assert len(api.history(account)) == 2
    running.refresh_from_db()
    assert running.state == State.RUNNING


def test_two_active_runs_cannot_meet_so_the_guests_is_ended() -> None:
    guest, account = rows.a_guest(), rows.an_account()
    kept, ended = rows.a_running_run(account), rows.a_running_run(guest)
    rows.tell(ended, 1)
    api.adopt(guest, account)
    kept.refresh_from_db()
    ended.refresh_from_db()
    assert kept.state == State.RUNNING
    assert (ended.owner_id, ended.outcome) == (account.id, "cancelled")
    assert ended.note["code"] == "end.cancelled-by-sign-in"
    assert ended.last_seq == 2
