"""Which checkpoints of a training stay."""

import uuid

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from pytest_django import DjangoCaptureOnCommitCallbacks

from runner import limits
from runner.claims import Claim, claim
from runner.keeping import Keeper, let_go, make_room
from runner.models import Run, RunArtifact, StoredEvent
from runner.recorder import Entry, store
from runner.shapes import Resumes
from tests.runner import rows

RUN = uuid.uuid4()


def row(step: int, run_id: uuid.UUID = RUN) -> RunArtifact:
    name = f"step_{step:06d}.bin"
    return RunArtifact(
        run_id=run_id, name=name, media="x/y", bytes=9, sha256="d", file=f"runs/{name}"
    )


def reach(keeper: Keeper, step: int, ema: float | str) -> list[str]:
    keeper.hear({"name": "loss", "value": 0.0, "step": step})
    keeper.hear({"name": "ema", "value": ema, "step": step})
    return [gone.name for gone in keeper.add(row(step))]


def steps(keeper: Keeper) -> list[int]:
    return sorted(keeper.rows)


def test_the_newest_three_stay_and_the_best() -> None:
    keeper = Keeper()
    for step, ema in ((10, 4.0), (20, 2.0), (30, 3.0), (40, 3.5), (50, 3.6)):
        gone = reach(keeper, step, ema)
    assert gone == []
    assert steps(keeper) == [20, 30, 40, 50]
    assert reach(keeper, 60, 3.7) == ["step_000030.bin"]
    assert reach(keeper, 70, 1.0) == ["step_000020.bin", "step_000040.bin"]
    assert steps(keeper) == [50, 60, 70]


def test_a_loss_that_is_no_number_is_never_the_best() -> None:
    keeper = Keeper()
    for step, ema in ((10, 4.0), (20, "nan"), (30, "inf"), (40, "nan"), (50, "nan")):
        reach(keeper, step, ema)
    assert steps(keeper) == [10, 30, 40, 50]


def test_a_checkpoint_without_a_loss_of_its_own_is_none_either() -> None:
    keeper = Keeper()
    reach(keeper, 10, 4.0)
    for step in (20, 30, 40, 50):
        keeper.add(row(step))
    assert steps(keeper) == [10, 30, 40, 50]


def test_other_files_are_none_of_its_business() -> None:
    keeper = Keeper()
    other = RunArtifact(run_id=RUN, name="micro.loss.json", file="x")
    assert keeper.add(other) == [] and steps(keeper) == []


@pytest.mark.django_db
def test_a_later_attempt_goes_on_with_what_was_kept() -> None:
    run = rows.a_running_run()
    for seq, (step, ema) in enumerate([(10, 1.0), (20, 3.0), (30, 4.0), (35, 0.5)], start=1):
        data = {"name": "ema", "value": ema, "step": step}
        StoredEvent.objects.create(run=run, seq=seq, kind="metric", at=rows.AT, data=data)
        if step < 35:
            row(step, run.id).save()
    keeper = Keeper()
    keeper.remember(run.id)
    reach(keeper, 40, 5.0)
    assert reach(keeper, 50, 5.0) == ["step_000020.bin"]
    assert steps(keeper) == [10, 30, 40, 50]


@pytest.mark.django_db
def test_what_is_let_go_leaves_its_name_and_no_file(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    run = rows.a_run()
    mine = claim(run.id, "cpu0@here")
    assert mine is not None
    kept = row(10, run.id)
    kept.file = default_storage.save("runs/x.bin", ContentFile(b"weights"))
    path = kept.file.name or ""
    event = {"seq": 1, "kind": "artifact", "at": rows.AT, "data": kept.view().data()}
    store(mine, [Entry(event, kept, progress=True)])
    assert Run.objects.get(id=run.id).tries == 0
    gone = let_go(kept)
    event = {"seq": 2, "kind": "artifact", "at": rows.AT, "data": gone.view().data()}
    with django_capture_on_commit_callbacks(execute=True):
        store(mine, [Entry(event, gone)])
    assert not default_storage.exists(path)
    (view,) = run.view(artifacts=True).artifacts
    assert (view.name, view.bytes, view.kept) == ("step_000010.bin", 9, False)
    assert run.events.get(seq=2).data["kept"] is False
    assert "kept" not in run.events.get(seq=1).data


@pytest.mark.django_db
def test_only_a_persons_newest_trainings_keep_theirs() -> None:
    person = rows.an_account()
    fields = {"procedure": "andrea.train"}
    trainings = [rows.an_ended_run(person, **fields) for _ in range(limits.TRAININGS_KEPT + 3)]
    other = rows.an_ended_run(**fields)
    for run in (*trainings, other):
        for name in ("step_000010.bin", "micro.loss.json"):
            artifact = RunArtifact(run=run, name=name, media="x/y", bytes=1, sha256="d")
            artifact.file.save(name, ContentFile(b"x"))
    now = rows.a_running_run(person, **fields)
    asked = Resumes(trainings[0].id, "step_000010.bin", 10)
    make_room(Claim(now.id, 1, "andrea.train", {}, 1, "cpu", 0, resumes=asked))

    def keeps(run: Run) -> list[str]:
        return sorted(view.name for view in run.view(artifacts=True).artifacts if view.kept)

    both = ["micro.loss.json", "step_000010.bin"]
    assert [keeps(run) for run in trainings[:4]] == [both, both[:1], both[:1], both]
    assert all(keeps(run) == both for run in (*trainings[3:], other))
