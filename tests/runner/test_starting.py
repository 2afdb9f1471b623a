"""What a child is given to go on from, and what is said when it cannot be had."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from kernels.registry import get
from runner import limits
from runner.claims import Claim, claim, hand_back
from runner.models import Run, RunArtifact, State
from runner.starting import Gone, Start, prepare
from tests.runner import rows

pytestmark = pytest.mark.django_db

TRAIN = get("andrea.train")


def keep(run: Run, name: str, content: bytes) -> RunArtifact:
    digest = hashlib.sha256(content).hexdigest()
    row = RunArtifact(run=run, name=name, media="x/y", bytes=len(content), sha256=digest)
    row.file.save(name, ContentFile(content))
    return row


def with_checkpoints(run: Run, *steps: int) -> Run:
    state = {"config": {"steps": 60}, "checkpoints": {str(step): {} for step in steps}}
    keep(run, "micro.state.json", json.dumps(state).encode())
    keep(run, "micro.loss.json", b"[1, 5.5]\n")
    for step in steps:
        keep(run, f"step_{step:06d}.bin", f"weights of {step}".encode())
    return run


def a_claim(run: Run) -> Claim:
    return Claim(
        run.id, run.attempt, run.procedure, {}, 1, run.device, run.last_seq, resumes=run.start()
    )


def a_training(attempt: int = 2, **fields: Any) -> Run:
    return rows.a_running_run(procedure="andrea.train", attempt=attempt, **fields)


def codes(start: Start) -> list[str]:
    return [note.code for note in start.notes]


def test_a_first_attempt_is_given_nothing(tmp_path: Path) -> None:
    run = with_checkpoints(a_training(attempt=1), 10)
    assert prepare(a_claim(run), TRAIN, tmp_path) == Start()
    assert list(tmp_path.iterdir()) == []


def test_a_second_attempt_goes_on_from_the_last_checkpoint(tmp_path: Path) -> None:
    run = with_checkpoints(a_training(), 10, 20)
    start = prepare(a_claim(run), TRAIN, tmp_path)
    path = tmp_path / "step_000020.bin"
    assert start.parameters == {"resume": str(path), "polish": False}
    assert path.read_bytes() == b"weights of 20"
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("micro.loss.json", "micro.state.json", "step_000020.bin"),
    ]
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o444}
    (note,) = start.notes
    assert note.code == "log.resumed-after-restart"
    assert note.params == {"attempt": 2, "step": 20, "file": path.name}


@pytest.mark.parametrize("damage", ["other", "shorter", "longer", "gone"])
def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path, damage: str) -> None:
    run = with_checkpoints(a_training(), 10, 20)
    name = RunArtifact.objects.get(run=run, name="step_000020.bin").file.name or ""
    default_storage.delete(name)
    content = {"other": b"Weights of 20", "shorter": b"weights", "longer": b"weights of 20!"}
    if damage in content:
        default_storage.save(name, ContentFile(content[damage]))
    start = prepare(a_claim(run), TRAIN, tmp_path)
    assert codes(start) == ["log.checkpoint-damaged", "log.resumed-after-restart"]
    assert start.notes[0].params == {"file": "step_000020.bin"}
    assert (tmp_path / "step_000010.bin").read_bytes() == b"weights of 10"
    assert not (tmp_path / "step_000020.bin").exists()


def test_a_checkpoint_whose_state_was_never_stored_is_passed_over(tmp_path: Path) -> None:
    run = with_checkpoints(a_training(), 10)
    keep(run, "step_000020.bin", b"weights")
    start = prepare(a_claim(run), TRAIN, tmp_path)
    assert start.parameters["resume"] == str(tmp_path / "step_000010.bin")


def test_without_a_checkpoint_it_starts_again(tmp_path: Path) -> None:
    start = prepare(a_claim(a_training()), TRAIN, tmp_path)
    assert (start.parameters, codes(start)) == ({}, ["log.restarted"])


def test_another_procedure_starts_again_whatever_it_wrote(tmp_path: Path) -> None:
    run = with_checkpoints(a_training(), 10)
    start = prepare(a_claim(run), get("rmsnorm.check-forward"), tmp_path)
    assert (start.parameters, codes(start)) == ({}, ["log.restarted"])


def asked(attempt: int = 1) -> tuple[Run, Run]:
    before = with_checkpoints(rows.an_ended_run(procedure="andrea.train"), 10, 20)
    start = {"run": str(before.id), "file": "step_000010.bin", "step": 10}
    return before, a_training(attempt=attempt, resumes=start)


def test_the_checkpoint_that_was_asked_for_is_given(tmp_path: Path) -> None:
    _, run = asked()
    start = prepare(a_claim(run), TRAIN, tmp_path)
    assert start == Start({"resume": str(tmp_path / "step_000010.bin")})


def test_a_second_attempt_prefers_its_own(tmp_path: Path) -> None:
    _, run = asked(attempt=2)
    again = prepare(a_claim(run), TRAIN, tmp_path)
    assert codes(again) == ["log.restarted"]
    assert again.parameters == {"resume": str(tmp_path / "step_000010.bin")}
    with_checkpoints(run, 30)
    own = prepare(a_claim(run), TRAIN, tmp_path)
    assert own.parameters["resume"] == str(tmp_path / "step_000030.bin")


def erase(before: Run) -> None:
    before.delete()


def release(before: Run) -> None:
    RunArtifact.objects.filter(run=before, name="step_000010.bin").update(file="")


def corrupt(before: Run) -> None:
    RunArtifact.objects.filter(run=before, name="step_000010.bin").update(sha256="0")


@pytest.mark.parametrize("harm", [erase, release, corrupt])
def test_one_that_is_no_longer_there_ends_the_run_with_a_sentence(
    tmp_path: Path, harm: Callable[[Run], None]
) -> None:
    before, run = asked()
    harm(before)
    with pytest.raises(Gone) as gone:
        prepare(a_claim(run), TRAIN, tmp_path)
    assert gone.value.note.code == "end.resume-gone"
    assert gone.value.note.params == {"file": "step_000010.bin"}


@pytest.mark.parametrize(("in_order", "tries"), [(True, 0), (False, 1)])
def test_a_run_that_is_handed_back_is_queued_for_another(in_order: bool, tries: int) -> None:
    run = rows.a_run(procedure="andrea.train")
    mine = claim(run.id, "cpu0@here")
    assert mine is not None
    hand_back(replace(mine, attempt=7), in_order=True)  # of an attempt that is over: no effect
    assert Run.objects.get(id=run.id).state == State.RUNNING
    hand_back(mine, in_order=in_order)
    run.refresh_from_db()
    assert (run.state, run.worker, run.tries) == (State.QUEUED, "", tries)
    assert run.lease_until is None and run.enqueued_at is None
    again = claim(run.id, "cpu1@here")
    assert again is not None and again.attempt == 2


def test_a_training_that_gets_nowhere_is_not_taken_up_for_ever() -> None:
    run = rows.a_run(procedure="andrea.train")
    for _ in range(limits.MAX_TRIES):
        mine = claim(run.id, "cpu0@here")
        assert mine is not None
        hand_back(mine, in_order=False)
    assert claim(run.id, "cpu0@here") is None
