"""Who may go on from which checkpoint, as what, and why not."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.base import ContentFile

from runner import api, doorbell
from runner.models import Run, RunArtifact
from tests.runner import rows

pytestmark = pytest.mark.django_db

FILE = "step_000020.bin"
PARAMETERS = {"config": "micro", "steps": 60, "seed": 7, "clip": 0.0, "polish": False}


@pytest.fixture(autouse=True)
def rings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(doorbell, "ring", lambda run_id, queue: True)
    rows.a_worker("cpu")
    rows.a_worker("gpu")
    yield


def keep(run: Run, name: str, content: bytes = b"x") -> RunArtifact:
    row = RunArtifact(run=run, name=name, media="x/y", bytes=len(content), sha256="0")
    row.file.save(name, ContentFile(content))
    return row


def a_training(person: Any = None, steps: int = 60, **fields: Any) -> Run:
    """Stopped after 20 of its steps, with the checkpoint."""
    trained = {"procedure": "andrea.train", "parameters": PARAMETERS, "outcome": "cancelled"}
    run = rows.an_ended_run(person or rows.an_account(), **{**trained, **fields})
    state = {"config": {"steps": steps}, "checkpoints": {"20": {}}}
    keep(run, "micro.state.json", json.dumps(state).encode())
    keep(run, "micro.loss.json")
    keep(run, FILE)
    return run


def resume(run: Run, file: str = FILE, **changes: Any) -> api.RunView:
    return api.resume(run.id, changes.pop("viewer", run.owner), file, **changes)


def test_it_is_a_run_of_the_same_procedure_version_parameters_and_origin() -> None:
    where = {"course": "andrea", "lesson": "training-run", "step": "live"}
    run = a_training(version=2, **where)
    view = resume(run)
    assert view.resumes == api.Resumes(run.id, FILE, 20)
    assert (view.procedure, view.version, view.device) == ("andrea.train", 2, "cpu")
    assert view.origin == api.Origin(**where)
    assert view.parameters.items() >= PARAMETERS.items()
    assert view.parameters["resume"] == ""  # the worker knows where the file lies
    assert api.quota(run.owner).used == 2


def test_it_may_be_on_another_device() -> None:
    assert resume(a_training(), device="gpu").device == "gpu"


@pytest.mark.parametrize(
    ("total", "asked", "steps", "polish"),
    [
        (60, None, 60, False),
        (60, "", 60, False),
        (60, 60, 60, False),
        (60, "90", 90, True),
        (60, 120, 120, True),
        (20, None, 40, True),  # it stood at its end
    ],
)
def test_how_long_it_goes_on(total: int, asked: int | str | None, steps: int, polish: bool) -> None:
    run = a_training(steps=total, parameters={**PARAMETERS, "steps": total})
    view = resume(run, steps=asked)
    assert (view.parameters["steps"], view.parameters["polish"]) == (steps, polish)


@pytest.mark.parametrize("steps", [20, 121, -1, "many", 10**9])
def test_a_length_that_cannot_be_is_refused(steps: int | str) -> None:
    with pytest.raises(api.BadParameter, match="steps"):
        resume(a_training(), steps=steps)
    assert Run.objects.count() == 1


def test_a_polish_that_is_taken_up_polishes_no_second_time() -> None:
    run = a_training(parameters={**PARAMETERS, "polish": True})
    assert resume(run).parameters["polish"] is False


@pytest.mark.parametrize("outcome", ["passed", "failed", "timed_out", "infrastructure_failure"])
def test_it_matters_not_how_the_run_before_ended(outcome: str) -> None:
    assert resume(a_training(outcome=outcome)).resumes


def test_somebody_elses_run_is_not_there() -> None:
    with pytest.raises(api.RunNotFound):
        resume(a_training(), viewer=rows.a_guest())


def test_who_may_only_look_may_not_go_on_from_it() -> None:
    run, looker = a_training(), rows.an_account("instructor@example.org")
    looker.has_perm = lambda *_: True
    assert api.get(run.id, looker).id == run.id
    for refused in (lambda: resume(run, viewer=looker), lambda: api.prove(run.id, looker)):
        with pytest.raises(api.RunNotFound):
            refused()


def change(run: Run, what: str) -> str:
    """Make the Run one that nothing can go on from; the file to ask for."""
    if what == "recording":
        Run.objects.filter(id=run.id).update(is_recording=True)
    if what == "not-training":
        Run.objects.filter(id=run.id).update(procedure="rmsnorm.check-forward")
    if what == "gone":
        Run.objects.filter(id=run.id).update(procedure="rmsnorm.no-longer")
    if what == "no-checkpoint":
        return "step_000040.bin"
    if what == "not-kept":
        RunArtifact.objects.filter(run=run, name=FILE).update(file="")
    if what == "no-state":
        RunArtifact.objects.filter(run=run, name="micro.state.json").delete()
    return FILE


@pytest.mark.parametrize(
    "why", ["recording", "not-training", "gone", "no-checkpoint", "not-kept", "no-state"]
)
def test_why_nothing_can_go_on_from_it_is_said_in_every_language(why: str) -> None:
    run = a_training()
    with pytest.raises(api.NotResumable) as refused:
        resume(run, change(run, why))
    assert refused.value.reason == why
    sentences = {api.messages(language)[refused.value.code] for language in ("en", "fr", "tr")}
    assert len(sentences) == 3
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    "file", ["micro.state.json", "../step_000020.bin", "log.txt", "", "step_\0.bin"]
)
def test_a_file_that_is_no_checkpoint_is_refused(file: str) -> None:
    with pytest.raises(api.NotResumable, match="no-checkpoint"):
        resume(a_training(), file)


@pytest.mark.parametrize("state", [b"", b"[]", b"{}", b"\xff", b'{"checkpoints": {"20": {}}}'])
def test_a_state_that_says_nothing_of_the_step_is_refused(state: bytes) -> None:
    run = a_training()
    RunArtifact.objects.get(run=run, name="micro.state.json").delete()
    keep(run, "micro.state.json", state)
    with pytest.raises(api.NotResumable, match="no-state"):
        resume(run)


def test_a_version_that_is_gone_is_said() -> None:
    with pytest.raises(api.NotResumable, match="gone"):
        resume(a_training(version=99))


def test_one_run_at_a_time() -> None:
    run = a_training()
    active = rows.a_running_run(run.owner)
    with pytest.raises(api.ActiveRun) as refused:
        resume(run)
    assert refused.value.run_id == active.id


def test_it_counts_against_the_quota(settings: Any) -> None:
    settings.RUNS_PER_DAY = 1
    with pytest.raises(api.QuotaSpent):
        resume(a_training())


def test_without_a_worker_it_is_refused_with_the_choice_of_another() -> None:
    with pytest.raises(api.NoWorker) as refused:
        rows.WorkerNode.objects.filter(queue="gpu").delete()
        resume(a_training(), device="gpu")
    assert refused.value.alternatives == ("cpu",)


@pytest.mark.parametrize("name", ["resume", "corpus"])
def test_no_path_is_taken_from_a_person(name: str) -> None:
    with pytest.raises(api.BadParameter, match=f"{name} = '/etc/passwd' is not accepted here"):
        api.submit(rows.a_guest(), "andrea.train", parameters={name: "/etc/passwd"}, device="cpu")
    assert not Run.objects.exists()


def test_the_proof_has_the_model_of_the_run_and_a_length_of_its_own() -> None:
    run = a_training(version=2, course="andrea", parameters={**PARAMETERS, "width": 16})
    view = api.prove(run.id, run.owner)
    assert (view.procedure, view.version, view.device) == ("andrea.resume-proof", 2, "cpu")
    assert view.parameters.items() >= {"width": 16, "seed": 7, "clip": 0.0, "half": 5}.items()
    assert view.origin.course == "andrea"
    assert view.resumes is None


def test_only_a_training_can_be_proved() -> None:
    run = rows.an_ended_run(rows.an_account())
    with pytest.raises(api.NotResumable, match="not-training"):
        api.prove(run.id, run.owner)
