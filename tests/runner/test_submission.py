"""What a person may run, and what is said when it cannot be."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from runner import api, doorbell
from runner.models import Run
from tests.runner import rows

pytestmark = pytest.mark.django_db

FORWARD = "rmsnorm.check-forward"


@pytest.fixture(autouse=True)
def rings(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, str]]]:
    heard: list[tuple[Any, str]] = []
    monkeypatch.setattr(doorbell, "ring", lambda run_id, queue: heard.append((run_id, queue)))
    yield heard


def submit(person: Any = None, **changes: Any) -> api.RunView:
    asked = {"procedure": FORWARD, "device": "cpu"} | changes
    return api.submit(person or rows.a_guest(), asked.pop("procedure"), **asked)


def test_a_run_is_queued_and_its_id_sent_once_it_is_committed(
    rings: list[tuple[Any, str]],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    rows.a_worker()
    with django_capture_on_commit_callbacks(execute=True):
        run = submit(origin=api.Origin("rmsnorm", "forward", "masked"))
        assert rings == []
    assert rings == [(run.id, "cpu")]
    assert (run.state, run.version, run.origin.step) == ("queued", 1, "masked")


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"procedure": "rmsnorm.nothing"}, api.UnknownProcedure, "Known: "),
        ({"parameters": {"sead": 1}}, api.BadParameter, "sead"),
        ({"version": 99}, api.BadParameter, "version = 99"),
        ({"device": "tpu"}, api.BadParameter, "gpu, cpu"),
    ],
)
def test_a_mistake_is_named_with_what_is_accepted(
    changes: dict[str, Any], error: type[Exception], said: str
) -> None:
    rows.a_worker()
    with pytest.raises(error, match=said):
        submit(**changes)
    assert not Run.objects.exists()


def test_a_procedure_that_needs_a_gpu_is_refused_on_the_interpreter() -> None:
    rows.a_worker()
    with pytest.raises(api.BadParameter, match="accepted: gpu"):
        submit(procedure="rmsnorm.benchmark")


def test_without_a_gpu_worker_the_cpu_is_named_and_nothing_falls_back() -> None:
    rows.a_worker("cpu")
    rows.a_worker("gpu", seconds_ago=11)
    with pytest.raises(api.NoWorker) as refused:
        submit(device="gpu")
    assert refused.value.alternatives == ("cpu",)
    assert not Run.objects.exists()


def test_one_active_run_each(django_assert_num_queries: Callable[..., Any]) -> None:
    rows.a_worker()
    person = rows.a_guest()
    first = submit(person)
    with pytest.raises(api.ActiveRun) as refused:
        submit(person)
    assert refused.value.run_id == first.id
    submit(rows.a_guest())


def test_a_guest_has_fewer_runs_a_day_than_an_account(settings: Any) -> None:
    settings.GUEST_RUNS_PER_DAY, settings.RUNS_PER_DAY = 2, 3
    rows.a_worker()
    for person, limit in ((rows.a_guest(), 2), (rows.an_account(), 3)):
        for used in range(limit):
            assert (api.quota(person).used, api.quota(person).left) == (used, limit - used)
            rows.an_ended_run(person)
        with pytest.raises(api.QuotaSpent) as spent:
            submit(person)
        assert spent.value.limit == limit
        assert timedelta(0) < spent.value.resets_at - timezone.now() <= timedelta(days=1)


@pytest.mark.parametrize(
    ("fields", "charged"),
    [
        ({"outcome": "passed"}, 1),
        ({"outcome": "error_in_code"}, 1),
        ({"outcome": "cancelled"}, 1),
        ({"outcome": "cancelled", "started_at": None}, 0),
        ({"outcome": "infrastructure_failure"}, 0),
        ({"created_at": timezone.now() - timedelta(days=2)}, 0),
    ],
)
def test_what_is_charged(fields: dict[str, Any], charged: int) -> None:
    person = rows.a_guest()
    rows.an_ended_run(person, **fields)
    assert api.quota(person).used == charged


def test_somebody_who_has_not_written_anything_sees_a_guests_quota(
    settings: Any,
) -> None:
    settings.GUEST_RUNS_PER_DAY = 7
    assert api.quota(AnonymousUser()).left == 7


def test_history_is_ones_own_latest_first_and_can_be_of_one_step() -> None:
    person = rows.a_guest()
    old = rows.an_ended_run(person, course="c", lesson="l", step="s")
    new = rows.an_ended_run(person, course="c", lesson="l", step="t")
    rows.an_ended_run()
    assert [run.id for run in api.history(person)] == [new.id, old.id]
    assert [run.id for run in api.history(person, api.Origin("c", "l", "s"))] == [old.id]
    assert api.history(AnonymousUser()) == []
