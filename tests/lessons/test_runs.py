"""Starting a step's Run: predictions come first, and a refusal is a sentence."""

import uuid
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from lessons.gates import Closed
from lessons.models import Revision
from runner.models import Run, StoredEvent, WorkerNode
from tests.lessons.small_course import SmallCourse

CHECK = "small/second/check/"
PREDICT = "small/second/predict/"
JSON = {"accept": "application/json"}
KEYS = iter(uuid.UUID(int=number) for number in range(1, 1000))


@pytest.fixture
def worker(db: None) -> None:
    WorkerNode.objects.create(
        name="cpu@here", queue="cpu", device_name="CPU", heartbeat_at=timezone.now()
    )


def run(
    client: Client, step: str, device: str = "cpu", language: str = "en", **headers: Any
) -> Any:
    return client.post(f"/{language}/{step}run/", {"device": device}, **headers)


def predict(client: Client, value: str = "257", base: int = 0) -> Any:
    data = {"sum": value, "do": "submit", "base": str(base), "key": str(next(KEYS))}
    return client.post(f"/en/{PREDICT}answer/", data)


def page(client: Client, step: str, language: str = "en") -> str:
    return client.get(f"/{language}/{step}").content.decode()


def finished(client: Client, **metrics: float | str) -> Run:
    """The active Run ends with these metrics, as a worker would end it."""
    made: Run = Run.objects.get(state="queued")
    for seq, (name, value) in enumerate(metrics.items(), start=1):
        StoredEvent.objects.create(
            run=made, seq=seq, kind="metric", at="2026-11-30T12:00:00.000Z",
            data={"name": name.replace("_", "-"), "value": value},
        )  # fmt: skip
    now = timezone.now()
    Run.objects.filter(pk=made.pk).update(
        state="ended", outcome="passed", last_seq=len(metrics), started_at=now, ended_at=now
    )
    return made


def test_a_run_is_queued_with_what_the_lesson_declares(reader: Client, worker: None) -> None:
    response = run(reader, CHECK, headers=JSON)
    made = Run.objects.get()
    assert response.status_code == 201
    most = settings.GUEST_RUNS_PER_DAY
    assert response.json() == {
        "run": str(made.pk),
        "url": f"/en/runs/{made.pk}/",
        "left": {"n": most - 1, "limit": most, "few": False},
    }
    assert (made.procedure, made.version, made.device) == ("rmsnorm.check-forward", 1, "cpu")
    assert (made.course, made.lesson, made.step) == ("small", "second", "check")
    assert made.owner == get_user_model().objects.get()


@pytest.mark.parametrize(("device", "version", "seed"), [("cpu", 1, 1), ("gpu", 2, 7)])
def test_a_gpu_is_given_what_the_lesson_keeps_for_it(
    small: SmallCourse, reader: Client, worker: None, device: str, version: int, seed: int
) -> None:
    WorkerNode.objects.create(
        name="gpu@here", queue="gpu", device_name="GPU", heartbeat_at=timezone.now()
    )
    small.change(
        "small/02-second/lesson.yaml",
        "{procedure: rmsnorm.check-forward}",
        "{procedure: rmsnorm.check-forward, gpu: {parameters: {seed: 7}, version: 2}}",
    )
    assert run(reader, CHECK, device, headers=JSON).status_code == 201
    made = Run.objects.get()
    assert (made.device, made.version, made.parameters["seed"]) == (device, version, seed)


def test_without_a_script_the_step_comes_back(reader: Client, worker: None) -> None:
    response = run(reader, CHECK)
    assert (response.status_code, response["Location"]) == (303, f"/en/{CHECK}")


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
@pytest.mark.parametrize(
    ("device", "status", "code"),
    [("gpu", 503, "no-worker"), ("", 400, "bad-parameter"), ("tpu", 400, "bad-parameter")],
)
def test_a_refusal_is_a_sentence_and_makes_no_run(
    reader: Client, worker: None, language: str, device: str, status: int, code: str
) -> None:
    response = run(reader, CHECK, device, language, headers=JSON)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert len(response.json()["error"]) > 20
    assert not Run.objects.exists()
    assert run(reader, CHECK, device, language).status_code == 303
    assert response.json()["error"] in page(reader, CHECK, language).replace("&#x27;", "'")


def test_no_gpu_offers_the_interpreter_and_never_takes_it(reader: Client, worker: None) -> None:
    assert "interpreter" in run(reader, CHECK, "gpu", headers=JSON).json()["error"]
    assert not Run.objects.exists()


def test_a_second_run_names_the_first(reader: Client, worker: None) -> None:
    first = run(reader, CHECK, headers=JSON).json()
    second = run(reader, CHECK, headers=JSON)
    assert (second.status_code, second.json()["code"]) == (409, "active")
    assert second.json()["url"] == first["url"]
    # The panel of that very step may show it; that of another one may not.
    assert (second.json()["run"], second.json()["here"]) == (first["run"], True)
    predict(reader)
    elsewhere = run(reader, PREDICT, headers=JSON).json()
    assert (elsewhere["run"], elsewhere["here"]) == (first["run"], False)


def test_a_spent_quota_says_when_the_next_run_is_free(
    reader: Client, worker: None, settings: Any
) -> None:
    settings.GUEST_RUNS_PER_DAY = 0
    response = run(reader, CHECK, headers=JSON)
    assert (response.status_code, response.json()["code"]) == (429, "quota")
    assert "UTC" in response.json()["error"]


def test_a_prediction_locks_the_run_until_it_is_in(reader: Client, worker: None) -> None:
    response = run(reader, PREDICT, headers=JSON)
    assert (response.status_code, response.json()["code"]) == (409, "locked")
    reader.post(f"/en/{PREDICT}answer/", {"sum": "257", "do": "draft"})
    assert run(reader, PREDICT, headers=JSON).status_code == 409  # a draft is no hypothesis
    predict(reader, base=1)
    assert run(reader, PREDICT, headers=JSON).status_code == 201


def test_the_lock_is_a_persons_own(reader: Client, worker: None) -> None:
    predict(reader)
    assert run(Client(), PREDICT, headers=JSON).status_code == 409


def test_an_answer_remembers_the_run_that_was_seen(reader: Client, worker: None) -> None:
    predict(reader, "512")
    run(reader, PREDICT)
    made = finished(reader, sum_squares=257.0)
    predict(reader, "257", base=1)
    first, second = Revision.objects.order_by("number")
    assert (first.run, second.run) == (None, made.pk)


def test_the_verdict_waits_for_the_outcome(reader: Client, worker: None) -> None:
    predict(reader, "512")
    held = page(reader, PREDICT)
    assert 'class="result' not in held
    assert 'data-reveal="sum-squares">–<' in held
    run(reader, PREDICT)
    finished(reader, sum_squares=257.0)
    shown = page(reader, PREDICT)
    assert 'data-reveal="sum-squares">257<' in shown
    assert "<td>512 " in shown
    assert 'class="result wrong"' in shown


def test_without_any_worker_the_verdict_does_not_wait(reader: Client) -> None:
    predict(reader, "512")
    assert 'class="result wrong"' in page(reader, PREDICT)


def test_a_hypothesis_is_the_one_made_before_the_run(reader: Client, worker: None) -> None:
    predict(reader, "512")
    run(reader, PREDICT)
    finished(reader, sum_squares=257.0)
    predict(reader, "257", base=1)
    assert Revision.objects.count() == 2
    assert "<td>512 " in page(reader, PREDICT)


@pytest.mark.parametrize(
    ("value", "shown"), [("nan", "NaN"), ("inf", "∞"), (0.5019531, "0,5019531")]
)
def test_any_outcome_can_be_shown(
    reader: Client, worker: None, value: float | str, shown: str
) -> None:
    predict(reader)
    run(reader, PREDICT)
    finished(reader, sum_squares=value)
    assert f'data-reveal="sum-squares">{shown}<' in page(reader, PREDICT, "fr")


def test_somebody_elses_outcome_is_not_shown(reader: Client, worker: None) -> None:
    predict(reader)
    run(reader, PREDICT)
    finished(reader, sum_squares=257.0)
    other = Client()
    predict(other)
    assert 'data-reveal="sum-squares">–<' in page(other, PREDICT)


def test_a_step_of_a_finished_prediction_takes_at_most_twelve_queries(
    reader: Client, worker: None, django_assert_max_num_queries: Any
) -> None:
    predict(reader)
    run(reader, PREDICT)
    finished(reader, sum_squares=257.0)
    page(reader, PREDICT)
    with django_assert_max_num_queries(12):
        page(reader, PREDICT)


def test_a_step_without_a_procedure_runs_nothing(reader: Client, worker: None) -> None:
    assert run(reader, "small/first/read/").status_code == 404


def test_an_unknown_procedure_leaves_the_step_readable(small: SmallCourse, reader: Client) -> None:
    small.change("small/02-second/lesson.yaml", "rmsnorm.check-forward", "rmsnorm.unheard-of")
    assert "Press Run." in page(reader, CHECK)


def test_after_the_deadline_a_prediction_opens_its_run_to_who_made_none(
    reader: Client, worker: None, settings: Settings
) -> None:
    assert run(reader, PREDICT, headers=JSON).status_code == 409
    settings.SUBMISSION_GATES = [f"{__name__}.always_closed"]
    draft = {"sum": "1", "do": "draft", "base": "0", "key": str(next(KEYS))}
    reader.post(f"/en/{PREDICT}answer/", draft)  # somebody is known now, with no hypothesis
    assert 'class="locked"' not in page(reader, PREDICT)
    assert run(reader, PREDICT, headers=JSON).status_code == 201


def always_closed(person: Any, course: str, lesson: str) -> Closed:
    return Closed("The lesson is over.")
