"""The page of a training without a script, and its buttons as plain forms and for a script."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from runner import limits
from runner.before import before
from runner.models import Run
from tests.browser.trained import PHASES, metric, note, trained
from tests.runner import rows
from tests.runner.test_resuming import FILE, a_training

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}
HINT = '<p class="hint">'


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


def told_of(page: str) -> dict[str, Any]:
    """What the live view of its panel starts from."""
    found = re.search(r'<script type="application/json">(\{"run".*?)</script>', page, re.S)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


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


def test_a_run_that_goes_on_shows_the_loss_of_those_before(client: Client, run: Run) -> None:
    tell(run, *trained(30))
    chain = [run]
    for step in (20, 25):
        start = {"run": str(chain[-1].pk), "file": f"step_{step:06d}.bin", "step": step}
        chain.append(rows.an_ended_run(run.owner, procedure="andrea.train", resumes=start))
        said = [metric("loss", 1.0, n) for n in range(step + 1, step + 8)]
        tell(chain[-1], note("log.andrea.resumed", step=step, file=start["file"]), *said)
    found = before(chain[-1].view(), run.owner)
    loss = found.curves.get("loss")
    assert loss is not None and loss.steps == list(range(1, 26))  # 20 of the first, 5 of the next
    assert loss.values[-5:] == [1.0] * 5
    assert found.phases == [("random", 1), ("frequency", 9)]
    page = page_of(client, chain[-1])
    assert "Goes on from another Run, after step 25." in page and 'class="markline"' in page


def test_a_run_that_goes_on_shows_the_phases_of_those_before_and_none_twice(
    client: Client, run: Run
) -> None:
    """The one it is in is told once more where it starts; the last one was before its end."""
    tell(run, *trained(60))
    start = {"run": str(run.pk), "file": FILE, "step": 20}
    then = rows.an_ended_run(run.owner, procedure="andrea.train", resumes=start)
    tell(
        then,
        note("log.andrea.phase", phase="frequency", step=21),
        *(metric(name, 1.0, n) for n in range(21, 60) for name in ("loss", "ema")),
        note("log.andrea.phase", phase="coherence", step=50),
    )
    assert [name for name, _ in before(then.view(), run.owner).phases] == ["random", "frequency"]
    page = page_of(client, then)
    told = re.findall(r"<li><strong>([^<]+)</strong> from step (\d+)</li>", page)
    assert told == [("random", "1"), ("frequency", "9"), ("coherence", "50")]


def test_a_training_that_was_restarted_says_how_long_it_took_and_its_last_attempt(
    client: Client, run: Run
) -> None:
    ended = run.started_at + timedelta(seconds=90.5)
    began = run.started_at - timedelta(seconds=600)
    Run.objects.filter(pk=run.pk).update(began_at=began, ended_at=ended, attempt=2)
    said = "690.5 s, of them 90.5 s in attempt 2"
    assert said in page_of(client, run)
    assert said in client.get("/en/runs/").content.decode()
    Run.objects.filter(pk=run.pk).update(began_at=run.started_at, attempt=1)
    assert "attempt 1" not in page_of(client, run) and "90.5 s" in page_of(client, run)


def test_what_came_before_is_left_out_for_whoever_may_not_see_it(run: Run) -> None:
    tell(run, *trained(30))
    start = {"run": str(run.pk), "file": FILE, "step": 20}
    theirs = rows.an_ended_run(procedure="andrea.train", resumes=start)
    found = before(theirs.view(), theirs.owner)
    assert list(found.curves) == [] and found.phases == []


def test_a_page_reads_so_many_events_of_a_training_and_says_where_it_stops(
    client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script goes on after the last one that was read."""
    said = trained(300)
    tell(run, *said)
    monkeypatch.setattr(limits, "PAGE_EVENTS", 100)
    assert HINT + "Drawn from the first" not in page_of(client, run)
    monkeypatch.setattr(limits, "TRAINING_EVENTS", 50)
    page = page_of(client, run)
    assert f"{HINT}Drawn from the first 150 of {len(said)} Events" in page
    assert told_of(page)["told"]["seq"] == 150
    monkeypatch.setattr(limits, "TRAINING_EVENTS", len(said) - 100)  # just enough
    assert told_of(page_of(client, run))["told"]["seq"] == len(said)
    monkeypatch.setattr(limits, "MAX_EVENTS_BYTES", 1000)
    assert HINT + "Drawn from the first" in page_of(client, run)


def test_the_loss_of_the_runs_before_is_read_up_to_a_limit_the_nearest_first(
    client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(run, *trained(30))
    chain = [run]
    for step in (20, 25):
        start = {"run": str(chain[-1].pk), "file": f"step_{step:06d}.bin", "step": step}
        chain.append(rows.an_ended_run(run.owner, procedure="andrea.train", resumes=start))
        tell(chain[-1], *(metric("loss", 1.0, n) for n in range(step + 1, step + 8)))
    said = HINT + "The Runs before told more than is read here"

    def steps(most: int) -> list[int]:
        monkeypatch.setattr(limits, "TRAINING_EVENTS", most)
        found = before(chain[-1].view(), run.owner)
        page = page_of(client, chain[-1])
        assert (said in page) is not found.is_whole
        assert told_of(page)["before"]["whole"] is found.is_whole
        loss = found.curves.get("loss")
        return loss.steps if loss else []

    assert steps(3) == [21, 22, 23]
    assert steps(9)[-5:] == [21, 22, 23, 24, 25]
    assert steps(60_000) == list(range(1, 26))


def test_of_the_runs_before_only_what_tells_of_the_loss_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to where the Run starts, however often they were lost and however much they logged."""
    tell(run, *trained(300, lost_at=257, telemetry=True), *[note("log.andrea.no-telemetry")] * 50)
    start = {"run": str(run.pk), "file": "step_000100.bin", "step": 100}
    then = rows.an_ended_run(run.owner, procedure="andrea.train", resumes=start)
    points, turns = 2 * 100, len(PHASES) + 1
    monkeypatch.setattr(limits, "TRAINING_EVENTS", points + turns)
    found = before(then.view(), run.owner)
    assert found.is_whole
    assert [len(curve.steps) for curve in found.curves] == [100, 100]
    monkeypatch.setattr(limits, "TRAINING_EVENTS", points + turns - 1)
    assert not before(then.view(), run.owner).is_whole


def test_of_a_long_training_a_page_keeps_no_point_as_an_event(client: Client, run: Run) -> None:
    tell(run, *trained(300, lost_at=257))
    told = told_of(page_of(client, run))["told"]
    kinds = [event["kind"] for event in told["events"]]
    assert "metric" not in kinds and kinds.count("progress") == 1
    assert [event["seq"] for event in told["events"]] == sorted(e["seq"] for e in told["events"])


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
