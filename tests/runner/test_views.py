"""The pages of Runs. Who may open which is in tests/security; here is what they hold."""

import json
import re
import zlib
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from accounts.models import Person
from runner.models import Run, RunArtifact, State, StoredEvent

AT = "2026-11-30T12:00:00.000Z"
MADE = {"device_name": "NVIDIA H200", "triton": "3.6.0", "seed": 20261130, "sandbox": "bubblewrap"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> Person:
    return Person.objects.create_guest("en")


@pytest.fixture
def client(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def a_run(person: Person | None, events: list[tuple[str, dict[str, Any]]], **fields: Any) -> Run:
    now = timezone.now()
    fields = {
        "procedure": "rmsnorm.check-forward", "device": "gpu", "state": State.ENDED,
        "outcome": "passed", "started_at": now, "ended_at": now, "made": MADE,
    } | fields  # fmt: skip
    run: Run = Run.objects.create(owner=person, last_seq=len(events), **fields)
    for seq, (kind, data) in enumerate(events, start=1):
        StoredEvent.objects.create(run=run, seq=seq, kind=kind, at=AT, data=data)
    return run


def case(place: tuple[int, int, int], verdict: str = "passed", **more: Any) -> dict[str, Any]:
    labels = {"dtype": "FP32", "rows": 17, "columns": 257, "seed": 1}
    return {"id": str(place), "verdict": verdict, "labels": labels, "place": place} | more


FAILED = case(
    (1, 2, 0),
    "failed",
    worst={"index": [0, 3], "got": 1.411458, "expected": 0.9999995, "allowed": 0.00011},
    why={"code": "why.by-block", "params": {"factor": 1.41146, "block": 512, "columns": 257}},
)


def test_a_run_is_drawn_without_a_script(client: Client, person: Person) -> None:
    run = a_run(person, [("case", case((0, 0, 0))), ("case", FAILED)], outcome="failed")
    page = client.get(f"/en/runs/{run.pk}/").content.decode()
    assert page.count('class="cell p"') == 1 and page.count('class="cell f"') == 1
    assert page.count('role="gridcell"') == 72
    assert "row 0, column 3" in page and "1.411458" in page and "√(512/257)" in page
    assert "How this was made" in page and "sandbox bubblewrap" in page


def test_numbers_are_the_reader_s(client: Client, person: Person) -> None:
    run = a_run(person, [("case", FAILED)], outcome="failed")
    assert "1,411458" in client.get(f"/fr/runs/{run.pk}/").content.decode()


def test_an_unfinished_run_reloads_by_itself_where_there_is_no_script(
    client: Client, person: Person
) -> None:
    run = a_run(person, [], state=State.QUEUED, outcome="", ended_at=None)
    page = client.get(f"/en/runs/{run.pk}/").content.decode()
    assert '<noscript><meta http-equiv="refresh"' in page
    run.state, run.outcome = State.ENDED, "passed"
    run.save()
    assert 'http-equiv="refresh"' not in client.get(f"/en/runs/{run.pk}/").content.decode()


@pytest.mark.parametrize(
    "outcome",
    ["passed", "failed", "error_in_code", "out_of_memory", "timed_out", "cancelled",
     "infrastructure_failure"],
)  # fmt: skip
def test_every_outcome_has_its_own_words(client: Client, person: Person, outcome: str) -> None:
    run = a_run(person, [], outcome=outcome)
    page = client.get(f"/en/runs/{run.pk}/").content.decode()
    verdict = page.split("data-verdict>")[1].split("</p>")[0]
    assert verdict.strip() and "outcome." not in verdict


def test_a_recording_says_that_it_is_one(person: Person) -> None:
    run = a_run(None, [("case", case((0, 0, 0)))], is_recording=True)
    page = Client().get(f"/en/runs/{run.pk}/").content.decode()
    assert "Recording" in page and "NVIDIA H200" in page and "data-stop" not in page


@pytest.mark.parametrize("encoding", ["", "gzip, br"])
def test_the_events_come_as_they_were_stored_one_a_line(
    client: Client, person: Person, encoding: str
) -> None:
    run = a_run(person, [("progress", {"done": n, "total": 2500}) for n in range(2500)])
    address = f"/en/runs/{run.pk}/events.jsonl"
    answer = client.get(address, headers={"Accept-Encoding": encoding})
    lines = [json.loads(line) for line in whole(answer).splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, 2501))
    assert lines[0] == {
        "seq": 1, "kind": "progress", "at": AT, "data": {"done": 0, "total": 2500},
    }  # fmt: skip
    assert answer["Content-Disposition"].startswith("attachment;")


def test_the_log_is_downloaded_as_text(client: Client, person: Person) -> None:
    made = {"note": {"code": "made", "params": MADE}}
    run = a_run(person, [("log", made), ("log", {"text": "autotune\n"}), ("case", FAILED)])
    text = whole(client.get(f"/en/runs/{run.pk}/log.txt"))
    assert text == f"{AT} Running on NVIDIA H200.\n{AT} autotune\n"


@pytest.mark.parametrize(
    ("name", "media", "shown"),
    [("loss.png", "image/png", True), ("loss.svg", "image/svg+xml", True),
     ("page.html", "text/html", False), ("model.bin", "application/octet-stream", False)],
)  # fmt: skip
def test_pictures_are_shown_and_everything_else_is_downloaded(
    client: Client, person: Person, name: str, media: str, shown: bool
) -> None:
    run = a_run(person, [])
    RunArtifact.objects.create(
        run=run, name=name, media=media, bytes=1, sha256="0" * 64,
        file=ContentFile(b"x", name=f"runs/{run.pk}/{name}"),
    )  # fmt: skip
    answer = client.get(f"/en/runs/{run.pk}/files/{name}")
    assert answer["Content-Disposition"].startswith("inline" if shown else "attachment")
    assert answer["Content-Type"] == (media if shown else "application/octet-stream")
    assert "sandbox" in answer["Content-Security-Policy"]


def test_stopping_a_queued_run_cancels_it(client: Client, person: Person) -> None:
    run = a_run(person, [], state=State.QUEUED, outcome="", started_at=None, ended_at=None)
    answer = client.post(f"/en/runs/{run.pk}/stop/", headers={"Accept": "application/json"})
    assert answer.json() == {"run": str(run.pk), "state": "ended", "stopping": False}


def test_stopping_a_running_run_asks_it_to_end(client: Client, person: Person) -> None:
    run = a_run(person, [], state=State.RUNNING, outcome="", ended_at=None)
    assert client.post(f"/en/runs/{run.pk}/stop/").headers["Location"] == f"/en/runs/{run.pk}/"
    run.refresh_from_db()
    assert run.stop_requested_at is not None


def test_a_run_whose_grid_was_another_is_still_shown(client: Client, person: Person) -> None:
    events = [("case", case((0, 0, 0))), ("case", case((9, 9, 9)))]
    run = a_run(person, events)
    assert client.get(f"/en/runs/compare/?a={run.pk}&b={run.pk}").status_code == 200
    page = client.get(f"/en/runs/{run.pk}/").content.decode()
    assert page.count('class="cell p"') == 1 and page.count('class="caseline"') == 1


def test_a_run_of_a_procedure_that_is_gone_keeps_its_name_and_what_it_said(
    client: Client, person: Person
) -> None:
    events = [("case", case((0, 0, 0))), ("log", {"text": "as it was"})]
    run = a_run(person, events, procedure="rmsnorm.long-gone")
    page = client.get(f"/en/runs/{run.pk}/").content.decode()
    assert "rmsnorm.long-gone" in page and "no longer part of the course" in page
    assert page.count('class="caseline"') == 1 and "as it was" in page
    other = a_run(person, [])
    beside = client.get(f"/en/runs/compare/?a={run.pk}&b={other.pk}").content.decode()
    assert beside.count("no longer part of the course") == 1
    assert "rmsnorm.long-gone" in client.get("/en/runs/").content.decode()


RUNNING = {"state": State.RUNNING, "outcome": "", "ended_at": None}


def test_a_running_training_may_be_asked_for_a_checkpoint(client: Client, person: Person) -> None:
    run = a_run(person, [], procedure="andrea.train", **RUNNING)
    assert checkpoint_button(client, run) == "Checkpoint now"
    address = f"/en/runs/{run.pk}/checkpoint/"
    assert f'formaction="{address}"' in client.get(f"/en/runs/{run.pk}/").content.decode()
    assert client.post(address).headers["Location"] == f"/en/runs/{run.pk}/"
    assert checkpoint_button(client, run) == "Checkpoint asked for"
    later = (timezone.now() + timedelta(seconds=1)).isoformat(timespec="milliseconds")
    StoredEvent.objects.create(
        run=run, seq=1, kind="artifact", at=later.replace("+00:00", "Z"),
        data={"name": "step_000300.bin", "media": "application/octet-stream", "bytes": 1},
    )  # fmt: skip
    assert checkpoint_button(client, run) == "Checkpoint now"


def checkpoint_button(client: Client, run: Run) -> str:
    page = client.get(f"/en/runs/{run.pk}/").content.decode()
    found = re.search(r"<button[^>]*data-checkpoint[^>]*>([^<]*)", page)
    return found[1] if found and " hidden" not in found[0] else ""


@pytest.mark.parametrize(
    "fields",
    [{"procedure": "andrea.train"}, {"procedure": "andrea.train", "is_recording": True, **RUNNING},
     {"procedure": "rmsnorm.check-forward", **RUNNING}],
    ids=["ended", "a recording", "takes none"],
)  # fmt: skip
def test_nothing_else_offers_a_checkpoint(
    client: Client, person: Person, fields: dict[str, Any]
) -> None:
    assert checkpoint_button(client, a_run(person, [], **fields)) == ""


def test_the_checkpoints_of_a_training_are_listed(client: Client, person: Person) -> None:
    run = a_run(person, [], procedure="andrea.train")
    for step in (100, 200):
        RunArtifact.objects.create(
            run=run, name=f"step_{step:06}.bin", media="application/octet-stream", bytes=2048,
            sha256="0" * 64, file=ContentFile(b"x", name=f"runs/{run.pk}/{step}.bin"),
        )  # fmt: skip
    page = client.get(f"/en/runs/{run.pk}/").content.decode()
    for step in (100, 200):
        assert f'/en/runs/{run.pk}/files/step_{step:06}.bin"' in page


def test_a_page_asks_by_head_whether_its_run_is_still_there(client: Client, person: Person) -> None:
    run = a_run(person, [("progress", {"done": 1, "total": 1})])
    address = f"/en/runs/{run.pk}/events.jsonl"
    assert client.head(address).status_code == 200
    run.delete()
    assert client.head(address).status_code == 404


def test_the_log_reads_from_left_to_right(client: Client, person: Person) -> None:
    run = a_run(person, [("log", {"text": "a line"})])
    assert '<pre class="log" dir="ltr"' in client.get(f"/en/runs/{run.pk}/").content.decode()


def test_my_runs_are_mine_and_of_the_step_asked_for(client: Client, person: Person) -> None:
    here = a_run(person, [], course="rmsnorm", lesson="forward", step="verdict")
    there = a_run(person, [], course="rmsnorm", lesson="dx", step="check")
    other = a_run(Person.objects.create_guest("en"), [])
    everything = client.get("/en/runs/").content.decode()
    assert str(here.pk) in everything and str(there.pk) in everything
    assert str(other.pk) not in everything
    step = client.get("/en/runs/?course=rmsnorm&lesson=forward&step=verdict").content.decode()
    assert str(here.pk) in step and str(there.pk) not in step


def test_nobody_s_history_is_empty_and_says_so() -> None:
    assert "Nothing has run here yet" in Client().get("/en/runs/").content.decode()


def test_two_runs_stand_side_by_side(client: Client, person: Person) -> None:
    one, two = a_run(person, []), a_run(person, [("case", FAILED)], outcome="failed")
    page = client.get(f"/en/runs/compare/?a={one.pk}&b={two.pk}").content.decode()
    assert page.count("data-panel") == 2
    ticked = client.get(f"/en/runs/compare/?run={one.pk}&run={two.pk}").content.decode()
    assert ticked.count("data-panel") == 2


def test_comparing_with_somebody_else_s_run_finds_nothing(client: Client, person: Person) -> None:
    mine, theirs = a_run(person, []), a_run(Person.objects.create_guest("en"), [])
    assert client.get(f"/en/runs/compare/?a={mine.pk}&b={theirs.pk}").status_code == 404
    assert client.get("/en/runs/compare/?a=not-a-run").status_code == 404


def test_one_run_alone_is_not_compared(client: Client, person: Person) -> None:
    mine = a_run(person, [])
    assert "Two are needed" in client.get(f"/en/runs/compare/?a={mine.pk}").content.decode()


def whole(answer: Any) -> str:
    async def read() -> bytes:
        return b"".join([part async for part in answer.streaming_content])

    content = async_to_sync(read)()
    if answer.get("Content-Encoding") == "gzip":
        packed = zlib.decompressobj(wbits=31)
        content = packed.decompress(content)
        assert packed.eof and not packed.unused_data, "one gzip stream, not several"
    return content.decode()
