"""The page of a training without a script, and its buttons as plain forms and for a script."""

from typing import Any

import pytest
from django.test import Client

from runner.models import Run
from tests.browser.trained import trained
from tests.runner import rows
from tests.runner.test_resuming import FILE, a_training

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


@pytest.fixture
def run() -> Run:
    rows.a_worker()
    return a_training()


@pytest.fixture
def client(run: Run) -> Client:
    client = Client()
    assert run.owner is not None
    client.force_login(run.owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


def tell(run: Run, *said: tuple[str, dict[str, Any]]) -> None:
    for seq, (kind, data) in enumerate(said, start=1):
        run.events.create(seq=seq, kind=kind, at=rows.AT, data=data)
    Run.objects.filter(pk=run.pk).update(last_seq=len(said))


def page_of(client: Client, run: Run, language: str = "en") -> str:
    return client.get(f"/{language}/runs/{run.pk}/").content.decode()


def test_resume_from_here_leads_to_the_new_run(client: Client, run: Run) -> None:
    answer = client.post(f"/en/runs/{run.pk}/resume/", {"file": FILE})
    started = Run.objects.exclude(pk=run.pk).get()
    assert (answer.status_code, answer["Location"]) == (303, f"/en/runs/{started.pk}/")
    page = page_of(client, started)
    assert "Goes on from another Run, after step 20." in page and f"/en/runs/{run.pk}/" in page


def test_a_script_is_told_where_the_new_run_is(client: Client, run: Run) -> None:
    answer = client.post(f"/fr/runs/{run.pk}/prove/", headers=JSON)
    started = Run.objects.exclude(pk=run.pk).get()
    assert answer.status_code == 201
    assert answer.json() == {"run": str(started.pk), "url": f"/fr/runs/{started.pk}/"}
    assert started.procedure == "andrea.resume-proof"


@pytest.mark.parametrize(
    ("data", "code", "status"),
    [
        ({"file": "loss.svg"}, "not-resumable", 409),
        ({"file": FILE, "steps": "3"}, "bad-parameter", 400),
        ({"file": FILE, "steps": "many"}, "bad-parameter", 400),
    ],
)
def test_why_nothing_was_started_is_said(
    client: Client, run: Run, data: dict[str, str], code: str, status: int
) -> None:
    address = f"/en/runs/{run.pk}/resume/"
    answer = client.post(address, data, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    plain = client.post(address, data, follow=True)
    assert answer.json()["error"] in plain.content.decode()
    assert Run.objects.count() == 1


def test_one_run_at_a_time_also_here(client: Client, run: Run) -> None:
    active = rows.a_running_run(run.owner)
    answer = client.post(f"/en/runs/{run.pk}/resume/", {"file": FILE}, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (409, "active")
    assert answer.json()["url"] == f"/en/runs/{active.pk}/"


@pytest.mark.parametrize("language", ["en", "fr", "tr"])
def test_a_training_is_drawn_without_a_script(client: Client, run: Run, language: str) -> None:
    tell(run, *trained(300, lost_at=257))
    page = page_of(client, run, language)
    assert page.count('class="drawn"') == 4  # the loss, and three gauges
    assert page.count('class="markline"') == 4
    assert page.count('<ul class="parts"') == 3 and "<polyline" in page


def test_only_its_owner_is_offered_to_go_on_and_only_once_it_is_over(
    client: Client, run: Run
) -> None:
    artifact = run.artifacts.get(name=FILE)
    tell(run, ("artifact", artifact.view().data()))
    assert "data-lead" in page_of(client, run)
    Run.objects.filter(pk=run.pk).update(state="running", outcome="")
    assert "data-lead" not in page_of(client, run)
    Run.objects.filter(pk=run.pk).update(
        state="ended", outcome="passed", is_recording=True, owner=None
    )
    page = page_of(Client(), run)
    assert "data-lead" not in page and "not the files" in page
