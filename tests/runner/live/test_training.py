"""A training on a site: going on from a checkpoint, whoever is killed, loses and changes no bit."""

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest

from runner import api
from runner.models import Run
from tests.runner.site import Site, events_of, require_whole, reread, wait_for

pytestmark = [pytest.mark.training, pytest.mark.timeout(240)]

TINY: dict[str, Any] = {
    **{"width": 16, "layers": 1, "context": 8, "batch": 2},
    **{"steps": 20, "sample_every": 10, "sample_tokens": 5, "checkpoint_every": 4},
}
WHOLE = ("step_000020.bin", "micro.loss.json", "micro.samples.json")


def train(site: Site, person: Any = None, **changes: Any) -> Run:
    return site.submit("andrea.train", person, **{**TINY, **changes})


@pytest.fixture(scope="module")
def straight(site: Site) -> Run:
    """Nobody touched it."""
    run = site.ended(train(site))
    assert run.outcome == "passed"
    return run


def content(run: Run, name: str) -> bytes:
    return api.artifact(run.id, run.owner, name)[1].read()


def notes(run: Run, code: str) -> list[dict[str, Any]]:
    found = [event["data"].get("note") or {} for event in events_of(run.id)]
    return [note["params"] for note in found if note.get("code") == code]


def has_checkpoint(run: Run) -> bool:
    return run.artifacts.filter(name__endswith=".bin").exists()


def curve(run: Run, name: str = "loss") -> list[tuple[int, float]]:
    """As a reader of its Events draws it: what comes once more after a restart is cut away."""
    points: list[tuple[int, float]] = []
    for event in events_of(run.id):
        data = event["data"]
        note = data.get("note") or {}
        if note.get("code") == "log.restarted":
            points = []
        elif note.get("code") == "log.resumed-after-restart":
            points = [point for point in points if point[0] <= note["params"]["step"]]
        elif event["kind"] == "metric" and data["name"] == name:
            points.append((data["step"], data["value"]))
    return points


def require_same(run: Run, straight: Run) -> None:
    assert run.outcome == "passed", run.note
    require_whole(run)
    for name in WHOLE:
        assert content(run, name) == content(straight, name), name
    state, due = (json.loads(content(one, "micro.state.json")) for one in (run, straight))
    assert state["checkpoints"].items() >= due["checkpoints"].items()  # and of stops on the way


def test_what_goes_on_from_a_checkpoint_equals_the_straight_run_to_the_bit(
    site: Site, straight: Run
) -> None:
    kept = [a for a in api.get(straight.id, straight.owner).artifacts if a.name.endswith(".bin")]
    assert [(a.name, a.kept) for a in sorted(kept, key=lambda a: a.name)][-4:] == [
        ("step_000008.bin", False),
        *((f"step_0000{step}.bin", True) for step in (12, 16, 20)),
    ]
    view = api.resume(straight.id, straight.owner, "step_000012.bin")
    assert view.resumes == api.Resumes(straight.id, "step_000012.bin", 12)
    run = site.ended(Run.objects.get(id=view.id))
    require_same(run, straight)
    assert curve(run) == curve(straight)[12:]
    assert notes(run, "log.andrea.resumed") == [{"step": 12, "file": "step_000012.bin"}]
    assert api.quota(straight.owner).used == 2


def test_one_that_was_stopped_goes_on_to_its_end(site: Site, straight: Run) -> None:
    run = train(site)
    site.running(run)
    wait_for(lambda: len(curve(run)) > 2)
    api.stop(run.id, run.owner)
    site.ended(run)
    assert (run.outcome, run.note["code"]) == ("cancelled", "end.saved")
    view = api.resume(run.id, run.owner, run.note["params"]["file"])
    require_same(site.ended(Run.objects.get(id=view.id)), straight)


def test_one_that_goes_on_past_its_end_is_a_polish_and_that_goes_on_too(
    site: Site, straight: Run
) -> None:
    view = api.resume(straight.id, straight.owner, "step_000020.bin", steps=28)
    assert (view.parameters["steps"], view.parameters["polish"]) == (28, True)
    run = site.ended(Run.objects.get(id=view.id))
    assert run.outcome == "passed", run.note
    assert [step for step, _ in curve(run)] == list(range(21, 29))
    losses = content(run, "micro.loss.json")
    assert losses.startswith(content(straight, "micro.loss.json"))
    assert len(losses.splitlines()) == 28
    again = api.resume(run.id, run.owner, "step_000024.bin")
    assert (again.parameters["steps"], again.parameters["polish"]) == (28, False)
    twice = site.ended(Run.objects.get(id=again.id))
    assert content(twice, "step_000028.bin") == content(run, "step_000028.bin")


def kill_child(site: Site, run: Run) -> None:
    site.child_of(run).kill()


def kill_worker(site: Site, run: Run) -> None:
    site.restart(site.worker)


def stop_worker(site: Site, run: Run) -> None:
    site.worker.signal(signal.SIGTERM)
    assert site.worker.ended_within(30)
    site.start(site.worker)


@pytest.mark.chaos
@pytest.mark.parametrize("strike", [kill_child, kill_worker, stop_worker])
def test_a_training_that_is_cut_off_goes_on_from_its_last_checkpoint(
    site: Site, straight: Run, strike: Callable[[Site, Run], None]
) -> None:
    run = train(site)
    wait_for(lambda: has_checkpoint(run))
    strike(site, run)
    wait_for(lambda: reread(run).attempt == 2)
    site.ended(run)
    require_same(run, straight)
    assert run.attempt == 2
    (place,) = notes(run, "log.resumed-after-restart")
    assert place["attempt"] == 2 and place["file"] == f"step_{place['step']:06d}.bin"
    assert not notes(run, "log.restarted")
    assert curve(run) == curve(straight)
    assert [s for s, _ in curve(run, "ema")] == list(range(1, 21))
    assert api.quota(run.owner).used == 1
    if strike is stop_worker:
        assert notes(run, "log.handed-back") == [{}]
