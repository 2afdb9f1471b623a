"""Who owns a Run: a conditional update decides, and a stale attempt writes nothing."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runner import limits
from runner.claims import Claim, claim
from runner.models import Run, RunArtifact, State, StoredEvent
from runner.recorder import Entry, Stale, store
from tests.runner import rows

pytestmark = pytest.mark.django_db


def entries(first: int, *kinds: str, **data: Any) -> list[Entry]:
    return [
        Entry({"seq": first + n, "kind": kind, "at": rows.AT, "data": data or {"done": 1}})
        for n, kind in enumerate(kinds)
    ]


def claimed(run: Run) -> Claim:
    taken = claim(run.id, "cpu0@here")
    assert taken is not None
    return taken


def test_only_one_of_two_workers_gets_a_run() -> None:
    run = rows.a_run()
    assert claimed(run).attempt == 1
    assert claim(run.id, "cpu1@here") is None
    run.refresh_from_db()
    assert (run.state, run.worker) == (State.RUNNING, "cpu0@here")
    assert run.lease_until is not None and run.lease_until > timezone.now()


@pytest.mark.parametrize(
    ("fields", "taken"),
    [
        ({"state": State.QUEUED}, True),
        ({"state": State.QUEUED, "attempt": 1}, True),
        ({"state": State.QUEUED, "attempt": 1, "tries": limits.MAX_TRIES}, False),
        ({"state": State.QUEUED, "attempt": 7, "tries": 0}, True),
        ({"state": State.QUEUED, "attempt": limits.MAX_ATTEMPTS}, False),
        ({"state": State.RUNNING, "lease": 5, "attempt": 1}, False),
        ({"state": State.RUNNING, "lease": -1, "attempt": 1}, True),
        ({"state": State.RUNNING, "lease": -1, "attempt": limits.MAX_ATTEMPTS}, False),
        ({"state": State.ENDED}, False),
        ({"state": State.ENDED, "is_recording": True}, False),
    ],
)
def test_what_can_be_claimed(fields: dict[str, Any], taken: bool) -> None:
    lease = fields.pop("lease", None)
    if lease is not None:
        fields["lease_until"] = timezone.now() + timedelta(seconds=lease)
    run = rows.a_run(**fields)
    assert (claim(run.id, "cpu0@here") is not None) is taken


def test_a_second_attempt_continues_the_numbers() -> None:
    run = rows.a_running_run(lease_seconds=-1)
    rows.tell(run, 1, 2, 3)
    second = claimed(run)
    assert (second.attempt, second.last_seq) == (2, 3)


@pytest.mark.parametrize(
    ("file", "seconds_later", "asked_again"),
    [
        ("step_000047.bin", 1, False),
        ("step_000040.bin", -1, True),  # the file before the request
        ("micro.loss.json", 1, True),
        (None, 0, True),
    ],
)
def test_a_second_attempt_does_not_write_again_the_checkpoint_that_was_asked_for(
    file: str | None, seconds_later: int, asked_again: bool
) -> None:
    asked = timezone.now()
    run = rows.a_running_run(lease_seconds=-1, checkpoint_requested_at=asked)
    if file:
        at = (asked + timedelta(seconds=seconds_later)).isoformat(timespec="milliseconds")
        data = {"name": file, "media": "application/octet-stream", "bytes": 8, "sha256": ""}
        StoredEvent.objects.create(
            run=run, seq=1, kind="artifact", at=at.replace("+00:00", "Z"), data=data
        )
    claimed(run)
    run.refresh_from_db()
    assert (run.checkpoint_requested_at is not None) is asked_again


def test_a_stale_attempt_stores_nothing() -> None:
    run = rows.a_run()
    first = claimed(run)
    store(first, entries(1, "progress"))
    Run.objects.filter(id=run.id).update(lease_until=timezone.now() - timedelta(seconds=1))
    second = claimed(run)
    with pytest.raises(Stale):
        store(first, entries(2, "progress"))
    with pytest.raises(Stale):
        store(first, entries(2, "outcome", outcome="passed"))
    store(second, entries(2, "progress"))
    run.refresh_from_db()
    assert (run.last_seq, run.events.count(), run.outcome) == (2, 2, "")


def test_storing_the_same_batch_again_changes_nothing() -> None:
    run = rows.a_run()
    mine = claimed(run)
    batch = entries(1, "log", "progress")
    store(mine, batch)
    store(mine, batch)
    assert run.events.count() == 2


def test_the_last_event_and_the_final_state_are_one_transaction() -> None:
    run = rows.a_run()
    mine = claimed(run)
    end = entries(1, "outcome", outcome="failed", passed=3, failed=1, note={"code": "end.cases"})
    store(mine, end)
    store(mine, end)  # its commit came through, but the answer was lost
    run.refresh_from_db()
    assert (run.state, run.outcome, run.passed, run.failed) == (State.ENDED, "failed", 3, 1)
    assert run.ended_at is not None and run.lease_until is None
    with pytest.raises(Stale):
        store(mine, entries(2, "progress"))


def test_a_file_and_its_event_are_stored_together() -> None:
    run = rows.a_run()
    mine = claimed(run)
    row = RunArtifact(run_id=run.id, name="a.svg", media="image/svg+xml", bytes=1, sha256="0")
    event = {"seq": 1, "kind": "artifact", "at": rows.AT, "data": row.view().data()}
    store(mine, [Entry(event, row)])
    assert [a.name for a in run.view(artifacts=True).artifacts] == ["a.svg"]


def test_where_it_was_made_is_kept_with_the_run() -> None:
    run = rows.a_run()
    made = {"code": "made", "params": {"device": "cpu", "sandbox": "none"}}
    store(claimed(run), entries(1, "log", note=made))
    run.refresh_from_db()
    assert run.made == made["params"]
